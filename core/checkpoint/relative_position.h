#pragma once
#include <cstdint>

#include "checkpoint/encoder_config.h"

/// What encoders compute of positions alone, in float32 as the released code has it.
namespace faceter {

/// T5's bucket of a distance (key - query), for texts read in both directions: half of them for each side, the first half of those exact,
/// the rest logarithmic up to the largest distance (Raffel et al., 2020, section 2.1).
std::int64_t relative_bucket(std::int64_t distance, std::int64_t buckets, std::int64_t max_distance);

/// What pair i of a head's rotated elements turns by from one position to the next: base^(-2i / rotary_dim) / stretch (Su et al., 2021), or
/// what `rotary` says of that pair.
float rotary_frequency(std::int64_t i, std::int64_t rotary_dim, const Rotary& rotary);

}  // namespace faceter
