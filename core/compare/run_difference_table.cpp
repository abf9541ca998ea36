#include <algorithm>
#include <cmath>

#include "common/printable.h"
#include "compare/run_difference.h"
#include "figure/format.h"
#include "figure/text_width.h"
#include "stats/number.h"

namespace faceter {
namespace {

using Part = RunDifference::Part;

std::string score_text(double score) { return std::isnan(score) ? "—" : fmt::format("{:.2f}", score); }

std::string delta_text(const RunDifference::Score& score) {
    const double delta = score.after - score.before;
    return std::isnan(delta) ? "" : format_delta(delta, 2);
}

/// Names of runs that are called alike in two projects, or one run against itself, would not tell the columns apart.
std::pair<std::string, std::string> names_of(const RunDifference& difference) {
    const std::string &a = difference.before.shown_name(), &b = difference.after.shown_name();
    return a == b ? std::pair(a + " (before)", b + " (after)") : std::pair(a, b);
}

/// "key  before -> after" where that fits, else three lines and more.
void add_line(const RunDifference& difference, const RunDifference::Line& one, int width, std::vector<std::string>& lines) {
    const std::string key = printable(one.key), before = printable(one.before), after = printable(one.after);
    const std::string in_one = fmt::format("  {}  {} -> {}", key, before, after);
    if (display_width(in_one) <= width) return lines.push_back(in_one);
    lines.push_back("  " + shorten(key, width - 2));
    const auto names = names_of(difference);
    const std::string first = printable(names.first), second = printable(names.second);
    const int label = std::min(std::max(display_width(first), display_width(second)), width / 3);
    for (const auto& [name, value] : {std::pair(first, before), std::pair(second, after)}) {
        std::string head = shorten(name, label);
        head += blanks(label - display_width(head));
        for (const std::string& piece : wrap(value, width - label - 6)) {
            lines.push_back("    " + head + "  " + piece);
            head = blanks(label);
        }
    }
}

void add_scores(const RunDifference& difference, int width, std::vector<std::string>& lines) {
    if (difference.scores.empty()) return;
    lines.emplace_back();
    lines.emplace_back("scores");
    int longest = 0;
    for (const auto& score : difference.scores) longest = std::max(longest, display_width(printable(score.name)));
    longest = std::min(longest, std::max(8, width - 48));
    for (const auto& score : difference.scores) {
        const std::string name = shorten(printable(score.name), longest);
        lines.push_back(fmt::format("  {}{}  {:>7} -> {:>7} {:>8}  {}", name, blanks(longest - display_width(name)),
                                    score_text(score.before), score_text(score.after), delta_text(score), printable(score.metric)));
        if (display_width(lines.back()) > width) lines.back() = shorten(lines.back(), width);
    }
}

}  // namespace

Table run_difference_table(const RunDifference& difference) {
    Table table;
    table.name = "run_difference";
    const auto [before, after] = names_of(difference);
    table.caption = fmt::format("{} against {}", after, before);
    for (const std::string& name : {std::string("part"), std::string("what"), before, after, std::string("difference")})
        table.add_column(name, ColumnKind::text);
    std::string last;
    const auto add = [&](const std::string& part, const std::string& what, const std::string& a, const std::string& b, Cell delta) {
        Row& row = table.add_row({Cell::of(part), Cell::of(what), Cell::of(a), Cell::of(b), std::move(delta)});
        row.rule_above = !last.empty() && part != last;
        last = part;
    };
    for (const RunDifference::Line& line : difference.lines)
        add(difference_part_name(line.part), line.key, line.before, line.after, Cell());
    for (const RunDifference::Score& score : difference.scores)
        add("scores", score.name, score_text(score.before), score_text(score.after), Cell::of(delta_text(score)));
    for (const std::string& note : difference.notes) table.footnotes.push_back(note);
    return table;
}

Json run_difference_to_json(const RunDifference& difference) {
    const auto run = [](const RunInfo& info) {
        return Json{{"id", info.id}, {"name", info.name}, {"variant", info.variant}, {"seed", info.seed}, {"created", info.created}};
    };
    Json json = {{"before", run(difference.before)}, {"after", run(difference.after)}};
    for (const Part part : {Part::settings, Part::code, Part::data, Part::machine}) {
        Json& of_part = json[difference_part_name(part)];
        of_part = {{"alike", difference.alike[static_cast<std::size_t>(part)]}, {"differing", Json::array()}};
        for (const RunDifference::Line& line : difference.lines)
            if (line.part == part) of_part["differing"].push_back({{"key", line.key}, {"before", line.before}, {"after", line.after}});
    }
    json["scores"] = Json::array();
    for (const RunDifference::Score& score : difference.scores)
        json["scores"].push_back({{"name", score.name},
                                  {"task_type", score.task_type},
                                  {"metric", score.metric},
                                  {"before", number_to_json(score.before)},
                                  {"after", number_to_json(score.after)}});
    json["notes"] = difference.notes;
    return json;
}

std::vector<std::string> run_difference_lines(const RunDifference& difference, int width) {
    std::vector<std::string> lines;
    const auto names = names_of(difference);
    for (const std::string& piece : wrap(printable(names.first + " -> " + names.second), width)) lines.push_back(piece);
    for (const Part part : {Part::settings, Part::code, Part::data, Part::machine}) {
        const auto count =
            std::count_if(difference.lines.begin(), difference.lines.end(), [&](const auto& line) { return line.part == part; });
        lines.emplace_back();
        lines.push_back(
            fmt::format("{}: {} differ, {} alike", difference_part_name(part), count, difference.alike[static_cast<std::size_t>(part)]));
        for (const RunDifference::Line& line : difference.lines)
            if (line.part == part) add_line(difference, line, width, lines);
    }
    add_scores(difference, width, lines);
    if (!difference.notes.empty()) lines.emplace_back();
    for (const std::string& note : difference.notes)
        for (const std::string& piece : wrap(printable(note), width)) lines.push_back(piece);
    return lines;
}

}  // namespace faceter
