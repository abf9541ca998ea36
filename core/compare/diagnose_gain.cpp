#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "compare/diagnose_record.h"
#include "compare/example_changes.h"
#include "compare/result_files.h"
#include "figure/format.h"
#include "stats/bootstrap.h"
#include "stats/number.h"

namespace faceter {
namespace {

constexpr double confidence = 0.99;
constexpr std::size_t most_lost = 3;

using Results = std::map<std::string, Json>;

std::vector<double> examples_of(const Json& result) {
    std::vector<double> values;
    for (const Json& value : json_or<Json>(result, "per_example", Json::array(), "result"))
        values.push_back(value.is_number() ? value.get<double>() : not_a_number);
    return values;
}

Json lost_most(const std::vector<double>& now, const std::vector<double>& before, const ExampleTexts& texts) {
    std::vector<std::size_t> order(now.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return now[a] - before[a] < now[b] - before[b]; });
    Json lost = Json::array();
    for (const std::size_t i : order) {
        if (lost.size() == most_lost || !(now[i] < before[i])) break;
        lost.push_back(
            {{"example", i + 1}, {"before", before[i]}, {"after", now[i]}, {"text", i < texts.texts.size() ? texts.texts[i].text : ""}});
    }
    return lost;
}

void judge(const std::vector<double>& now, const std::vector<double>& before, Finding& finding) {
    BootstrapOptions options;
    options.confidence = confidence;
    const PairedBootstrapResult gain = paired_bootstrap(now, before, options);
    finding.value = gain.estimate;
    finding.details = {{"interval", {gain.interval.low, gain.interval.high}}, {"confidence", confidence}, {"n", gain.n}};
    finding.state = gain.interval.high < 0 ? FindingState::alarm : FindingState::fine;
    finding.says = fmt::format("{} points over the start model [{:+.2f}, {:+.2f}], {} examples.", format_delta(gain.estimate, 2),
                               gain.interval.low, gain.interval.high, gain.n);
    finding.reason = "The 99 % interval lies below zero: over a dozen data sets 95 % would cry wolf every other run.";
    finding.advice = "Read the texts that lost most (faceter examples); train with fewer steps or a lower rate, or add data of this kind.";
}

Finding gain_on(const Json& now, const Json& before, const RunDirectory& run, std::span<const EvaluationSet> sets) {
    const auto name = json_at<std::string>(now, "name", "result");
    Finding finding{"gain", name, FindingState::unknown, not_a_number, 0, {}, {}, {}, {}};
    if (!may_be_of_same_data(now, before)) {
        finding.says = "The start model was scored on other data of this name, so there is no gain to tell.";
        return finding;
    }
    const std::vector<double> a = examples_of(now), b = examples_of(before);
    finding.value = json_at<double>(now, "score", name) - json_at<double>(before, "score", name);
    finding.says = fmt::format("{} points over the start model; its metric has no scores of single examples, so there is no interval.",
                               format_delta(finding.value, 2));
    if (a.size() != b.size() || a.size() < 2) return finding;
    judge(a, b, finding);
    const auto set = std::find_if(sets.begin(), sets.end(), [&](const EvaluationSet& one) { return one.name == name; });
    finding.details["lost_most"] = lost_most(a, b, set == sets.end() ? ExampleTexts{} : texts_of_scores(*set, run));
    if (finding.state == FindingState::alarm)
        for (const Json& lost : finding.details.at("lost_most"))
            finding.says += fmt::format("\n    lost: {:.0f} -> {:.0f}  {:.100}", lost.at("before").get<double>(),
                                        lost.at("after").get<double>(), lost.at("text").get<std::string>());
    return finding;
}

}  // namespace

std::vector<Finding> diagnose_gain(const RunDirectory& run, std::span<const EvaluationSet> sets) {
    const auto nothing = [](const std::string& why) {
        return std::vector<Finding>{{"gain", "", FindingState::unknown, not_a_number, 0, why, {}, {}, {}}};
    };
    const Results now = scored_results(run);
    if (now.empty()) return nothing("The run has no scores.");
    const auto baseline = start_run_of(run);
    if (!baseline)
        return nothing(
            "The project has no scores of this run's start model with its max_length and instructions: evaluation.baseline is off, or its "
            "run is gone.");
    const Results before = scored_results(*baseline);
    std::vector<Finding> findings;
    for (const auto& [name, result] : now)
        if (before.contains(name)) findings.push_back(gain_on(result, before.at(name), run, sets));
    return findings.empty() ? nothing("The start model was scored on none of the run's data sets.") : findings;
}

}  // namespace faceter
