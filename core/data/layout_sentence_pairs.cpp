#include <algorithm>

#include "data/folder_layout.h"

// MTEB pair classification {sentence1, sentence2, label 0 or 1} ("labels" means the same) and STS {sentence1, sentence2, score}. Older
// copies of MTEB's pair classification hold all pairs in one record: {sent1: [...], sent2: [...], labels: [...]}.

namespace faceter {
namespace {

const TableColumns columns_with_label{{"sentence1", "sentence2", "label"}, {{"sentence1"}, {"sentence2"}}};
const TableColumns scored_columns{{"sentence1", "sentence2", "score"}, {{"sentence1"}, {"sentence2"}}};

void read_pairs(FolderContext& context, PairData& data, const TableColumns& columns, double (*score_of)(const Record&)) {
    context.read(
        context.need_split(context.split, true),
        [&](const Record& record) {
            const std::string_view first = context.text(record, "sentence1"), second = context.text(record, "sentence2");
            const double score = score_of(record);
            data.first.push_back(data.texts.intern(first));
            data.second.push_back(data.texts.intern(second));
            data.scores.push_back(score);
        },
        columns);
    if (data.first.empty()) throw data_error("{}: no pair in split '{}'", context.place(), context.split);
    context.report.counts["pairs"] = data.first.size();
}

double checked_label(double label) {
    if (label != 0 && label != 1) throw BadRecord{"member 'label' is neither 0 nor 1", ""};
    return label;
}

double label_of(const Record& record) {
    const Record::Member* label = record.find({"label", "labels"});
    return checked_label(record.number(label ? label->key : "label"));
}

std::string_view list_name(const Record& record, std::initializer_list<std::string_view> names) {
    const Record::Member* member = record.find(names);
    return member && member->kind == Record::Kind::list ? member->key : std::string_view();
}

bool is_listed(const Record& record) {
    return !list_name(record, {"sent1", "sentence1"}).empty() && !list_name(record, {"sent2", "sentence2"}).empty() &&
           !list_name(record, {"labels", "label"}).empty();
}

void read_listed_pairs(FolderContext& context, PairData& data) {
    context.read(context.need_split(context.split), [&](const Record& record) {
        if (!is_listed(record)) throw BadRecord{"lists 'sent1', 'sent2' and 'labels' are expected", "members: " + record.known()};
        const auto first = record.texts(list_name(record, {"sent1", "sentence1"})),
                   second = record.texts(list_name(record, {"sent2", "sentence2"}));
        const auto labels = record.numbers(list_name(record, {"labels", "label"}));
        if (first.size() != second.size() || first.size() != labels.size())
            throw BadRecord{"the lists differ in length", fmt::format("{}, {} and {}", first.size(), second.size(), labels.size())};
        for (const double label : labels) checked_label(label);
        for (std::size_t i = 0; i < labels.size(); ++i) {
            data.first.push_back(data.texts.intern(first[i]));
            data.second.push_back(data.texts.intern(second[i]));
            data.scores.push_back(labels[i]);
        }
    });
    if (data.first.empty()) throw data_error("{}: no pair in split '{}'", context.place(), context.split);
    context.report.counts["pairs"] = data.first.size();
}

/// One record a pair, or all pairs in one: the first record says which.
void read_labelled_pairs(FolderContext& context, PairData& data) {
    bool listed = false;
    if (const auto file = context.find_split(context.split)) peek_record(*file, [&](const Record& record) { listed = is_listed(record); });
    if (listed) return read_listed_pairs(context, data);
    read_pairs(context, data, columns_with_label, label_of);
}

double score_of(const Record& record) { return record.number("score"); }

void classification(FolderContext& context, EvaluationSet& set) {
    PairData data;
    read_labelled_pairs(context, data);
    std::size_t positive = 0;
    for (const double score : data.scores) positive += score == 1;
    context.report.counts["positive_pairs"] = positive;
    if (positive == 0 || positive == data.scores.size())
        context.report.warnings.push_back(fmt::format("{}: all pairs have the label {}; average precision is then {} for every model",
                                                      context.folder.string(), positive ? 1 : 0, positive ? 100 : 0));
    set.data = std::move(data);
}

void similarity(FolderContext& context, EvaluationSet& set) {
    PairData data;
    read_pairs(context, data, scored_columns, score_of);
    if (std::all_of(data.scores.begin(), data.scores.end(), [&](double score) { return score == data.scores.front(); }))
        throw data_error("{}: all {} pairs have the score {}; a correlation needs different scores", context.place(), data.scores.size(),
                         data.scores.front());
    set.data = std::move(data);
}

/// The pairs with label 1: (sentence1, sentence2).
TrainingSet training(FolderContext& context, const std::string& name, const std::string& task, Json origin) {
    PairData data;
    read_labelled_pairs(context, data);
    TrainingBuilder builder(name, task);
    for (std::size_t i = 0; i < data.first.size(); ++i)
        if (data.scores[i] == 1) builder.add(data.texts[data.first[i]], data.texts[data.second[i]]);
    return builder.finish(context.entry.limits, context.report, std::move(origin));
}

/// All pairs with their scores, for objectives that learn an order of them.
TrainingSet scored_training(FolderContext& context, const std::string& name, const std::string& task, Json origin) {
    PairData data;
    read_pairs(context, data, scored_columns, score_of);
    TrainingBuilder builder(name, task);
    for (std::size_t i = 0; i < data.first.size(); ++i) {
        const float score[] = {static_cast<float>(data.scores[i])};
        builder.add(data.texts[data.first[i]], data.texts[data.second[i]], {}, -1, score);
    }
    return builder.finish(context.entry.limits, context.report, std::move(origin));
}

bool labelled(const Record& record) {
    return (record.find({"sentence1"}) && record.find({"sentence2"}) && record.find({"label", "labels"})) || is_listed(record);
}
bool scored(const Record& record) { return record.find({"sentence1"}) && record.find({"sentence2"}) && record.find({"score"}); }

const bool registered_pairs = register_layout({.task = "pair_classification",
                                               .files = "test.jsonl {sentence1, sentence2, label 0 or 1}",
                                               .matches = labelled,
                                               .evaluation = classification,
                                               .training = training});
const bool registered_sts = register_layout({.task = "sts",
                                             .files = "test.jsonl {sentence1, sentence2, score}",
                                             .matches = scored,
                                             .evaluation = similarity,
                                             .training = scored_training});

}  // namespace
}  // namespace faceter
