#include "data/example_rows.h"

#include <algorithm>

#include "common/error.h"

namespace faceter {
namespace {

std::size_t size_of(const EvaluationSet& set) {
    struct {
        std::size_t operator()(const RetrievalData& data) const { return data.queries.size(); }
        std::size_t operator()(const ClassificationData& data) const { return data.test.size(); }
        std::size_t operator()(const ClusteringData& data) const {
            std::size_t size = 0;
            for (const auto& set : data.sets) size += set.texts.size();
            return size;
        }
        std::size_t operator()(const PairData& data) const { return data.first.size(); }
        std::size_t operator()(const RerankingData& data) const { return data.queries.size(); }
        std::size_t operator()(const SummarisationData& data) const { return data.items.size(); }
        std::size_t operator()(const MultilabelData& data) const { return data.test.size(); }
        std::size_t operator()(const BitextData& data) const { return data.first.size(); }
    } const count;
    return std::visit(count, set.data);
}

ExampleRow training_row(const TrainingSet& set, const Example& example, std::size_t most_documents) {
    ExampleRow row{{{"anchor", set.texts[example.anchor]}, {"positive", set.texts[example.positive], true}}};
    for (std::size_t n = 0; n < std::min<std::size_t>(example.num_negatives, most_documents); ++n)
        row.texts.push_back({"negative", set.texts[set.negatives[example.first_negative + n]], true});
    if (example.label >= 0 && static_cast<std::size_t>(example.label) < set.label_names.size())
        row.label = set.label_names[static_cast<std::size_t>(example.label)];
    return row;
}

/// Row `number` of one kind of test data.
struct EvaluationRow {
    std::size_t number, most_documents;
    std::uint32_t id() const { return static_cast<std::uint32_t>(number); }

    ExampleRow operator()(const RetrievalData& data) const {
        ExampleRow row{{{"query", data.queries[id()]}}};
        std::size_t left = most_documents;
        for (const auto& [document, grade] : data.qrels[number])
            if (grade > 0 && left-- > 0)
                row.texts.push_back({"relevant", data.documents[document], true});
            else if (grade > 0)
                break;
        return row;
    }
    ExampleRow operator()(const ClassificationData& data) const {
        return {{{"test", data.test[id()]}}, data.label_names[static_cast<std::size_t>(data.test_labels[number])]};
    }
    ExampleRow operator()(const ClusteringData& data) const {
        std::size_t before = 0;
        for (std::size_t part = 0; part < data.sets.size(); ++part) {
            const auto& set = data.sets[part];
            const std::size_t place = number - before;
            if (place < set.texts.size())
                return {{{"text", set.texts[static_cast<std::uint32_t>(place)]}}, "cluster " + std::to_string(set.labels[place]), part};
            before += set.texts.size();
        }
        return {};
    }
    ExampleRow operator()(const PairData& data) const {
        return {{{"first", data.texts[data.first[number]]}, {"second", data.texts[data.second[number]]}}, data.scores[number]};
    }
    ExampleRow operator()(const RerankingData& data) const {
        const auto& query = data.queries[number];
        ExampleRow row{{{"query", data.texts[query.query]}}};
        if (!query.positive.empty()) row.texts.push_back({"relevant", data.texts[query.positive.front()], true});
        if (!query.negative.empty()) row.texts.push_back({"irrelevant", data.texts[query.negative.front()], true});
        return row;
    }
    ExampleRow operator()(const SummarisationData& data) const {
        const auto& item = data.items[number];
        ExampleRow row;
        if (!item.human.empty()) row.texts.push_back({"human", data.texts[item.human.front()]});
        if (!item.machine.empty()) row.texts.push_back({"machine", data.texts[item.machine.front()]});
        if (!item.relevance.empty()) row.label = item.relevance.front();
        return row;
    }
    ExampleRow operator()(const MultilabelData& data) const {
        std::string names;
        for (const std::int32_t label : data.test_labels[number])
            names += (names.empty() ? "" : ", ") + data.label_names[static_cast<std::size_t>(label)];
        return {{{"test", data.test[id()]}}, names};
    }
    ExampleRow operator()(const BitextData& data) const { return {{{"sentence", data.first[id()]}, {"translation", data.second[id()]}}}; }
};

}  // namespace

ExampleRows::ExampleRows(const TrainingSet& set) : training_(&set), ends_{set.examples.size()} {}

ExampleRows::ExampleRows(const EvaluationSet& set) {
    for (const EvaluationSet& part : set.subsets) parts_.push_back(&part);
    if (parts_.empty()) parts_.push_back(&set);
    for (const EvaluationSet* part : parts_) ends_.push_back(size() + size_of(*part));
}

ExampleRow ExampleRows::row(std::size_t number, std::size_t most_documents) const {
    if (number >= size()) throw Error(ExitCode::usage, fmt::format("example {} of a set of {}", number, size()));
    if (training_) return training_row(*training_, training_->examples[number], most_documents);
    const auto part = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), number) - ends_.begin());
    const std::size_t before = part == 0 ? 0 : ends_[part - 1];
    ExampleRow row = std::visit(EvaluationRow{number - before, most_documents}, parts_[part]->data);
    if (parts_.size() > 1) row.part = row.part * parts_.size() + part;
    return row;
}

}  // namespace faceter
