#include <fmt/format.h>

#include <algorithm>

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
    std::map<std::string, std::vector<std::string>> reasons;
    for (const CellResult& result : results) {
        add(counts[{result.start, group_of(result.column)}], result);
        const auto note = [&](const std::string& what, const std::string& why) {
            auto& cells = reasons[fmt::format("{}: {}", what, reason(why))];
            const std::string cell = fmt::format("{} with {}", result.start, group_of(result.column));
            if (std::find(cells.begin(), cells.end(), cell) == cells.end()) cells.push_back(cell);
        };
        if (!result.refused.empty()) note("refused", result.refused);
        for (const auto& [law, why] : result.limits) note(law, why);
    }
    std::string text = "| start model | " + join(groups, " | ") + " |\n|" + std::string(" --- |");
    for (std::size_t i = 0; i < groups.size(); ++i) text += " --- |";
    text += "\n";
    for (const std::string& row : rows) {
        text += "| " + row;
        for (const std::string& group : groups) text += " | " + shown(counts[{row, group}]);
        text += " |\n";
    }
    for (const auto& [why, cells] : reasons) text += fmt::format("\n- {} ({})", why, join(cells, ", "));
    return text + (reasons.empty() ? "" : "\n");
}

}  // namespace faceter::conform
