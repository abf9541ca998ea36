#include "compare/example_changes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/error.h"
#include "common/file_name.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::size_t most_result_bytes = std::size_t(1) << 30;
constexpr std::array<std::string_view, 3> direction_names{"any", "gains", "losses"};

const ExampleScores::Of* scores_of(const ExampleScores& scores, std::size_t group, const std::string& set) {
    const auto found = scores.groups.at(group).find(set);
    return found == scores.groups[group].end() ? nullptr : &found->second;
}

/// Why two groups cannot be held against one another on a set, example by example; empty: they can.
std::string reason_against(const ExampleScores::Of* before, const ExampleScores::Of* after, const ExampleChanges& changes) {
    if (!before || !after) return fmt::format("{} has no scores of it", before ? changes.after : changes.before);
    if (!before->reason.empty()) return before->reason;
    if (!after->reason.empty()) return after->reason;
    if (before->values.size() != after->values.size())
        return fmt::format("{} has scores of {} examples, {} of {}", changes.before, before->values.size(), after->values.size(),
                           changes.after);
    if (before->is_of_other_data(*after))
        return fmt::format("{} and {} were scored on different data of this name", changes.before, changes.after);
    return {};
}

bool is_larger(const ExampleChange& a, const ExampleChange& b) {
    const double da = std::abs(a.difference()), db = std::abs(b.difference());
    return da != db ? da > db : std::tie(a.set, a.example) < std::tie(b.set, b.example);
}

bool contains(const std::string& text, const std::string& part) { return lowercase_ascii(text).find(part) != std::string::npos; }

}  // namespace

ExampleChanges example_changes(const Comparison& comparison, const ExampleScores& scores, std::size_t before, std::size_t after,
                               const std::string& set) {
    ExampleChanges changes{comparison.groups.at(before).name, comparison.groups.at(after).name, {}, {}};
    for (const ComparedSet& one : comparison.sets) {
        if (!set.empty() && one.name != set) continue;
        const auto *mine = scores_of(scores, before, one.name), *theirs = scores_of(scores, after, one.name);
        if (!mine && !theirs) continue;
        if (const std::string reason = reason_against(mine, theirs, changes); !reason.empty()) {
            changes.notes.push_back(fmt::format("{}: {}.", one.name, reason));
            continue;
        }
        for (std::size_t i = 0; i < mine->values.size(); ++i) changes.changes.push_back({one.name, i, mine->values[i], theirs->values[i]});
    }
    std::sort(changes.changes.begin(), changes.changes.end(), is_larger);
    return changes;
}

ExampleTexts texts_of_scores(const EvaluationSet& set, const RunDirectory& run) {
    const fs::path file = run.results() / (safe_file_name(set.name) + ".json");
    const Json result = read_json(file, most_result_bytes);
    const Json settings = json_or<Json>(result, "settings", Json::object(), file.string());
    const auto fingerprint = json_or<std::string>(settings, "data_fingerprint", "", file.string());
    if (!fingerprint.empty() && fingerprint != set.fingerprint)
        return {{}, fmt::format("The data of '{}' has changed since the run was scored; its texts would be the wrong ones.", set.name)};
    ExampleTexts texts{scored_texts(set), {}};
    if (texts.texts.size() != json_at<Json>(result, "per_example", file.string()).size())
        texts = {{}, fmt::format("'{}' ({}) does not say which text each of its scores is of.", set.name, set.task_type)};
    return texts;
}

ExampleTexts read_example_texts(const RunDirectory& run, const std::string& set) {
    try {
        return texts_of_scores(load_named_evaluation_set(run.settings(), set), run);
    } catch (const Error& error) {
        return {{}, error.what()};
    }
}

std::string_view change_direction_name(ChangeDirection direction) { return direction_names[static_cast<std::size_t>(direction)]; }

ChangeDirection parse_change_direction(std::string_view name) {
    for (std::size_t i = 0; i < direction_names.size(); ++i)
        if (direction_names[i] == name) return static_cast<ChangeDirection>(i);
    throw usage_error("'{}' is no direction of a change; expected any, gains or losses", name);
}

bool passes(const ExampleChange& change, const ScoredText* text, const ChangeFilter& filter) {
    if (std::abs(change.difference()) < filter.at_least) return false;
    if (filter.direction == ChangeDirection::gains && change.difference() < 0) return false;
    if (filter.direction == ChangeDirection::losses && change.difference() > 0) return false;
    const std::string part = lowercase_ascii(filter.find);
    return part.empty() || (text && (contains(text->text, part) || contains(text->wanted, part)));
}

Table example_changes_table(const ExampleChanges& changes, const std::map<std::string, ExampleTexts>& texts, const ChangeFilter& filter,
                            std::size_t most) {
    Table table;
    table.name = "example_changes";
    table.caption = fmt::format("Examples that changed from {} to {}", changes.before, changes.after);
    table.add_column("data set", ColumnKind::text);
    table.add_column("example", ColumnKind::count);
    table.add_column(changes.before, ColumnKind::number);
    table.add_column(changes.after, ColumnKind::number);
    table.add_column("difference", ColumnKind::delta);
    table.add_column("text", ColumnKind::text);
    table.add_column("wanted", ColumnKind::text);
    for (const ExampleChange& change : changes.changes) {
        if (most > 0 && table.rows.size() == most) break;
        const auto found = texts.find(change.set);
        const bool known = found != texts.end() && change.example < found->second.texts.size();
        const ScoredText* text = known ? &found->second.texts[change.example] : nullptr;
        if (!passes(change, text, filter)) continue;
        table.add_row({Cell::of(change.set), Cell::of(static_cast<double>(change.example + 1)), Cell::of(change.before),
                       Cell::of(change.after), Cell::of(change.difference()), Cell::of(text ? text->text : std::string()),
                       Cell::of(text ? text->wanted : std::string())});
    }
    table.footnotes = changes.notes;
    return table;
}

}  // namespace faceter
