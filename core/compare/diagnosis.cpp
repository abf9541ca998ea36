#include "compare/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace faceter {
namespace {

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string words_of(std::string check) {
    std::replace(check.begin(), check.end(), '_', ' ');
    return check;
}

std::string title_of(const Finding& finding) {
    const std::string title = words_of(finding.check);
    return finding.subject.empty() ? title : title + ", " + finding.subject;
}

constexpr std::size_t most_alike = 4;  // lines of one check and task; more are told in one

/// The check and, where the subject is a part of a task, the task.
std::string kind_of(const Finding& finding) { return finding.check + ", " + finding.subject.substr(0, finding.subject.find(", ")); }

double distance_to_threshold(const Finding& finding) {
    const double distance = std::abs(finding.value - finding.threshold);
    return std::isfinite(distance) ? distance : std::numeric_limits<double>::infinity();
}

std::string line_of(const Finding& finding) {
    return fmt::format("{:8}{}: {}\n", finding_state_name(finding.state), title_of(finding), finding.says);
}

using Alike = std::vector<const Finding*>;

std::string lines_of(const Alike& alike) {
    std::string text;
    if (alike.size() <= most_alike) {
        for (const Finding* one : alike) text += line_of(*one);
        return text;
    }
    const Finding& nearest = **std::min_element(alike.begin(), alike.end(), [](const Finding* a, const Finding* b) {
        return distance_to_threshold(*a) < distance_to_threshold(*b);
    });
    return fmt::format("{}        and {} more of this kind, none nearer to its threshold (--json has all)\n", line_of(nearest),
                       alike.size() - 1);
}

std::string advice_lines(const Finding& alarm) {
    return fmt::format("  Why it matters: {}\n  What to do: {}\n", alarm.reason, alarm.advice);
}

/// Alarms of one check with one advice, a line each, where the first of them stands.
std::string alarm_lines(const std::vector<Finding>& findings) {
    std::vector<Alike> groups;
    for (const Finding& one : findings) {
        if (one.state != FindingState::alarm) continue;
        auto known = std::find_if(groups.begin(), groups.end(), [&](const Alike& group) {
            return group[0]->check == one.check && group[0]->reason == one.reason && group[0]->advice == one.advice;
        });
        if (known == groups.end()) known = groups.insert(groups.end(), Alike{});
        known->push_back(&one);
    }
    std::string text;
    for (const Alike& group : groups) {
        const Finding& first = *group[0];
        if (group.size() == 1) {
            text += fmt::format("\nALARM {}\n  {}\n{}", title_of(first), first.says, advice_lines(first));
            continue;
        }
        text += fmt::format("\nALARM {}, {} times\n", words_of(first.check), group.size());
        for (const Finding* one : group) text += fmt::format("  {}: {}\n", one->subject.empty() ? "run" : one->subject, one->says);
        text += advice_lines(first);
    }
    return text;
}

/// What is no alarm, in the order of the findings; many of one kind stand where the first of them does.
std::string quiet_lines(const std::vector<Finding>& findings) {
    std::vector<std::pair<std::string, Alike>> kinds;
    for (const Finding& one : findings) {
        if (one.state == FindingState::alarm) continue;
        const std::string kind = fmt::format("{} {}", finding_state_name(one.state), kind_of(one));
        auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& known) { return known.first == kind; });
        if (found == kinds.end()) found = kinds.insert(kinds.end(), {kind, {}});
        found->second.push_back(&one);
    }
    std::string text;
    for (const auto& [kind, alike] : kinds) text += lines_of(alike);
    return text;
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
    const std::string text =
        fmt::format("{}: {} alarm{}, {} as it should be, {} not measured\n", run, count(FindingState::alarm),
                    count(FindingState::alarm) == 1 ? "" : "s", count(FindingState::fine), count(FindingState::unknown));
    return text + alarm_lines(findings) + "\n" + quiet_lines(findings);
}

}  // namespace faceter
