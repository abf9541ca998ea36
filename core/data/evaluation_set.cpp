#include "data/evaluation_set.h"

#include "data/fingerprint.h"

namespace faceter {
namespace {

template <typename T>
std::span<const T> view(const std::vector<T>& values) {
    return values;
}

void add_strings(Fingerprint& fingerprint, const std::vector<std::string>& strings) {
    TextTable table;
    for (const std::string& text : strings) table.add(text);
    fingerprint.add_texts(table);
}

void add(Fingerprint& fingerprint, const RetrievalData& data) {
    fingerprint.add_texts(data.documents);
    fingerprint.add_texts(data.queries);
    add_strings(fingerprint, data.document_ids);
    add_strings(fingerprint, data.query_ids);
    std::vector<std::int64_t> judgements;
    for (const auto& judged : data.qrels) {
        judgements.push_back(-1);  // a border between queries
        for (const auto& [document, grade] : judged) judgements.insert(judgements.end(), {document, grade});
    }
    fingerprint.add_values(view(judgements));
    fingerprint.add(data.exclude_same_id ? "exclude" : "keep");
    for (const auto& grades : data.absent_grades) fingerprint.add_values(view(grades));
}

void add(Fingerprint& fingerprint, const ClassificationData& data) {
    fingerprint.add_texts(data.train);
    fingerprint.add_texts(data.test);
    fingerprint.add_values(view(data.train_labels));
    fingerprint.add_values(view(data.test_labels));
    add_strings(fingerprint, data.label_names);
    fingerprint.add(std::to_string(data.examples_per_label));
}

void add(Fingerprint& fingerprint, const ClusteringData& data) {
    for (const auto& set : data.sets) {
        fingerprint.add_texts(set.texts);
        fingerprint.add_values(view(set.labels));
    }
}

void add(Fingerprint& fingerprint, const PairData& data) {
    fingerprint.add_texts(data.texts);
    fingerprint.add_values(view(data.first));
    fingerprint.add_values(view(data.second));
    fingerprint.add_values(view(data.scores));
}

void add(Fingerprint& fingerprint, const RerankingData& data) {
    fingerprint.add_texts(data.texts);
    for (const auto& query : data.queries) {
        fingerprint.add(std::to_string(query.query));
        fingerprint.add_values(view(query.positive));
        fingerprint.add_values(view(query.negative));
    }
}

void add(Fingerprint& fingerprint, const SummarisationData& data) {
    fingerprint.add_texts(data.texts);
    for (const auto& item : data.items) {
        fingerprint.add_values(view(item.human));
        fingerprint.add_values(view(item.machine));
        fingerprint.add_values(view(item.relevance));
    }
}

void add(Fingerprint& fingerprint, const MultilabelData& data) {
    fingerprint.add_texts(data.train);
    fingerprint.add_texts(data.test);
    for (const auto* part : {&data.train_labels, &data.test_labels})
        for (const auto& labels : *part) {
            fingerprint.add_values(view(labels));
            fingerprint.add(";");  // a border between texts
        }
    add_strings(fingerprint, data.label_names);
    fingerprint.add(std::to_string(data.examples_per_label));
}

void add(Fingerprint& fingerprint, const BitextData& data) {
    fingerprint.add_texts(data.first);
    fingerprint.add_texts(data.second);
}

/// The tables of a set; `training` says whether a classification set's training part is among them.
std::vector<const TextTable*> tables_of(const EvaluationSet& set, bool training) {
    std::vector<const TextTable*> tables;
    for (const EvaluationSet& subset : set.subsets)
        for (const TextTable* table : tables_of(subset, training)) tables.push_back(table);
    if (!set.subsets.empty()) return tables;
    if (const auto* retrieval = std::get_if<RetrievalData>(&set.data)) {
        tables = {&retrieval->documents, &retrieval->queries};
    } else if (const auto* classification = std::get_if<ClassificationData>(&set.data)) {
        if (training) tables.push_back(&classification->train);
        tables.push_back(&classification->test);
    } else if (const auto* clustering = std::get_if<ClusteringData>(&set.data)) {
        for (const auto& one : clustering->sets) tables.push_back(&one.texts);
    } else if (const auto* pairs = std::get_if<PairData>(&set.data)) {
        tables.push_back(&pairs->texts);
    } else if (const auto* reranking = std::get_if<RerankingData>(&set.data)) {
        tables.push_back(&reranking->texts);
    } else if (const auto* summarisation = std::get_if<SummarisationData>(&set.data)) {
        tables.push_back(&summarisation->texts);
    } else if (const auto* multilabel = std::get_if<MultilabelData>(&set.data)) {
        if (training) tables.push_back(&multilabel->train);
        tables.push_back(&multilabel->test);
    } else if (const auto* bitext = std::get_if<BitextData>(&set.data)) {
        tables = {&bitext->first, &bitext->second};
    }
    return tables;
}

std::vector<std::string_view> texts_of(const std::vector<const TextTable*>& tables) {
    std::vector<std::string_view> texts;
    for (const TextTable* table : tables)
        for (std::uint32_t id = 0; id < table->size(); ++id) texts.push_back((*table)[id]);
    return texts;
}

}  // namespace

std::vector<std::pair<std::uint32_t, int>> all_judgements(const RetrievalData& data, std::size_t query) {
    auto judged = data.qrels[query];
    if (data.absent_grades.empty()) return judged;
    auto number = static_cast<std::uint32_t>(data.documents.size());
    for (const int grade : data.absent_grades[query]) judged.emplace_back(number++, grade);
    return judged;
}

std::string fingerprint_of(const EvaluationSet& set) {
    Fingerprint fingerprint;
    fingerprint.add(set.task_type);
    for (const EvaluationSet& subset : set.subsets) {
        fingerprint.add(subset.name);
        fingerprint.add(subset.fingerprint);
    }
    if (set.subsets.empty()) std::visit([&](const auto& data) { add(fingerprint, data); }, set.data);
    return fingerprint.hex();
}

std::vector<std::string_view> all_texts(const EvaluationSet& set) { return texts_of(tables_of(set, true)); }
std::vector<std::string_view> held_out_texts(const EvaluationSet& set) { return texts_of(tables_of(set, false)); }

}  // namespace faceter
