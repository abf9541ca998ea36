#include "pages/compare/compare_data.h"

#include <algorithm>
#include <set>

#include "common/error.h"
#include "compare/compare_columns.h"
#include "compare/rank_intervals.h"
#include "figure/elided_name.h"
#include "figure/format.h"
#include "project/runs_snapshot.h"
#include "record/journal.h"

namespace faceter::desktop {
namespace {

/// Warnings of the newest attempt that speak of test texts in a training set (core/data/overlap.h words them).
void addOverlaps(const std::filesystem::path& folder, std::vector<std::string>& overlaps) {
    const RunDirectory run(folder);
    const std::vector<int> attempts = run.attempts();
    if (attempts.empty()) return;
    for (JournalReader journal(run.attempt_journal(attempts.back())); const auto event = journal.next();) {
        const Json& fields = event->fields;
        if (event->type != "warning" || !fields.contains("message") || !fields["message"].is_string()) continue;
        const std::string message = fields["message"];
        if (message.find("stand in the training set") == std::string::npos) continue;
        if (std::find(overlaps.begin(), overlaps.end(), message) == overlaps.end()) overlaps.push_back(message);
    }
}

void keepMatching(Store& store, const Filter& filter, std::vector<RunRow>& rows) {
    if (filter.empty()) return;
    const std::vector<bool> kept = filter.matches(FilterData(store, filter, rows));
    std::size_t next = 0;
    std::erase_if(rows, [&](const RunRow&) { return !kept[next++]; });
}

/// For titles and names at axes, which are not cut as those in legends are: whole keys would push out what tells groups apart. Where short
/// keys would make two alike, as those of learning_rate and lora_rank, names stay whole.
std::string shortName(const Comparison& comparison, std::size_t group) {
    const auto of = [&](std::size_t k) { return withShortKeys(qs(comparison.groups[k].name)); };
    const QString name = of(group);
    for (std::size_t k = 0; k < comparison.groups.size(); ++k)
        if (k != group && of(k) == name) return comparison.groups[group].name;
    return name.toStdString();
}

constexpr std::size_t most_asked = 24;

std::vector<std::string> seriesOf(Store& store, const Comparison& comparison) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < std::min(most_asked, comparison.groups.size()); ++i)
        for (std::string& name : store.series_names(comparison.groups[i].runs.front().info.id)) names.insert(std::move(name));
    return {names.begin(), names.end()};
}

/// Other runs may lack what was chosen for the ones before.
void addWishes(Store& store, const CompareWish& wish, Comparison& comparison) {
    if (comparison.groups.empty()) return;
    const auto attempt = [&](const auto& add) {
        try {
            add();
        } catch (const Error& error) {
            comparison.notes.emplace_back(error.what());
        }
    };
    if (!wish.sort.empty()) attempt([&] { sort_groups(store, wish.sort, wish.descending, comparison); });
    for (const std::string& name : wish.columns) attempt([&] { add_columns(store, {name}, comparison); });
}

}  // namespace

CompareData readCompareData(Store& store, const std::filesystem::path& project, const std::vector<std::string>& runs,
                            const CompareWish& wish) {
    const std::set<std::string> wanted(runs.begin(), runs.end());
    std::vector<RunRow> rows = store.runs();
    std::erase_if(rows, [&](const RunRow& row) { return !wanted.count(row.info.id); });
    CompareData data;
    data.names = std::make_shared<const FilterNames>(filter_names(store));
    keepMatching(store, wish.filter, rows);
    data.comparison = compare_runs(store, rows, "");
    data.series = seriesOf(store, data.comparison);
    addWishes(store, wish, data.comparison);
    for (const RunGroup& group : data.comparison.groups) {
        data.settings.push_back(store.settings(group.runs.front().info.id));
        for (const RunRow& run : group.runs)
            if (!run.note.empty()) data.notes.push_back(fmt::format("{}, seed {}: {}", group.name, run.info.seed, run.note));
        try {
            addOverlaps(project / "runs" / group.runs.front().info.id, data.overlaps);
        } catch (const std::exception&) {
            // A run folder that has gone meanwhile: the ingest thread says so.
        }
    }
    data.ranks = rank_intervals(data.comparison).sentence(data.comparison);
    return data;
}

std::optional<std::size_t> chooseBaseline(const Comparison& comparison, const std::string& run) {
    if (comparison.groups.size() < 2) return std::nullopt;
    if (const auto found = group_of_run(comparison, run)) return found;
    for (std::size_t i = 0; i < comparison.groups.size(); ++i)
        if (comparison.groups[i].method == "start") return i;
    return 0;
}

