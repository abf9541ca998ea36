#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace faceter {

/// A byte for each scalar value, computed by `find` in blocks of 256 when one of them is first asked for; kept as long as the program runs.
/// Thread safe.
template <std::uint8_t (*find)(char32_t)>
class LazyTable {
  public:
    static std::uint8_t at(char32_t c) {
        const Block* block = blocks_[c >> 8].load(std::memory_order_acquire);
        return (block ? *block : fill(c >> 8))[c & 0xFF];
    }

  private:
    using Block = std::array<std::uint8_t, 256>;
    static const Block& fill(std::size_t index) {
        auto block = std::make_unique<Block>();
        for (std::size_t i = 0; i < 256; ++i) (*block)[i] = find(static_cast<char32_t>(index << 8 | i));
        const Block* expected = nullptr;
        if (blocks_[index].compare_exchange_strong(expected, block.get(), std::memory_order_acq_rel)) return *block.release();
        return *expected;  // another thread was first
    }
    static inline std::array<std::atomic<const Block*>, 0x1100> blocks_{};
};

}  // namespace faceter
