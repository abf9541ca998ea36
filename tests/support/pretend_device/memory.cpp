#include "memory.h"

#include <execinfo.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "counters.h"
#include "pretend.h"

namespace faceter::testing::pretend {
namespace {

constexpr std::size_t arena_bytes = std::size_t{4} << 30, block_bytes = 512;  // 512: what CUDA's allocator rounds to
constexpr int new_byte = 0xFF;                                                // a NaN in every type of floating point
constexpr int max_frames = 40;

struct Block {
    int device;
    std::size_t offset, bytes, asked;
    const char* made_by;  ///< the operator
};

/// One device: a file of memory in two mappings.
struct Arena {
    char *there = nullptr, *here = nullptr;
    std::map<std::size_t, std::size_t> free;   ///< offset -> bytes
    std::map<std::size_t, const Block*> used;  ///< by offset
};

/// Of programs, which cannot be told otherwise.
std::uint64_t limit_at_start() {
    const char* given = std::getenv("FACETER_PRETEND_BYTES");
    return given ? std::min<std::uint64_t>(std::strtoull(given, nullptr, 10), arena_bytes) : arena_bytes;
}

struct Memory {
    std::mutex mutex;
    std::array<Arena, num_devices> arenas;
    std::uint64_t limit = limit_at_start();
    std::array<c10::CachingDeviceAllocator::DeviceStats, num_devices> stats;
    std::int64_t until_failure = 0;
    struct sigaction before {};
};

Memory& memory() {
    static auto* const all = new Memory;  // tensors may outlive statics
    return *all;
}

void open(Arena& arena) {
    const int file = ::memfd_create("pretend device", MFD_CLOEXEC);
    if (file < 0 || ::ftruncate(file, arena_bytes) != 0) throw std::runtime_error("the pretend device gets no memory file");
    const auto map = [&](int rights) {
        void* at = ::mmap(nullptr, arena_bytes, rights, MAP_SHARED | MAP_NORESERVE, file, 0);
        if (at == MAP_FAILED) throw std::runtime_error("the pretend device's memory cannot be mapped");
        return static_cast<char*>(at);
    };
    arena.there = map(PROT_NONE);
    arena.here = map(PROT_READ | PROT_WRITE);
    ::close(file);
    arena.free = {{0, arena_bytes}};
}

bool inside(const char* base, const void* address) { return address >= base && address < base + arena_bytes; }

Arena* arena_of(const void* there) {
    for (Arena& arena : memory().arenas)
        if (inside(arena.there, there)) return &arena;
    return nullptr;
}

void say(const std::string& text) {
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

/// What is touched without the device's knowing: named, with the place, and then the fault takes its course.
void on_fault(int number, siginfo_t* info, void*) {
    ::sigaction(number, &memory().before, nullptr);
    const Arena* arena = arena_of(info->si_addr);
    if (!arena) return;  // someone else's: it faults again
    const auto offset = static_cast<std::size_t>(static_cast<char*>(info->si_addr) - arena->there);
    std::string what = "memory that no tensor holds";
    if (auto next = arena->used.upper_bound(offset); next != arena->used.begin()) {
        const Block& block = *std::prev(next)->second;
        if (offset < block.offset + block.bytes)
            what = fmt::format("byte {} of a tensor of {} bytes that {} made", offset - block.offset, block.asked, block.made_by);
    }
    say(fmt::format("pretend device: the host touches the device's memory: {}, at\n", what));
    std::array<void*, max_frames> frames{};
    ::backtrace_symbols_fd(frames.data(), ::backtrace(frames.data(), max_frames), STDERR_FILENO);
}

template <typename Stats>
void change(Stats& stats, std::int64_t by) {
    by > 0 ? stats.increase(static_cast<std::size_t>(by)) : stats.decrease(static_cast<std::size_t>(-by));
}

void count(const Block& block, int sign) {
    auto& stats = memory().stats[static_cast<std::size_t>(block.device)];
    change(stats.allocation[0], sign);
    change(stats.allocated_bytes[0], sign * static_cast<std::int64_t>(block.bytes));
    change(stats.requested_bytes[0], sign * static_cast<std::int64_t>(block.asked));
}

[[noreturn]] void out_of_memory(int device, std::size_t bytes) {
    const auto held = memory().stats[static_cast<std::size_t>(device)].allocated_bytes[0].current;
    TORCH_CHECK_WITH(OutOfMemoryError, false, "pretend out of memory. Tried to allocate ", bytes, " bytes. Device ", device, " has ",
                     memory().limit, " bytes of which ", held, " are allocated.");
    std::abort();
}

/// The first hole that is large enough.
Block* take(int device, std::size_t asked) {
    Memory& m = memory();
    Arena& arena = m.arenas[static_cast<std::size_t>(device)];
    const std::size_t bytes = (asked + block_bytes - 1) / block_bytes * block_bytes;
    const auto held = static_cast<std::uint64_t>(m.stats[static_cast<std::size_t>(device)].allocated_bytes[0].current);
    if (m.until_failure > 0 && --m.until_failure == 0) out_of_memory(device, asked);
    if (held + bytes > m.limit) out_of_memory(device, asked);
    for (auto hole = arena.free.begin(); hole != arena.free.end(); ++hole) {
        if (hole->second < bytes) continue;
        const auto [offset, size] = *hole;
        arena.free.erase(hole);
        if (size > bytes) arena.free[offset + bytes] = size - bytes;
        auto* block = new Block{device, offset, bytes, asked, current_operator()};
        arena.used[offset] = block;
        count(*block, 1);
        return block;
    }
    out_of_memory(device, asked);
}

void give_back(void* context) {
    Memory& m = memory();
    const std::scoped_lock lock(m.mutex);
    auto* block = static_cast<Block*>(context);
    Arena& arena = m.arenas[static_cast<std::size_t>(block->device)];
    arena.used.erase(block->offset);
    count(*block, -1);
    auto hole = arena.free.emplace(block->offset, block->bytes).first;
    if (auto next = std::next(hole); next != arena.free.end() && hole->first + hole->second == next->first) {
        hole->second += next->second;
        arena.free.erase(next);
    }
    if (hole != arena.free.begin())
        if (auto before = std::prev(hole); before->first + before->second == hole->first) {
            before->second += hole->second;
            arena.free.erase(hole);
        }
    delete block;
}

struct DeviceMemory final : c10::DeviceAllocator {
    c10::DataPtr allocate(std::size_t bytes) override {
        const int index = current_device();
        const c10::Device where = device(index);
        if (bytes == 0) return {nullptr, where};
        Memory& m = memory();
        const std::scoped_lock lock(m.mutex);
        const Block* block = take(index, bytes);
        const Arena& arena = m.arenas[static_cast<std::size_t>(index)];
        std::memset(arena.here + block->offset, new_byte, block->bytes);
        return {arena.there + block->offset, const_cast<Block*>(block), &give_back, where};
    }
    c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
    void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(alias_of(to), alias_of(from), bytes); }
    bool initialized() override { return true; }
    void emptyCache(c10::MempoolId_t) override {
        if (std::getenv("FACETER_PRETEND_SAYS")) say("pretend device: nothing is kept at hand\n");
    }
    void recordStream(const c10::DataPtr&, c10::Stream) override {}
    c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex index) override { return memory().stats.at(index); }
    void resetAccumulatedStats(c10::DeviceIndex) override {}
    void resetPeakStats(c10::DeviceIndex index) override {
        auto& stats = memory().stats.at(index);
        for (auto* one : {&stats.allocation[0], &stats.allocated_bytes[0], &stats.requested_bytes[0]}) one->reset_peak();
    }
    std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex index) override {
        const auto held = static_cast<std::uint64_t>(memory().stats.at(index).allocated_bytes[0].current);
        return {memory().limit - std::min(memory().limit, held), memory().limit};
    }
};

