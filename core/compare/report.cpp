#include "compare/report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "common/error.h"
#include "common/strings.h"
#include "compare/settings_difference.h"

namespace faceter {
namespace {

constexpr std::size_t most_curves = 12, most_points = 400;

/// Mean scores of each group a data set, with the spread over seeds.
Figure score_figure(const Comparison& comparison) {
    Figure figure;
    figure.kind = FigureKind::bars;
    figure.name = "scores";
    figure.title = "Scores by data set";
    figure.y.label = "score";
    figure.y.unit = "%";
    for (const ComparedSet& set : comparison.sets) figure.x.categories.push_back(set.name);
    bool spread = false;
    for (const RunGroup& group : comparison.groups) {
        Series& series = figure.series.emplace_back();
        series.name = group.name;
        for (const ComparedSet& set : comparison.sets) {
            const auto found = group.scores.find(set.name);
            const double value = found == group.scores.end() ? not_a_number : mean(found->second);
            const bool several = found != group.scores.end() && found->second.size() > 1;  // one seed says nothing of a spread
            const double sd = several ? standard_deviation(found->second) : not_a_number;
            spread |= sd > 0;
            series.y.push_back(value);
            series.low.push_back(value - sd);
            series.high.push_back(value + sd);
        }
    }
    if (!spread)
        for (Series& series : figure.series) series.low.clear(), series.high.clear();
    else
        figure.notes.push_back("Whiskers: one standard deviation over seeds.");
    return figure;
}

/// Where differences of half a point matter, bars that begin at 0 hide them.
std::optional<Figure> gain_figure(const Comparison& comparison, const ComparisonView& view) {
    if (!view.baseline) return std::nullopt;
    Figure figure;
    figure.kind = FigureKind::scatter;
    figure.name = "differences";
    figure.title = "Difference to " + comparison.groups[*view.baseline].name + ", mean over data sets";
    figure.y.label = "difference";
    figure.y.unit = "points";
    Series& series = figure.series.emplace_back();
    series.name = "95 %";
    for (std::size_t i = 0; i < comparison.groups.size(); ++i) {
        const TestOutcome& outcome = view.gains[i].outcome;
        if (i == *view.baseline || std::isnan(outcome.difference) || std::isnan(outcome.interval.low)) continue;
        series.x.push_back(static_cast<double>(figure.x.categories.size()));
        series.y.push_back(outcome.difference);
        series.low.push_back(outcome.interval.low);
        series.high.push_back(outcome.interval.high);
        figure.x.categories.push_back(comparison.groups[i].name);
    }
    if (series.y.empty()) return std::nullopt;
    figure.notes = {view.test_sentence};
    return figure;
}

/// As a run ends with it: what is more than chance is decided by examples.
ComparisonSummary summary_of(Store& store, const Comparison& comparison) {
    CompareChoice choice;
    choice.test = CompareTest::bootstrap;
    return summarise(comparison, view_comparison(comparison, read_examples(store, comparison), choice));
}

/// Every `stride`th point: a page needs no more than its pixels.
Series thinned(const std::string& name, const std::vector<SeriesPoint>& points) {
    Series series;
    series.name = name;
    const std::size_t stride = std::max<std::size_t>(1, points.size() / most_points);
    for (std::size_t i = 0; i < points.size(); i += stride) {
        series.x.push_back(static_cast<double>(points[i].step));
        series.y.push_back(points[i].value);
    }
    return series;
}

std::optional<Figure> loss_figure(Store& store, const Comparison& comparison) {
    Figure figure;
    figure.name = "loss";
    figure.title = "Training loss";
    figure.x.label = "step";
    figure.y.label = "loss";
    std::size_t curves = 0;
    for (const RunGroup& group : comparison.groups)
        for (const RunRow& run : group.runs) {
            const auto points = store.series(run.info.id, "loss");
            if (points.size() < 2 || ++curves > most_curves) continue;
            figure.series.push_back(
                thinned(group.runs.size() > 1 ? fmt::format("{}, seed {}", group.name, run.info.seed) : group.name, points));
        }
    if (figure.series.empty()) return std::nullopt;
    if (curves > most_curves) figure.notes.push_back(fmt::format("The first {} runs of {}.", most_curves, curves));
    return figure;
}

/// Empty where there is none, or something else.
std::string text_of(const Json& fields, const char* key) {
    const auto found = fields.find(key);
    return found != fields.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// What the journals call a data set; older ones leave it to its path.
std::string data_name(const Json& fields, const Json& card) {
    for (const std::string& name :
         {text_of(fields, "name"), text_of(card, "name"), fs::path(text_of(card, "path")).filename().string(), text_of(card, "view")})
        if (!name.empty()) return name;
    return "data set";
}

/// Data sets by all that is said of them but the fingerprint, with their places.
using SeenData = std::map<std::string, std::size_t>;

/// Each once. Where the seeds of several runs drew other examples from the same files, the fingerprint is that of none of them.
void add_data(const Json& fields, std::vector<ReportData>& data, SeenData& seen) {
    const Json& card = fields.at("card");
    ReportData one{data_name(fields, card), text_of(fields, "use"), text_of(fields, "task"), card};
    Json told = one.card;
    if (told.contains("files")) told.erase("fingerprint");  // older journals have nothing else to tell contents by
    const auto [place, is_new] = seen.try_emplace(Json::array({one.use, one.task, one.name, told}).dump(), data.size());
    if (is_new)
        data.push_back(std::move(one));
    else if (Json& first = data[place->second].card; first != card)
        first.erase("fingerprint");
}

/// What the journals of a run say of machine, data and warnings.
void read_journals(const RunDirectory& directory, ReportRun& run, std::vector<ReportData>& data, SeenData& seen) {
    for (const int attempt : directory.attempts()) {
        JournalReader journal(directory.attempt_journal(attempt));
        while (auto read = journal.next()) {
            const JournalEvent& event = *read;
            if (event.type == "attempt_started" && event.fields.contains("machine") && event.fields.at("machine").is_object())
                run.machine = event.fields.at("machine");
            if (event.type == "warning") run.warnings.push_back(text_of(event.fields, "message"));
            if (event.type == "data" && event.fields.contains("card") && event.fields.at("card").is_object())
                add_data(event.fields, data, seen);
        }
    }
}

void read_documents(Store& store, ReportRun& run, std::vector<std::string>& broken) {
    const auto take = [&](const char* kind, auto read) {
        for (const auto& [name, json] : store.documents(run.info.id, kind)) {
            try {
                read(json, run.info.shown_name() + ": " + name);
            } catch (const Error& error) {
                broken.emplace_back(error.what());
            }
        }
    };
    take("figure", [&](const Json& json, const std::string& name) { run.figures.push_back(Figure::from_json(json, name)); });
    take("table", [&](const Json& json, const std::string& name) { run.tables.push_back(Table::from_json(json, name)); });
}

std::string plain(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.is_null() ? std::string() : value.dump();
}

Table runs_table(const Report& report) {
    Table table;
    table.name = "runs";
    table.caption = "Runs";
    for (const char* name : {"run", "variant", "method", "seed", "state", "Faceter", "created", "tags and note"})
        table.add_column(name, ColumnKind::text);
    for (const ReportRun& run : report.runs)
        table.add_row({Cell::of(run.info.shown_name()), Cell::of(run.info.variant), Cell::of(run.info.method),
                       Cell::of(std::to_string(run.info.seed)), Cell::of(std::string(run_phase_name(run.state.phase))),
                       Cell::of(run.info.version), Cell::of(run.info.created),
                       Cell::of(join(run.tags, ", ") + (run.tags.empty() || run.note.empty() ? "" : "; ") + run.note)});
    return table;
}

/// Settings that differ: a column a group.
Table settings_table(const Report& report) {
    std::vector<Json> settings;
    Table table;
    table.name = "settings";
    table.caption = "Settings that differ";
    table.add_column("setting", ColumnKind::text);
    for (const RunGroup& group : report.comparison.groups) {
        table.add_column(group.name, ColumnKind::text);
        for (const ReportRun& run : report.runs)
            if (run.info.id == group.runs.front().info.id) settings.push_back(run.info.settings);
    }
    const SettingsDifference difference = settings_difference(settings);
    for (const SettingDifference& one : difference.differing) {
        std::vector<Cell> cells{Cell::of(one.key)};
        for (const std::string& value : one.values) cells.push_back(Cell::of(value));
        table.add_row(std::move(cells));
    }
    table.footnotes.push_back(fmt::format("{} further settings are alike; seeds are left out.", difference.equal));
    return table;
}

Table machines_table(const Report& report) {
    Table table;
    table.name = "machines";
    table.caption = "Machines";
    for (const char* name : {"run", "host", "processor", "threads", "memory", "libtorch", "duration"})
        table.add_column(name, ColumnKind::text);
    for (const ReportRun& run : report.runs) {
        const auto value = [&](const char* key) { return run.machine.contains(key) ? run.machine[key] : Json(); };
        const Json memory = value("memory_bytes");
        table.add_row({Cell::of(run.info.shown_name()), Cell::of(plain(value("host"))), Cell::of(plain(value("processor"))),
                       Cell::of(plain(value("threads"))),
                       Cell::of(memory.is_number_unsigned() ? format_bytes(memory.get<std::uint64_t>()) : ""),
                       Cell::of(plain(value("libtorch"))), Cell::of(run.state.active_s > 0 ? format_duration(run.state.active_s) : "")});
    }
    return table;
}

std::string counts_text(const Json& card) {
    std::string text;
    if (!card.contains("counts") || !card["counts"].is_object()) return text;
    for (const auto& [name, count] : card["counts"].items())
        if (count.is_number()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count.dump());
    return text;
}

Table data_table(const Report& report) {
    Table table;
    table.name = "data";
    table.caption = "Data sets";
    for (const char* name : {"data set", "use", "task", "source", "counts", "warnings"}) table.add_column(name, ColumnKind::text);
    for (const ReportData& data : report.data) {
        std::vector<std::string> source, warnings;
        for (const char* key : {"source", "layout", "view", "split", "subset", "fingerprint"})
            if (data.card.contains(key) && data.card[key].is_string() && !data.card[key].get_ref<const std::string&>().empty())
                source.push_back(data.card[key]);
        if (data.card.contains("warnings") && data.card["warnings"].is_array())
            for (const Json& warning : data.card["warnings"]) warnings.push_back(plain(warning));
        table.add_row({Cell::of(data.name), Cell::of(data.use), Cell::of(data.task), Cell::of(join(source, ", ")),
                       Cell::of(counts_text(data.card)), Cell::of(join(warnings, "; "))});
    }
    return table;
}

}  // namespace

Table significance_table(const Comparison& comparison, const ComparisonView& view) {
    Table table;
    table.name = "significance";
    table.caption = fmt::format("Mean over data sets against {}", comparison.groups[*view.baseline].name);
    table.add_column("run", ColumnKind::text);
    table.add_column("difference", ColumnKind::delta, 2);
    table.add_column("95 % from", ColumnKind::delta, 2);
    table.add_column("to", ColumnKind::delta, 2);
    table.add_column("p", ColumnKind::p_value);
    table.add_column("p adjusted", ColumnKind::p_value);
    table.add_column("effect", ColumnKind::number, 2);
    table.add_column("n", ColumnKind::count);
    table.add_column("wins / ties / losses", ColumnKind::text);
    for (std::size_t i = 0; i < comparison.groups.size(); ++i) {
        if (i == *view.baseline) continue;
        const GroupGain& gain = view.gains[i];
        const TestOutcome& outcome = gain.outcome;
        const auto number = [&](double value) { return outcome.has_p() ? Cell::of(value) : Cell(); };
        table.add_row({Cell::of(comparison.groups[i].name), number(outcome.difference).with_stars(outcome.stars()),
                       number(outcome.interval.low), number(outcome.interval.high), number(outcome.p), number(outcome.p_adjusted),
                       number(outcome.effect), number(static_cast<double>(outcome.n)),
                       Cell::of(fmt::format("{} / {} / {}", gain.wins, gain.ties, gain.losses))});
        if (!outcome.has_p()) table.footnotes.push_back(fmt::format("{}: no test: {}.", comparison.groups[i].name, outcome.reason));
        if (!outcome.warning.empty()) table.footnotes.push_back(fmt::format("{}: {}.", comparison.groups[i].name, outcome.warning));
    }
    const CompareTestInfo& info = compare_test_info(view.choice.test);
    table.footnotes.push_back(view.test_sentence + ".");
    table.footnotes.push_back(fmt::format("{} {} n counts {}.", info.speaks_for, info.assumption, observations_of(view.choice.test)));
    table.footnotes.push_back(view.ties_rule);
    return table;
}

Report gather_report(const Project& project, Store& store, const std::vector<RunRow>& rows, Comparison comparison, ComparisonView view,
                     std::string title) {
    Report report;
    report.title = std::move(title);
    report.created = utc_now();
    report.project = project.folder().filename().string();
    report.comparison = std::move(comparison);
    report.view = std::move(view);
    report.summary = summary_of(store, report.comparison);
    if (auto gains = gain_figure(report.comparison, report.view)) report.figures.push_back(std::move(*gains));
    report.figures.push_back(score_figure(report.comparison));
    if (auto loss = loss_figure(store, report.comparison)) report.figures.push_back(std::move(*loss));
    SeenData seen;
    for (const RunRow& row : rows) {
        const RunDirectory directory(project.runs_folder() / row.info.id);
        ReportRun& run = report.runs.emplace_back();
        run.info = directory.info();
        run.info.name = row.info.name;
        run.state = row.state;
        run.note = row.note;
        run.tags = row.tags;
        read_journals(directory, run, report.data, seen);
        read_documents(store, run, report.broken);
    }
    return report;
}

std::vector<Table> report_tables(const Report& report) {
    std::vector<Table> tables{comparison_by_set_table(report.comparison, report.view)};
    if (report.view.baseline && report.comparison.groups.size() > 1) tables.push_back(significance_table(report.comparison, report.view));
    for (const SimilarityComparison& similarity : report.similarity) tables.push_back(similarity_table(similarity));
    tables.push_back(runs_table(report));
    if (report.comparison.groups.size() > 1) tables.push_back(settings_table(report));
    tables.push_back(machines_table(report));
    if (!report.data.empty()) tables.push_back(data_table(report));
    return tables;
}

}  // namespace faceter
