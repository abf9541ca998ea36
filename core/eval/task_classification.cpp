#include <ATen/ATen.h>

#include <numeric>
#include <set>

#include "eval/classification_metrics.h"
#include "eval/logistic_regression.h"
#include "eval/numpy_random.h"
#include "eval/tasks.h"

namespace faceter {
namespace {

constexpr int num_draws = 10;

/// MTEB's very draws: the training texts are shuffled again and again, and of each shuffle the first k of every label are taken.
std::vector<std::vector<std::size_t>> draw_training(const ClassificationData& data) {
    NumpyRandom random(42);
    std::vector<std::size_t> order(data.train_labels.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<std::vector<std::size_t>> draws;
    for (int d = 0; d < num_draws; ++d) {
        random.shuffle(order);
        std::vector<int> taken(data.label_names.size(), 0);
        std::vector<std::size_t> draw;
        for (const std::size_t i : order)
            if (taken[static_cast<std::size_t>(data.train_labels[i])]++ < data.examples_per_label) draw.push_back(i);
        draws.push_back(std::move(draw));
    }
    return draws;
}

/// Mean accuracy of logistic regression over the draws (MTEB).
EvaluationResult evaluate_classification(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    const auto& data = std::get<ClassificationData>(set.data);
    const auto draws = draw_training(data);
    std::set<std::size_t> used;
    for (const auto& draw : draws) used.insert(draw.begin(), draw.end());
    std::vector<std::string_view> texts;
    std::vector<std::int64_t> place(data.train_labels.size());
    for (const std::size_t i : used) {
        place[i] = static_cast<std::int64_t>(texts.size());
        texts.push_back(data.train[static_cast<std::uint32_t>(i)]);
    }
    const at::Tensor train = embedder.embed(texts, routes.query), test = embedder.embed(data.test.views(), routes.query);
    EvaluationResult result;
    result.metric = "accuracy";
    result.n = data.test_labels.size();
    result.per_example.assign(data.test_labels.size(), 0);
    std::vector<double> f1;
    for (const auto& draw : draws) {
        std::vector<std::int64_t> rows;
        std::vector<std::int32_t> labels;
        for (const std::size_t i : draw) {
            rows.push_back(place[i]);
            labels.push_back(data.train_labels[i]);
        }
        const at::Tensor features = train.index_select(0, at::tensor(at::ArrayRef<std::int64_t>(rows))).contiguous();
        const auto fit = LogisticRegression::fit({features.data_ptr<float>(), features.size(0), features.size(1)}, labels);
        const auto predicted = fit.predict({test.data_ptr<float>(), test.size(0), test.size(1)});
        result.draws.push_back(100 * accuracy(data.test_labels, predicted));
        f1.push_back(macro_f1(data.test_labels, predicted));
        for (std::size_t i = 0; i < predicted.size(); ++i)
            result.per_example[i] += 100.0 / num_draws * (predicted[i] == data.test_labels[i]);
    }
    result.score = percent(result.draws) / 100;
    result.metrics = {{"macro_f1", percent(f1)}};
    result.settings = {{"draws", num_draws}, {"examples_per_label", data.examples_per_label}, {"labels", data.label_names.size()}};
    return result;
}

const bool registered = register_task_type("classification", evaluate_classification);

}  // namespace
}  // namespace faceter
