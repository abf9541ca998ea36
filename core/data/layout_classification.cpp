#include <algorithm>

#include "common/strings.h"
#include "data/mteb_samples.h"
#include "data/pair_file.h"

// MTEB classification: train.jsonl and test.jsonl, {text, label, label_text}. Tables (.tsv, .csv) have the columns text and label.

namespace faceter {
namespace {

void read_labelled(FolderContext& context, const fs::path& file, TextTable& texts, std::vector<std::int32_t>& labels, LabelIndex& index) {
    context.read(
        file,
        [&](const Record& record) {
            const std::string_view text = context.text(record, "text");
            const Record::Member* label = record.find({"label", "label_text"});
            if (!label) throw BadRecord{"member 'label' is missing", "members: " + record.known()};
            const std::string_view key = label_text(*label);
            if (key.empty()) throw BadRecord{"member 'label' is empty", ""};
            labels.push_back(index.add(key, label_name(record)));
            texts.add(text);
        },
        labelled_columns());
}

void count(Json& counts, const std::string& key, const std::vector<std::int32_t>& labels, const std::vector<std::string>& names) {
    std::vector<std::size_t> by_label(names.size());
    for (const std::int32_t label : labels) ++by_label[static_cast<std::size_t>(label)];
    counts[key] = labels.size();
    for (std::size_t i = 0; i < names.size(); ++i) counts[key + "_by_label"][names[i]] = by_label[i];
}

void warn_of_untrained(FolderContext& context, const ClassificationData& data) {
    UntrainedLabels untrained(data.train_labels);
    for (const std::int32_t& label : data.test_labels) untrained.test({&label, 1});
    untrained.warn(context, data.label_names);
}

void evaluation(FolderContext& context, EvaluationSet& set) {
    ClassificationData data;
    LabelIndex index;
    read_labelled(context, context.need("train", true), data.train, data.train_labels, index);
    read_labelled(context, context.need_split(context.split, true), data.test, data.test_labels, index);
    const auto final_number = index.finish(data.label_names);
    renumber(data.train_labels, final_number);
    renumber(data.test_labels, final_number);
    if (data.train.empty() || data.test.empty()) throw data_error("{}: the training or the test part has no record", context.place());
    const auto [low, high] = std::minmax_element(data.train_labels.begin(), data.train_labels.end());
    if (*low == *high)
        throw data_error("{}: all {} training texts have the label {}; a classifier needs two different labels", context.place(),
                         data.train.size(), faceter::quoted(data.label_names[static_cast<std::size_t>(*low)]));
    warn_of_untrained(context, data);
    data.examples_per_label = examples_per_label(context);
    count(context.report.counts, "train", data.train_labels, data.label_names);
    count(context.report.counts, context.split, data.test_labels, data.label_names);
    context.report.counts["examples_per_label"] = data.examples_per_label;
    set.data = std::move(data);
}

LabelledTexts read_split(FolderContext& context) {
    LabelledTexts labelled;
    LabelIndex index;
    read_labelled(context, context.need_split(context.split, true), labelled.texts, labelled.labels, index);
    renumber(labelled.labels, index.finish(labelled.label_names));
    return labelled;
}

TrainingSet training(FolderContext& context, const std::string& name, const std::string& task, Json origin) {
    return train_from_labels(read_split(context), context.entry, name, task, context.report, std::move(origin));
}

std::vector<std::string> texts(FolderContext& context) {
    const LabelledTexts labelled = read_split(context);
    const auto views = labelled.texts.views();
    return {views.begin(), views.end()};
}

bool matches(const Record& record) { return record.find({"text"}) && record.find({"label", "label_text"}); }

const bool registered = register_layout({.task = "classification",
                                         .files = "train.jsonl, test.jsonl {text, label, label_text}",
                                         .matches = matches,
                                         .evaluation = evaluation,
                                         .training = training,
                                         .texts = texts,
                                         .scored_with = "train"});

}  // namespace
}  // namespace faceter
