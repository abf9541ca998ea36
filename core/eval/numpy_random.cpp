#include "eval/numpy_random.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace faceter {

double NumpyRandom::uniform() {
    const std::uint32_t high = words_() >> 5, low = words_() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
}

std::uint64_t NumpyRandom::below(std::uint64_t bound) {
    const auto largest = static_cast<std::uint32_t>(bound - 1);
    if (largest == 0) return 0;  // no word is used up
    const std::uint32_t mask = ~std::uint32_t{0} >> std::countl_zero(largest);
    for (;;)
        if (const std::uint32_t value = words_() & mask; value <= largest) return value;
}

std::vector<std::size_t> NumpyRandom::choose(std::size_t total, std::size_t count) {
    std::vector<std::size_t> chosen(count);
    for (auto& index : chosen) index = std::min(static_cast<std::size_t>(uniform() * static_cast<double>(total)), total - 1);
    return chosen;
}

std::vector<std::size_t> NumpyRandom::choose_different(std::size_t total, std::size_t count) {
    std::vector<std::size_t> indices(total);
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    shuffle(indices);
    indices.resize(count);
    return indices;
}

}  // namespace faceter