std::string gainText(const TestOutcome& outcome) {
    const std::string gain = format_delta(outcome.difference, 2);
    return std::isfinite(outcome.interval.low) ? fmt::format("{} [{:.2f}, {:.2f}]", gain, outcome.interval.low, outcome.interval.high)
                                               : gain;
}

Figure gainFigure(const Comparison& comparison, const ComparisonView& view, const std::vector<int>& colours) {
    Figure figure{FigureKind::bars, "gain", "Mean gain over the baseline, 95 % interval", {}, {"gain", "points"}, {}, {}, {}};
    if (!view.baseline) return figure;
    figure.title = fmt::format("Mean gain over {}, 95 % interval", shortName(comparison, *view.baseline));
    figure.x.categories = {"mean over data sets"};
    for (std::size_t i = 0; i < view.gains.size(); ++i) {
        const TestOutcome& outcome = view.gains[i].outcome;
        if (i == *view.baseline || !std::isfinite(outcome.difference)) continue;
        Series series;
        series.name = fmt::format("{}  {}", comparison.groups[i].name, gainText(outcome));
        series.y = {outcome.difference};
        series.colour = colours.at(i);
        if (std::isfinite(outcome.interval.low)) series.low = {outcome.interval.low}, series.high = {outcome.interval.high};
        figure.series.push_back(std::move(series));
    }
    figure.notes.push_back(view.test_sentence + ".");
    return figure;
}

Figure scatterFigure(const Comparison& comparison, const ComparisonView& view, std::size_t a, std::size_t b) {
    const std::string x = shortName(comparison, a), y = shortName(comparison, b);
    Figure figure{FigureKind::scatter, "scatter", fmt::format("{} against {}, a point a data set", y, x), {x, "%"}, {y, "%"}, {}, {}, {}};
    Series points;
    points.name = "data sets";
    for (const ComparedRow& row : view.rows) {
        if (row.kind != ComparedRow::Kind::data_set || !std::isfinite(row.values[a].value) || !std::isfinite(row.values[b].value)) continue;
        points.x.push_back(row.values[a].value);
        points.y.push_back(row.values[b].value);
        points.labels.push_back(row.name);
    }
    if (points.x.empty()) return figure;
    const auto [low_x, high_x] = std::minmax_element(points.x.begin(), points.x.end());
    const auto [low_y, high_y] = std::minmax_element(points.y.begin(), points.y.end());
    const double low = std::min(*low_x, *low_y), high = std::max(*high_x, *high_y), room = std::max(1.0, 0.08 * (high - low));
    figure.x.min = figure.y.min = low - room;  // equal axes: above the diagonal the group along y is the better one
    figure.x.max = figure.y.max = high + room;
    figure.series.push_back(std::move(points));
    return figure;
}

Figure seedsFigure(const Comparison& comparison, const std::string& set, const std::vector<int>& colours) {
    Figure figure{FigureKind::scatter, "seeds", set + ", a point a seed", {}, {"score", "%"}, {}, {}, {}};
    for (std::size_t i = 0; i < comparison.groups.size(); ++i) {
        const RunGroup& group = comparison.groups[i];
        const auto found = group.scores.find(set);
        Series series;
        series.name = group.name;
        series.colour = colours.at(i);
        for (std::size_t k = 0; found != group.scores.end() && k < found->second.size(); ++k) {
            series.x.push_back(static_cast<double>(i));
            series.y.push_back(found->second[k]);
            series.labels.push_back(fmt::format("seed {}", group.runs[group.scored_runs.at(set)[k]].info.seed));
        }
        figure.x.categories.push_back(shortName(comparison, i));
        if (!series.y.empty()) figure.series.push_back(std::move(series));
    }
    return figure;
}

Figure examplesFigure(const Comparison& comparison, const ExampleScores& examples, const std::string& set,
                      const std::vector<int>& colours) {
    Figure figure{FigureKind::box, "examples", set + ", differences of single examples", {}, {"difference", "points"}, {}, {}, {}};
    if (!comparison.baseline) return figure;
    const std::size_t base = *comparison.baseline;
    figure.title = fmt::format("{}, each example's difference to {}", set, shortName(comparison, base));
    for (std::size_t i = 0; i < examples.groups.size(); ++i) {
        if (i == base || !examples.groups[i].count(set) || !examples.groups[base].count(set)) continue;
        const std::vector<double>& mine = examples.groups[i].at(set).values;
        const std::vector<double>& theirs = examples.groups[base].at(set).values;
        if (mine.empty() || mine.size() != theirs.size()) continue;
        Series series;
        series.name = shortName(comparison, i);
        series.colour = colours.at(i);
        for (std::size_t k = 0; k < mine.size(); ++k) series.y.push_back(mine[k] - theirs[k]);
        figure.series.push_back(std::move(series));
    }
    return figure;
}

}  // namespace faceter::desktop
