#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/strings.h"
#include "conform/capabilities.h"

namespace faceter::conform {
namespace {

/// "MoTE every own" -> "MoTE".
std::string group_of(const std::string& column) { return column.substr(0, column.find(' ')); }

template <typename Get>
std::vector<std::string> in_order(const std::vector<CellResult>& results, const Get& get) {
    std::vector<std::string> names;
    for (const CellResult& result : results)
        if (const std::string name = get(result); std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    return names;
}

std::string shown(const Totals& count) {
    if (count.hold + count.refused + count.wrong == 0) return "";
    std::string text = count.hold == 0 ? "" : count.refused + count.wrong == 0 ? "yes" : fmt::format("{}", count.hold);
    if (count.refused > 0)
        text += fmt::format("{}{}", text.empty() ? "" : ", ",
                            count.hold + count.wrong == 0 ? "refused" : fmt::format("{} refused", count.refused));
    if (count.wrong > 0) text += fmt::format("{}{} wrong", text.empty() ? "" : ", ", count.wrong);
    return text;
}

void add(Totals& totals, const CellResult& result) {
    ++(!result.wrong.empty() ? totals.wrong : !result.refused.empty() ? totals.refused : totals.hold);
}

/// A reason in one line, without what a program puts in front of it; of paths the last part: the table is the same on every machine.
std::string reason(std::string text) {
    if (const auto end = text.find('\n'); end != std::string::npos) text.resize(end);
    for (std::size_t colon; (colon = text.find(": ")) != std::string::npos && text.find(' ') >= colon;) text.erase(0, colon + 2);
    for (std::size_t start = text.find(" /"); start != std::string::npos; start = text.find(" /", start + 1)) {
        const std::size_t end = std::min(text.find(' ', start + 1), text.size());
        text.erase(start + 1, text.rfind('/', end - 1) - start);
    }
    return text;
}

/// Where something is refused or limited: method -> start models.
using Places = std::map<std::string, std::set<std::string>>;

/// "MoTE (bert, t5), router": a method by itself where that is so for each of its start models.
std::string places_text(const Places& places, const std::map<std::string, std::set<std::string>>& tried) {
    std::vector<std::string> parts;
    for (const auto& [group, rows] : places)
        parts.push_back(rows == tried.at(group)
                            ? group
                            : fmt::format("{} ({})", group, join(std::vector<std::string>(rows.begin(), rows.end()), ", ")));
    return join(parts, ", ");
}

/// Why cells are refused or limited, a line each.
std::string reasons_of(const std::vector<CellResult>& results) {
    std::map<std::string, std::set<std::string>> tried;
    std::map<std::string, Places> reasons;
    for (const CellResult& result : results) {
        const std::string group = group_of(result.column);
        tried[group].insert(result.start);
        if (!result.refused.empty()) reasons["refused: " + reason(result.refused)][group].insert(result.start);
        for (const auto& [law, why] : result.limits) reasons[law + ": " + reason(why)][group].insert(result.start);
    }
    std::string text;
    for (const auto& [why, places] : reasons) text += fmt::format("- {}: {}\n", places_text(places, tried), why);
    return text.empty() ? "" : "\n" + text;
}

/// The largest difference that was seen under each law that compares embeddings.
std::string differences_of(const std::vector<CellResult>& results) {
    std::map<std::string, double> largest;
    for (const CellResult& result : results)
        for (const auto& [law, apart] : result.apart) largest[law] = std::max(largest[law], apart);
    std::vector<std::string> parts;
    for (const auto& [law, apart] : largest) parts.push_back(fmt::format("{} {:.1e}", law, apart));
    return parts.empty() ? ""
                         : fmt::format("\nLargest difference of an element, relative to its embedding's length: {}.\n", join(parts, ", "));
}

}  // namespace

Totals totals_of(const std::vector<CellResult>& results) {
    Totals totals;
    for (const CellResult& result : results) add(totals, result);
    return totals;
}

std::string capabilities(const std::vector<CellResult>& results) {
    const auto rows = in_order(results, [](const CellResult& r) { return r.start; });
    const auto groups = in_order(results, [](const CellResult& r) { return group_of(r.column); });
    std::map<std::pair<std::string, std::string>, Totals> counts;
    for (const CellResult& result : results) add(counts[{result.start, group_of(result.column)}], result);
    std::string text = "| start model | " + join(groups, " | ") + " |\n|" + std::string(" --- |");
    for (std::size_t i = 0; i < groups.size(); ++i) text += " --- |";
    text += "\n";
    for (const std::string& row : rows) {
        text += "| " + row;
        for (const std::string& group : groups) text += " | " + shown(counts[{row, group}]);
        text += " |\n";
    }
    return text + reasons_of(results) + differences_of(results);
}

}  // namespace faceter::conform
