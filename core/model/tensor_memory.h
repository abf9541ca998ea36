#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace faceter {

/// Large blocks of memory out of one reserved range of addresses: best fit, neighbours join when they are freed. Packed batches have ever
/// new sizes, and malloc's aligned allocation does not take a hole of just the right size again (glibc before 2.38), so that a heap of
/// activations grows to a multiple of what is in use. What was freed stays resident for the next step. Safe to use from several threads.
class BlockArena {
  public:
    /// Reserves `bytes` of address space (nothing is resident yet); `valid()` is false where the system refuses.
    explicit BlockArena(std::size_t bytes);
    ~BlockArena();
    BlockArena(const BlockArena&) = delete;
    BlockArena& operator=(const BlockArena&) = delete;

    bool valid() const { return base_ != nullptr; }
    /// At least `bytes`, aligned to a page; null where the range is used up.
    void* allocate(std::size_t bytes);
    void free(void* block);
    bool contains(const void* address) const;
    /// Bytes from the start of the range to the end of the highest block ever in use: what can be resident.
    std::size_t high_water() const;

  private:
    using Hole = std::pair<std::size_t, std::uintptr_t>;  // size, address
    void add_hole(std::uintptr_t begin, std::size_t size);
    void remove_hole(std::uintptr_t begin, std::size_t size);

    mutable std::mutex mutex_;
    std::byte* base_ = nullptr;
    std::size_t reserved_ = 0, high_water_ = 0;
    std::set<Hole> holes_by_size_;
    std::map<std::uintptr_t, std::size_t> holes_, blocks_;  // address -> size
};

/// Makes this process frugal with the memory of tensors: ATen takes large ones from a BlockArena, and oneDNN keeps few of the kernels that
/// it generates anew for every shape. To be called once, before the first tensor is made; without effect on a system that refuses the
/// address space.
void use_frugal_memory();

}  // namespace faceter
