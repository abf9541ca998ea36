#include "data/file_ending.h"
#include "data/pair_file.h"

// Folders without a score: pairs and triplets for training, plain texts for the similarity analysis.

namespace faceter {
namespace {

TrainingSet pairs(FolderContext& context, const std::string& name, const std::string& task, Json origin) {
    TrainingBuilder builder(name, task);
    read_pair_file(context.need_split(context.split, true), context.entry, builder, context.report);
    return builder.finish(context.entry.limits, context.report, std::move(origin));
}

std::vector<std::string> pair_texts(FolderContext& context) {
    TrainingBuilder builder("texts", "texts");
    read_pair_file(context.need_split(context.split, true), context.entry, builder, context.report);
    const TrainingSet set = builder.finish({}, context.report, {});
    const auto views = set.texts.views();
    return {views.begin(), views.end()};
}

std::vector<std::string> texts(FolderContext& context) {
    static const std::string lines = ".txt";
    if (const auto plain = find_by_ending(context.folder, "texts", {&lines, 1})) return read_text_file(*plain, context.report);
    return read_text_file(context.need("texts", true), context.report);
}

bool is_text_record(const Record& record) { return record.find({"text"}) != nullptr; }

const bool registered_pairs = register_layout({.task = "pairs",
                                               .files = "train.jsonl {query, document, negatives}",
                                               .priority = -1,
                                               .matches = is_pair_record,
                                               .training = pairs,
                                               .texts = pair_texts});
const bool registered_texts =
    register_layout({.task = "texts", .files = "texts.jsonl {text}", .priority = -2, .matches = is_text_record, .texts = texts});

}  // namespace
}  // namespace faceter