struct PinnedMemory final : c10::Allocator {
    c10::DataPtr allocate(std::size_t bytes) override {
        if (bytes == 0) return {nullptr, c10::Device(c10::kCPU)};
        void* data = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
        const std::scoped_lock lock(mutex);
        blocks[static_cast<char*>(data)] = bytes;
        return {data, data, [](void* one) { static_cast<PinnedMemory*>(pinned_allocator())->release(one); }, c10::Device(c10::kCPU)};
    }
    void release(void* data) {
        const std::scoped_lock lock(mutex);
        blocks.erase(static_cast<char*>(data));
        std::free(data);
    }
    bool holds(const char* data) {
        const std::scoped_lock lock(mutex);
        const auto next = blocks.upper_bound(const_cast<char*>(data));
        return next != blocks.begin() && data < std::prev(next)->first + std::prev(next)->second;
    }
    void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }
    std::mutex mutex;
    std::map<char*, std::size_t> blocks;
};

}  // namespace

void open_memory() {
    for (Arena& arena : memory().arenas) open(arena);
    static auto* const allocator = new DeviceMemory;
    c10::SetAllocator(c10::kPrivateUse1, allocator);
    std::array<void*, 1> frames{};
    ::backtrace(frames.data(), 1);  // loads what it needs now, not in the handler
    struct sigaction action {};
    action.sa_sigaction = &on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    ::sigaction(SIGSEGV, &action, &memory().before);
}

void* alias_of(const void* there) {
    if (!there) return nullptr;
    const Arena* arena = arena_of(there);
    TORCH_CHECK(arena, "an address that is not the pretend device's");
    return arena->here + (static_cast<const char*>(there) - arena->there);
}

bool is_alias(const void* here) {
    for (const Arena& arena : memory().arenas)
        if (inside(arena.here, here)) return true;
    return false;
}

c10::Allocator* pinned_allocator() {
    static auto* const allocator = new PinnedMemory;
    return allocator;
}
bool is_pinned(const void* data) { return static_cast<PinnedMemory*>(pinned_allocator())->holds(static_cast<const char*>(data)); }

void limit_memory(std::uint64_t bytes) { memory().limit = std::min<std::uint64_t>(bytes, arena_bytes); }
void fail_allocation(std::int64_t n) { memory().until_failure = n; }

namespace {
std::int64_t allocations_before = 0;

std::int64_t allocations_ever() {
    std::int64_t sum = 0;
    for (const auto& stats : memory().stats) sum += stats.allocation[0].allocated;
    return sum;
}
}  // namespace

Counts counts() {
    Counts all = operator_counts();
    all.allocations = allocations_ever() - allocations_before;
    for (const auto& stats : memory().stats) {
        all.held += static_cast<std::uint64_t>(stats.allocated_bytes[0].current);
        all.most += static_cast<std::uint64_t>(stats.allocated_bytes[0].peak);
    }
    return all;
}

void reset_counts() {
    reset_operator_counts();
    allocations_before = allocations_ever();
    for (int index = 0; index < num_devices; ++index)
        static_cast<c10::DeviceAllocator*>(c10::GetAllocator(c10::kPrivateUse1))->resetPeakStats(static_cast<c10::DeviceIndex>(index));
}

}  // namespace faceter::testing::pretend
