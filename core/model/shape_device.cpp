#include "model/shape_device.h"

#include <c10/core/Allocator.h>

#include <algorithm>
#include <atomic>

namespace faceter {
namespace {

constexpr std::size_t block_bytes = 512;

std::atomic<std::int64_t> held_bytes{0}, most_bytes{0};

void count(std::int64_t bytes) {
    const std::int64_t now = held_bytes += bytes;
    if (now > most_bytes) most_bytes = now;
}

/// Memory that is nowhere: a block is the number of its bytes, where others have their address.
class Blocks final : public c10::Allocator {
  public:
    c10::DataPtr allocate(std::size_t asked) override {
        const std::size_t bytes = (asked + block_bytes - 1) / block_bytes * block_bytes;
        count(static_cast<std::int64_t>(bytes));
        return {nullptr, reinterpret_cast<void*>(bytes), &release, c10::Device(c10::kMeta)};
    }
    void copy_data(void*, const void*, std::size_t) const override {}

  private:
    static void release(void* block) { count(-static_cast<std::int64_t>(reinterpret_cast<std::size_t>(block))); }
};

}  // namespace

ShapeDevice::ShapeDevice() {
    static Blocks* const blocks = [] {
        auto* const all = new Blocks;  // tensors may outlive statics
        c10::SetAllocator(c10::kMeta, all);
        return all;
    }();
    static_cast<void>(blocks);
    before_ = held_bytes;
    most_bytes = before_;
}

std::uint64_t ShapeDevice::held() const { return static_cast<std::uint64_t>(std::max<std::int64_t>(0, held_bytes - before_)); }
std::uint64_t ShapeDevice::most() const { return static_cast<std::uint64_t>(std::max<std::int64_t>(0, most_bytes - before_)); }

}  // namespace faceter
