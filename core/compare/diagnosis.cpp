#include "compare/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace faceter {
namespace {

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string title_of(const Finding& finding) {
    std::string title = finding.check;
    std::replace(title.begin(), title.end(), '_', ' ');
    return finding.subject.empty() ? title : title + ", " + finding.subject;
}

}  // namespace

std::string_view finding_state_name(FindingState state) {
    return state == FindingState::alarm ? "alarm" : state == FindingState::fine ? "fine" : "unknown";
}

Json Finding::to_json() const {
    return {{"check", check},
            {"subject", subject},
            {"state", finding_state_name(state)},
            {"value", number_or_null(value)},
            {"threshold", number_or_null(threshold)},
            {"says", says},
            {"reason", reason},
            {"advice", advice},
            {"details", details}};
}

void Diagnosis::add(std::vector<Finding> more) { std::move(more.begin(), more.end(), std::back_inserter(findings)); }

void Diagnosis::sort() {
    std::stable_partition(findings.begin(), findings.end(), [](const Finding& one) { return one.state == FindingState::alarm; });
}

std::size_t Diagnosis::count(FindingState state) const {
    return static_cast<std::size_t>(
        std::count_if(findings.begin(), findings.end(), [state](const Finding& one) { return one.state == state; }));
}

Json Diagnosis::to_json() const {
    Json json = {{"run", run}, {"alarms", count(FindingState::alarm)}, {"findings", Json::array()}};
    for (const Finding& finding : findings) json["findings"].push_back(finding.to_json());
    return json;
}

std::string Diagnosis::to_text() const {
    std::string text = fmt::format("{}: {} alarm{}, {} as it should be, {} not measured\n", run, count(FindingState::alarm),
                                   count(FindingState::alarm) == 1 ? "" : "s", count(FindingState::fine), count(FindingState::unknown));
    for (const Finding& one : findings)
        if (one.state == FindingState::alarm)
            text +=
                fmt::format("\nALARM {}\n  {}\n  Why it matters: {}\n  What to do: {}\n", title_of(one), one.says, one.reason, one.advice);
    text += "\n";
    for (const Finding& one : findings)
        if (one.state != FindingState::alarm) text += fmt::format("{:8}{}: {}\n", finding_state_name(one.state), title_of(one), one.says);
    return text;
}

}  // namespace faceter
