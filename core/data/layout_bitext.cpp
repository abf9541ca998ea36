#include "data/folder_layout.h"
#include "data/pair_file.h"
#include "data/pair_texts.h"

// MTEB bitext mining: test.jsonl {sentence1, sentence2}, a sentence and its translation.

namespace faceter {
namespace {

const TableColumns columns{{"sentence1", "sentence2"}, {{"sentence1"}, {"sentence2"}}};

void evaluation(FolderContext& context, EvaluationSet& set) {
    BitextData data;
    context.read(
        context.need_split(context.split, true),
        [&](const Record& record) {
            const std::string_view first = context.text(record, "sentence1"), second = context.text(record, "sentence2");
            data.first.add(first);
            data.second.add(second);
        },
        columns);
    if (data.first.empty()) throw data_error("{}: no pair in split '{}'", context.place(), context.split);
    context.report.counts["pairs"] = data.first.size();
    set.data = std::move(data);
}

TrainingSet training(FolderContext& context, const std::string& name, const std::string& task, Json origin) {
    TrainingBuilder builder(name, task);
    read_pair_file(context.need_split(context.split, true), context.entry, builder, context.report);
    return builder.finish(context.entry.limits, context.report, std::move(origin));
}

bool matches(const Record& record) {
    return record.find({"sentence1"}) && record.find({"sentence2"}) && !record.find({"label", "labels", "score"}) &&
           negative_members(record).empty();
}

const bool registered = register_layout({.task = "bitext_mining",
                                         .files = "test.jsonl {sentence1, sentence2}, a sentence and its translation",
                                         .matches = matches,
                                         .evaluation = evaluation,
                                         .training = training});

}  // namespace
}  // namespace faceter
