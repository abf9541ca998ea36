#pragma once
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace faceter {

/// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a counter-based generator.
/// The same key and counter give the same four words on every machine, in any order, from any thread.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// A seeded stream of random numbers for one purpose. Streams of different purposes are independent, so that adding a
/// consumer does not shift the others; the position is one counter, so that saving and resuming are trivial.
class RandomStream {
  public:
    RandomStream(std::uint64_t seed, std::string_view purpose);
    std::uint64_t next();
    /// Uniform in [0, 1), 53 bits.
    double uniform();
    /// Uniform in [0, bound), unbiased; bound must be positive.
    std::uint64_t below(std::uint64_t bound);
    /// Standard normal (Box-Muller; two words of the stream a value).
    double normal();
    std::uint64_t position() const { return position_; }
    void seek(std::uint64_t position) { position_ = position; }

    /// Fisher-Yates.
    template <typename T>
    void shuffle(std::vector<T>& values) {
        for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
    }
    /// `count` different indices below `total`, in random order (all of them where count >= total).
    std::vector<std::size_t> sample(std::size_t total, std::size_t count);

  private:
    std::array<std::uint32_t, 2> key_;
    std::uint64_t position_ = 0;
};

}  // namespace faceter
