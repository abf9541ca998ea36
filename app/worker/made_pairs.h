#pragma once
#include <memory>
#include <vector>

#include "common/file.h"
#include "train/pair_batch.h"

namespace faceter::worker {

/// Pairs for a model's tasks where memory is counted without data: each text has all the tokens that it may have, those of one side are the
/// same text, and each pair has so many hard negatives. Tokens are in a temporary folder.
class MadePairs {
  public:
    MadePairs(const EmbeddingModel& model, std::size_t pairs, std::uint32_t negatives, const TokenLengths& lengths);
    ~MadePairs();
    MadePairs(const MadePairs&) = delete;
    MadePairs& operator=(const MadePairs&) = delete;
    const std::vector<const TrainingSet*>& sets() const { return pointers_; }
    const PairBatcher& batcher() const { return *batcher_; }

  private:
    fs::path folder_;
    std::vector<TrainingSet> made_;
    std::vector<const TrainingSet*> pointers_;
    std::unique_ptr<PairBatcher> batcher_;
};

}  // namespace faceter::worker
