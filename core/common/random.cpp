#include "common/random.h"

#include <cmath>
#include <numbers>

#include "common/hash.h"

namespace faceter {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
                   static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return counter;
}

RandomStream::RandomStream(std::uint64_t seed, std::string_view purpose) {
    const std::uint64_t mixed = hash64(purpose, seed);
    key_ = {static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32)};
}

std::uint64_t RandomStream::next() {
    const std::uint64_t at = position_++;
    const auto words = philox4x32({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at >> 32), 0, 0}, key_);
    return std::uint64_t{words[0]} | std::uint64_t{words[1]} << 32;
}

double RandomStream::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::uint64_t RandomStream::below(std::uint64_t bound) {
    const std::uint64_t limit = -bound % bound;  // values under the limit would favour small results (Lemire)
    for (;;) {
        const unsigned __int128 product = static_cast<unsigned __int128>(next()) * bound;
        if (static_cast<std::uint64_t>(product) >= limit) return static_cast<std::uint64_t>(product >> 64);
    }
}

double RandomStream::normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::vector<std::size_t> RandomStream::sample(std::size_t total, std::size_t count) {
    std::vector<std::size_t> indices(total);
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    count = std::min(count, total);
    for (std::size_t i = 0; i < count; ++i) std::swap(indices[i], indices[i + below(total - i)]);
    indices.resize(count);
    return indices;
}

}  // namespace faceter
