#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <set>

#include "eval/multilabel.h"
#include "eval/tasks.h"

namespace faceter {
namespace {

constexpr int num_draws = 10, num_neighbours = 5;

/// The labels that occur in the test part, numbered anew; the protocol knows no others.
struct TestLabels {
    std::vector<LabelSet> train, test;
    std::int32_t count = 0;
};

TestLabels labels_of_test(const MultilabelData& data) {
    TestLabels labels;
    std::vector<std::int32_t> number(data.label_names.size(), -1);
    for (const LabelSet& one : data.test_labels)
        for (const std::int32_t label : one) number[static_cast<std::size_t>(label)] = 0;
    for (std::int32_t& one : number)
        if (one == 0) one = labels.count++;
    const auto renumber = [&](const std::vector<LabelSet>& all) {
        std::vector<LabelSet> renumbered;
        for (const LabelSet& one : all) {
            LabelSet& kept = renumbered.emplace_back();
            for (const std::int32_t label : one)
                if (const std::int32_t n = number[static_cast<std::size_t>(label)]; n >= 0) kept.push_back(n);
        }
        return renumbered;
    };
    labels.train = renumber(data.train_labels);
    labels.test = renumber(data.test_labels);
    return labels;
}

/// Training texts that any draw takes, embedded once.
class TrainingRows {
  public:
    TrainingRows(CachedEmbedder& embedder, const MultilabelData& data, const std::vector<std::vector<std::size_t>>& draws,
                 const Route& route) {
        std::vector<std::string_view> texts;
        for (const auto& draw : draws)
            for (const std::size_t i : draw)
                if (place_.emplace(i, texts.size()).second) texts.push_back(data.train[static_cast<std::uint32_t>(i)]);
        rows_ = embedder.embed(texts, route);
    }
    std::vector<float> of(const std::vector<std::size_t>& draw) const {
        const std::int64_t dim = rows_.size(1);
        std::vector<float> features;
        for (const std::size_t i : draw) {
            const float* row = rows_.const_data_ptr<float>() + static_cast<std::int64_t>(place_.at(i)) * dim;
            features.insert(features.end(), row, row + dim);
        }
        return features;
    }

  private:
    std::map<std::size_t, std::size_t> place_;
    at::Tensor rows_;
};

/// Exact-match accuracy of a five-nearest-neighbour classifier, mean over draws (MTEB). MTEB thins long test parts to 2,000 texts where a
/// stratified split exists; here all are scored.
EvaluationResult evaluate_multilabel(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    const auto& data = std::get<MultilabelData>(set.data);
    const TestLabels labels = labels_of_test(data);
    const auto draws = draw_multilabel_training(data.train_labels, data.examples_per_label, num_draws);
    const TrainingRows train(embedder, data, draws, routes.query);
    const at::Tensor test = embedder.embed(data.test.views(), routes.query);
    const FeatureMatrix test_rows{test.const_data_ptr<float>(), test.size(0), test.size(1)};
    std::vector<MultilabelScores> scores(num_draws);
    std::vector<std::vector<LabelSet>> predicted(num_draws);
    at::parallel_for(0, num_draws, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t d = begin; d < end; ++d) {
            const auto& draw = draws[static_cast<std::size_t>(d)];
            const std::vector<float> features = train.of(draw);
            std::vector<LabelSet> own;
            for (const std::size_t i : draw) own.push_back(labels.train[i]);
            auto& said = predicted[static_cast<std::size_t>(d)];
            said = nearest_neighbour_labels({features.data(), static_cast<std::int64_t>(draw.size()), test_rows.dim}, own, test_rows,
                                            num_neighbours);
            scores[static_cast<std::size_t>(d)] = multilabel_scores(labels.test, said, labels.count);
        }
    });
    EvaluationResult result;
    result.metric = "accuracy";
    result.n = data.test_labels.size();
    result.per_example.assign(result.n, 0);
    for (const std::vector<LabelSet>& said : predicted)
        for (std::size_t i = 0; i < said.size(); ++i) result.per_example[i] += 100.0 / num_draws * (said[i] == labels.test[i]);
    std::vector<double> f1, lrap;
    for (const MultilabelScores& one : scores) {
        result.draws.push_back(100 * one.accuracy);
        f1.push_back(one.macro_f1);
        lrap.push_back(one.lrap);
    }
    result.score = percent(result.draws) / 100;
    result.metrics = {{"accuracy", result.score}, {"macro_f1", percent(f1)}, {"lrap", percent(lrap)}};
    result.settings = {
        {"draws", num_draws}, {"examples_per_label", data.examples_per_label}, {"labels", labels.count}, {"neighbours", num_neighbours}};
    return result;
}

std::vector<std::string_view> multilabel_texts(const EvaluationSet& set) {
    const auto& data = std::get<MultilabelData>(set.data);
    std::vector<std::string_view> texts = data.test.views();
    std::set<std::size_t> used;
    for (const auto& draw : draw_multilabel_training(data.train_labels, data.examples_per_label, num_draws))
        used.insert(draw.begin(), draw.end());
    for (const std::size_t i : used) texts.push_back(data.train[static_cast<std::uint32_t>(i)]);
    return texts;
}

const bool registered = register_task_type("multilabel_classification", evaluate_multilabel, multilabel_texts);

}  // namespace
}  // namespace faceter
