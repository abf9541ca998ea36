#pragma once
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace faceter {

/// numpy's RandomState(seed), draw for draw: MT19937 seeded by init_genrand, and the ways in which the legacy functions use its words.
/// MTEB draws training examples with it and scikit-learn its batches and centres, so a protocol that samples gives their very sample.
/// For everything else there is RandomStream.
class NumpyRandom {
  public:
    explicit NumpyRandom(std::uint32_t seed) : words_(seed) {}

    /// RandomState.random_sample(): uniform in [0, 1), 53 bits of two words.
    double uniform();
    /// RandomState.randint(0, bound): words are masked and refused until one is below; `bound` in 1 ... 2^32.
    std::uint64_t below(std::uint64_t bound);
    /// RandomState.choice(total, count) with equal weights `p`: the place of a uniform number in the cumulated weights.
    std::vector<std::size_t> choose(std::size_t total, std::size_t count);
    /// RandomState.choice(total, count, replace=False): the first of a permutation; count <= total.
    std::vector<std::size_t> choose_different(std::size_t total, std::size_t count);
    /// RandomState.shuffle: Fisher-Yates from the end.
    template <typename T>
    void shuffle(std::vector<T>& values) {
        for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
    }

  private:
    std::mt19937 words_;  // its seeding is init_genrand, and the standard fixes its output
};

}  // namespace faceter
