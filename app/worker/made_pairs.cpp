#include "made_pairs.h"

#include <fmt/format.h>
#include <unistd.h>

#include "common/user_folders.h"

namespace faceter::worker {
namespace {

TrainingSet longest_texts(const Task& task, std::size_t tokens, std::size_t pairs, std::uint32_t negatives) {
    TrainingSet set;
    set.name = set.task = task.name;
    std::string words;
    for (std::size_t i = 0; i < tokens; ++i) words += "word ";
    Example example;
    example.anchor = example.positive = set.texts.intern(words);
    example.num_negatives = negatives;
    set.negatives.assign(negatives, example.anchor);
    set.examples.assign(pairs, example);
    return set;
}

}  // namespace

MadePairs::MadePairs(const EmbeddingModel& model, std::size_t pairs, std::uint32_t negatives, const TokenLengths& lengths)
    : folder_(temporary_folder() / fmt::format("faceter-memory-{}", ::getpid())) {
    for (const Task& task : model.tasks) made_.push_back(longest_texts(task, model.max_length, pairs, negatives));
    for (const TrainingSet& set : made_) pointers_.push_back(&set);
    batcher_ = std::make_unique<PairBatcher>(model, pointers_, folder_, 1, lengths);
}

MadePairs::~MadePairs() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

}  // namespace faceter::worker
