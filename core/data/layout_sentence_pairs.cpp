#include "data/folder_layout.h"

// MTEB pair classification {sentence1, sentence2, label 0 or 1} and STS {sentence1, sentence2, score}.

namespace faceter {
namespace {

const TableColumns labelled_columns{{"sentence1", "sentence2", "label"}, {{"sentence1"}, {"sentence2"}}};
const TableColumns scored_columns{{"sentence1", "sentence2", "score"}, {{"sentence1"}, {"sentence2"}}};

void read_pairs(FolderContext& context, PairData& data, const TableColumns& columns, double (*score_of)(const Record&)) {
    context.read(
        context.need_split(context.split, true),
        [&](const Record& record) {
            const std::string_view first = record.text("sentence1"), second = record.text("sentence2");
            const double score = score_of(record);
            data.first.push_back(data.texts.intern(first));
            data.second.push_back(data.texts.intern(second));
            data.scores.push_back(score);
        },
        columns);
    if (data.first.empty()) throw data_error("{}: no pair in split '{}'", context.folder.string(), context.split);
    context.report.counts["pairs"] = data.first.size();
}

double label_of(const Record& record) {
    const double label = record.number("label");
    if (label != 0 && label != 1) throw BadRecord{"member 'label' is neither 0 nor 1", ""};
    return label;
}

double score_of(const Record& record) { return record.number("score"); }

void classification(FolderContext& context, EvaluationSet& set) {
    PairData data;
    read_pairs(context, data, labelled_columns, label_of);
    std::size_t positive = 0;
    for (const double score : data.scores) positive += score == 1;
    context.report.counts["positive_pairs"] = positive;
    set.data = std::move(data);
}

void similarity(FolderContext& context, EvaluationSet& set) {
    PairData data;
    read_pairs(context, data, scored_columns, score_of);
    set.data = std::move(data);
}

/// The pairs with label 1: (sentence1, sentence2).
TrainingSet training(FolderContext& context, const std::string& name, const std::string& task, Json origin) {
    PairData data;
    read_pairs(context, data, labelled_columns, label_of);
    TrainingBuilder builder(name, task);
    for (std::size_t i = 0; i < data.first.size(); ++i)
        if (data.scores[i] == 1) builder.add(data.texts[data.first[i]], data.texts[data.second[i]]);
    return builder.finish(context.entry.limits, context.report, std::move(origin));
}

bool labelled(const Record& record) { return record.find({"sentence1"}) && record.find({"sentence2"}) && record.find({"label"}); }
bool scored(const Record& record) { return record.find({"sentence1"}) && record.find({"sentence2"}) && record.find({"score"}); }

const bool registered_pairs = register_layout({.task = "pair_classification",
                                               .files = "test.jsonl {sentence1, sentence2, label 0 or 1}",
                                               .matches = labelled,
                                               .evaluation = classification,
                                               .training = training});
const bool registered_sts =
    register_layout({.task = "sts", .files = "test.jsonl {sentence1, sentence2, score}", .matches = scored, .evaluation = similarity});

}  // namespace
}  // namespace faceter
