#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace faceter {

/// Token ids of many texts, end to end; text i has ids[offsets[i]] to ids[offsets[i + 1]].
struct TokenBatch {
    std::vector<std::int32_t> ids;
    std::vector<std::uint64_t> offsets{0};  ///< size() + 1 entries

    std::size_t size() const { return offsets.size() - 1; }
    std::span<const std::int32_t> operator[](std::size_t i) const {
        return std::span(ids).subspan(offsets[i], offsets[i + 1] - offsets[i]);
    }
};

/// Encodes every text with `prefix` (the instruction; may be empty) put directly in front of it, on `threads` threads (0: all cores).
/// The output does not depend on the number of threads.
TokenBatch encode_batch(const Tokenizer& tokenizer, std::span<const std::string_view> texts, std::string_view prefix,
                        std::size_t max_length, int threads = 0);

}  // namespace faceter
