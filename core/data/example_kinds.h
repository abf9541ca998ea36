#pragma once
#include <functional>
#include <string>

#include "common/json.h"

namespace faceter {

/// What a training example brings beside its two texts.
struct ExampleKind {
    bool scored = false;     ///< a score of the pair, and of each hard negative
    bool negatives = false;  ///< hard negatives
    std::string label{};     ///< of a pair whose record has one
};

/// Shows `take` of what kinds the examples of a data entry are, until it returns false: record by record where those of a file are pairs,
/// else once for all. Bad records are passed over. False where neither the entry nor its files tell; reading the data says what is wrong
/// with them.
bool look_at_examples(const Json& entry, const std::function<bool(ExampleKind)>& take);

/// Why reading the one file of a data entry (source file) will end at its first record: this is none of the entry's format, its labels
/// choose nothing in this format, or it cannot be read. Empty where it can, where there is none, and of Parquet where this build does not
/// read it; where bad records are passed over (on_error: skip), what ends reading all the same.
std::string reason_not_of_format(const Json& entry);

}  // namespace faceter
