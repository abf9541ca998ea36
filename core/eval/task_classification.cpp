#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "eval/classification_metrics.h"
#include "eval/logistic_regression.h"
#include "eval/numpy_random.h"
#include "eval/tasks.h"

namespace faceter {
namespace {

constexpr int num_draws = 10;

/// As MTEB drew: the training texts are shuffled again and again by one generator, and of each shuffle the first k of every label are
/// taken. mteb 2 begins its generator anew for each shuffle, so that its first draw is the same, and the others are not.
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

std::set<std::size_t> drawn(const std::vector<std::vector<std::size_t>>& draws) {
    std::set<std::size_t> used;
    for (const auto& draw : draws) used.insert(draw.begin(), draw.end());
    return used;
}

/// Rows of the training texts that any draw takes, in one tensor, and the place of each text in it.
struct TrainingRows {
    at::Tensor rows;
    std::vector<std::int64_t> place;
};

TrainingRows embed_training(CachedEmbedder& embedder, const ClassificationData& data, const std::vector<std::vector<std::size_t>>& draws,
                            const Route& route) {
    std::vector<std::string_view> texts;
    std::vector<std::int64_t> place(data.train_labels.size());
    for (const std::size_t i : drawn(draws)) {
        place[i] = static_cast<std::int64_t>(texts.size());
        texts.push_back(data.train[static_cast<std::uint32_t>(i)]);
    }
    return {embedder.embed(texts, route), std::move(place)};
}

/// Labels of the test texts by a classifier of one draw.
std::vector<std::int32_t> predict_from(const std::vector<std::size_t>& draw, const ClassificationData& data, const TrainingRows& train,
                                       const FeatureMatrix& test) {
    std::vector<float> features(draw.size() * static_cast<std::size_t>(test.dim));
    std::vector<std::int32_t> labels;
    for (const std::size_t i : draw) {
        std::copy_n(train.rows.const_data_ptr<float>() + train.place[i] * test.dim, test.dim,
                    features.data() + labels.size() * static_cast<std::size_t>(test.dim));
        labels.push_back(data.train_labels[i]);
    }
    return LogisticRegression::fit({features.data(), static_cast<std::int64_t>(draw.size()), test.dim}, labels).predict(test);
}

/// Of one draw. The average precision of two labels is MTEB's: of the predicted labels as scores, the second label being the positive one.
void add_measures(const ClassificationData& data, const std::vector<std::int32_t>& predicted,
                  std::map<std::string, std::vector<double>>& measures) {
    measures["macro_f1"].push_back(macro_f1(data.test_labels, predicted));
    measures["weighted_f1"].push_back(weighted_f1(data.test_labels, predicted));
    if (data.label_names.size() != 2) return;
    measures["ap"].push_back(average_precision(std::vector<double>(predicted.begin(), predicted.end()), data.test_labels));
}

/// Mean accuracy of logistic regression over the draws (MTEB). A draw is too small to share out among threads, so each thread takes whole
/// draws; the score does not depend on their number.
EvaluationResult evaluate_classification(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    const auto& data = std::get<ClassificationData>(set.data);
    const auto draws = draw_training(data);
    const TrainingRows train = embed_training(embedder, data, draws, routes.query);
    const at::Tensor test = embedder.embed(data.test.views(), routes.query);
    const FeatureMatrix test_rows{test.const_data_ptr<float>(), test.size(0), test.size(1)};
    std::vector<std::vector<std::int32_t>> predicted(num_draws);
    at::parallel_for(0, num_draws, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t d = begin; d < end; ++d) {
            const auto at = static_cast<std::size_t>(d);
            predicted[at] = predict_from(draws[at], data, train, test_rows);
        }
    });
    EvaluationResult result;
    result.metric = "accuracy";
    result.n = data.test_labels.size();
    result.per_example.assign(data.test_labels.size(), 0);
    std::map<std::string, std::vector<double>> further;
    for (const auto& labels : predicted) {
        result.draws.push_back(100 * accuracy(data.test_labels, labels));
        add_measures(data, labels, further);
        for (std::size_t i = 0; i < labels.size(); ++i) result.per_example[i] += 100.0 / num_draws * (labels[i] == data.test_labels[i]);
    }
    result.score = percent(result.draws) / 100;
    result.metrics = {{"accuracy", result.score}};
    for (const auto& [name, values] : further) result.metrics[name] = percent(values);
    result.settings = {{"draws", num_draws}, {"examples_per_label", data.examples_per_label}, {"labels", data.label_names.size()}};
    return result;
}

std::vector<std::string_view> classification_texts(const EvaluationSet& set) {
    const auto& data = std::get<ClassificationData>(set.data);
    std::vector<std::string_view> texts = data.test.views();
    for (const std::size_t i : drawn(draw_training(data))) texts.push_back(data.train[static_cast<std::uint32_t>(i)]);
    return texts;
}

const bool registered = register_task_type("classification", evaluate_classification, classification_texts);

}  // namespace
}  // namespace faceter
