#include <algorithm>
#include <functional>

#include "compare/significance.h"

namespace faceter {
namespace {

/// Adds one run's scores to the sum over its group's seeds; scores of other examples cannot be averaged.
void add_run(ExampleScores::Of& sum, ExampleScores::Of run) {
    if (!sum.reason.empty()) return;
    if (run.values.empty())
        sum = {{}, "its metric is no mean over examples"};
    else if (sum.values.empty())
        sum = std::move(run);
    else if (sum.values.size() != run.values.size() || sum.is_of_other_data(run))
        sum = {{}, "the group's runs were scored on different examples"};
    else
        std::transform(run.values.begin(), run.values.end(), sum.values.begin(), sum.values.begin(), std::plus<>());
}

}  // namespace

ExampleScores read_examples(Store& store, const Comparison& comparison) {
    ExampleScores examples;
    for (const RunGroup& group : comparison.groups) {
        std::map<std::string, ExampleScores::Of> sums;
        std::map<std::string, int> counts;
        for (const RunRow& run : group.runs)
            for (const ResultRow& result : store.results(run.info.id, true)) {
                add_run(sums[result.name], {result.per_example, {}, result.fingerprint});
                ++counts[result.name];
            }
        for (auto& [name, sum] : sums)
            for (double& value : sum.values) value /= counts[name];
        examples.groups.push_back(std::move(sums));
    }
    return examples;
}

}  // namespace faceter
