#include "model/tensor_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace faceter {
namespace {

constexpr std::size_t granule = std::size_t{64} << 10;  // blocks are whole granules, so that nearly equal sizes fit each other's holes

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

/// ATen's allocator of host memory: large blocks from the arena, small ones from the allocator that was there before.
class FrugalAllocator final : public c10::Allocator {
  public:
    FrugalAllocator(BlockArena& arena, c10::Allocator& small) : arena_(arena), small_(small) { self_ = this; }

    c10::DataPtr allocate(std::size_t bytes) override {
        void* block = bytes >= granule ? arena_.allocate(bytes) : nullptr;
        if (!block) return small_.allocate(bytes);  // also where the arena is used up: the other one says how much was asked for
        return {block, block, &release, c10::Device(c10::DeviceType::CPU)};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &release; }
    void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

  private:
    /// Also of small blocks, for those who kept a bare pointer (raw_allocate).
    static void release(void* block) {
        if (self_->arena_.contains(block))
            self_->arena_.free(block);
        else
            self_->small_.raw_deleter()(block);
    }
    static inline FrugalAllocator* self_ = nullptr;
    BlockArena& arena_;
    c10::Allocator& small_;
};

}  // namespace

BlockArena::BlockArena(std::size_t bytes) {
    bytes = round_up(bytes, granule);
    void* range = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) return;
    ::madvise(range, bytes, MADV_HUGEPAGE);  // a tenth of the page faults; no matter where the kernel has none
    base_ = static_cast<std::byte*>(range);
    reserved_ = bytes;
    add_hole(reinterpret_cast<std::uintptr_t>(base_), bytes);
}

BlockArena::~BlockArena() {
    if (base_) ::munmap(base_, reserved_);
}

void BlockArena::add_hole(std::uintptr_t begin, std::size_t size) {
    holes_[begin] = size;
    holes_by_size_.emplace(size, begin);
}

void BlockArena::remove_hole(std::uintptr_t begin, std::size_t size) {
    holes_.erase(begin);
    holes_by_size_.erase({size, begin});
}

void* BlockArena::allocate(std::size_t bytes) {
    const std::size_t size = round_up(std::max<std::size_t>(bytes, 1), granule);
    const std::lock_guard lock(mutex_);
    const auto hole = holes_by_size_.lower_bound({size, 0});  // the smallest that is large enough, the lowest of several
    if (hole == holes_by_size_.end()) return nullptr;
    const auto [hole_size, begin] = *hole;
    remove_hole(begin, hole_size);
    if (hole_size > size) add_hole(begin + size, hole_size - size);
    blocks_[begin] = size;
    high_water_ = std::max(high_water_, begin + size - reinterpret_cast<std::uintptr_t>(base_));
    return reinterpret_cast<void*>(begin);
}

void BlockArena::free(void* block) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(block));
    if (found == blocks_.end()) return;
    std::uintptr_t begin = found->first;
    std::size_t size = found->second;
    blocks_.erase(found);
    if (const auto next = holes_.find(begin + size); next != holes_.end()) {
        const auto [at, behind] = *next;
        remove_hole(at, behind);
        size += behind;
    }
    if (const auto next = holes_.lower_bound(begin); next != holes_.begin()) {
        const auto [at, before] = *std::prev(next);
        if (at + before == begin) {
            remove_hole(at, before);
            begin = at;
            size += before;
        }
    }
    add_hole(begin, size);
}

bool BlockArena::contains(const void* address) const {
    const auto* at = static_cast<const std::byte*>(address);
    return base_ && at >= base_ && at < base_ + reserved_;
}

std::size_t BlockArena::high_water() const {
    const std::lock_guard lock(mutex_);
    return high_water_;
}

void use_frugal_memory() {
    // A step makes some dozens of shapes and the next one others: the default of 1,024 kernels is a gigabyte of code that never runs again.
    ::setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128", /*replace=*/0);
    const auto physical = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    static BlockArena* arena = new BlockArena(physical);  // never destroyed: tensors in static storage may outlive main
    if (!arena->valid()) return;
    static FrugalAllocator* allocator = new FrugalAllocator(*arena, *c10::GetDefaultCPUAllocator());
    c10::SetCPUAllocator(allocator, /*priority=*/100);
}

}  // namespace faceter
