#pragma once
#include "data/entry.h"
#include "data/leaves.h"
#include "data/record.h"

namespace faceter {

/// What a record says stands in front of its texts: instruction (or query_instruction) of the query, document_instruction of positives,
/// negative_instruction of negatives, which have that of positives where it is missing. Throws BadRecord: one of them is no text.
SetInstructions instructions_of(const Record& record);

/// The instructions of a file whose records are one data set, where all of them have the same.
class SharedInstructions {
  public:
    /// `file` stands in front of messages.
    explicit SharedInstructions(std::string file) : file_(std::move(file)) {}
    void see(const SetInstructions& instructions);
    bool differ() const { return !others_.empty(); }
    /// Nothing where no record says anything, or records say several things, with a warning: those of the task count.
    std::optional<SetInstructions> shared(DataReport& report) const;

  private:
    std::string file_;
    std::optional<SetInstructions> first_;
    std::string others_;  ///< two that differ
};

}  // namespace faceter
