#include <algorithm>

#include "data/mteb_samples.h"

// MTEB multi-label classification: train.jsonl and test.jsonl, {text, label: [...]} ("labels" means the same); a text may have no label.

namespace faceter {
namespace {

struct Part {
    TextTable texts;
    std::vector<std::vector<std::int32_t>> labels;
};

const Record::Member* labels_of(const Record& record) {
    const Record::Member* member = record.find({"label", "labels"});
    return member && member->kind == Record::Kind::list ? member : nullptr;
}

void read_part(FolderContext& context, const fs::path& file, Part& part, LabelIndex& index) {
    context.read(file, [&](const Record& record) {
        const std::string_view text = context.text(record, "text");
        const Record::Member* member = labels_of(record);
        if (!member) throw BadRecord{"member 'label' is missing or not a list", "members: " + record.known()};
        std::vector<std::int32_t> labels;
        for (const Record::Element& element : record.elements(*member)) {
            labels.push_back(index.add(label_text(element, "label")));
        }
        part.texts.add(text);
        part.labels.push_back(std::move(labels));
    });
}

/// Final numbers, ascending, each once.
void renumber(Part& part, const std::vector<std::int32_t>& final_number) {
    for (auto& labels : part.labels) {
        faceter::renumber(labels, final_number);
        std::sort(labels.begin(), labels.end());
        labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    }
}

void warn_of_untrained(FolderContext& context, const MultilabelData& data) {
    UntrainedLabels untrained;
    for (const auto& labels : data.train_labels) untrained.train(labels);
    for (const auto& labels : data.test_labels) untrained.test(labels);
    untrained.warn(context, data.label_names);
}

void evaluation(FolderContext& context, EvaluationSet& set) {
    Part train, test;
    LabelIndex index;
    read_part(context, context.need("train"), train, index);
    read_part(context, context.need_split(context.split), test, index);
    MultilabelData data;
    const auto final_number = index.finish(data.label_names);
    renumber(train, final_number);
    renumber(test, final_number);
    if (train.texts.empty() || test.texts.empty() || data.label_names.empty())
        throw data_error("{}: the training or the test part has no record, or there is no label at all", context.place());
    if (std::all_of(test.labels.begin(), test.labels.end(), [](const auto& labels) { return labels.empty(); }))
        throw data_error("{}: no text of split '{}' has a label, so there is nothing to score", context.place(), context.split);
    data.examples_per_label = examples_per_label(context);
    context.report.counts["train"] = train.texts.size();
    context.report.counts[context.split] = test.texts.size();
    context.report.counts["labels"] = data.label_names.size();
    data.train = std::move(train.texts);
    data.test = std::move(test.texts);
    data.train_labels = std::move(train.labels);
    data.test_labels = std::move(test.labels);
    warn_of_untrained(context, data);
    set.data = std::move(data);
}

std::vector<std::string> texts(FolderContext& context) {
    Part part;
    LabelIndex index;
    read_part(context, context.need_split(context.split), part, index);
    const auto views = part.texts.views();
    return {views.begin(), views.end()};
}

bool matches(const Record& record) { return record.find({"text"}) && labels_of(record); }

const bool registered = register_layout({.task = "multilabel_classification",
                                         .files = "train.jsonl, test.jsonl {text, label: [...]}",
                                         .priority = 1,
                                         .matches = matches,
                                         .evaluation = evaluation,
                                         .texts = texts,
                                         .scored_with = "train"});

}  // namespace
}  // namespace faceter
