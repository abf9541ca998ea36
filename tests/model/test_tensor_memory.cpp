#include "model/tensor_memory.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "common/random.h"
#include "support/test.h"

using namespace faceter;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Takes and gives blocks of random sizes, each filled with a byte of its own; false where one was overwritten by another.
bool blocks_stay_whole(BlockArena& arena, std::uint64_t seed, int rounds) {
    struct Block {
        unsigned char* at;
        std::size_t size;
        unsigned char fill;
    };
    const auto whole = [](const Block& b) { return b.at[0] == b.fill && b.at[b.size / 2] == b.fill && b.at[b.size - 1] == b.fill; };
    RandomStream random(seed, "arena");
    std::vector<Block> blocks;
    for (int i = 0; i < rounds; ++i) {
        if (blocks.size() > 12 || (!blocks.empty() && random.below(2) == 0)) {
            const std::size_t which = random.below(blocks.size());
            if (!whole(blocks[which])) return false;
            arena.free(blocks[which].at);
            blocks[which] = blocks.back();
            blocks.pop_back();
            continue;
        }
        const std::size_t size = 1 + random.below(mebibyte);
        auto* at = static_cast<unsigned char*>(arena.allocate(size));
        if (!at || reinterpret_cast<std::uintptr_t>(at) % 4096 != 0) return false;
        blocks.push_back({at, size, static_cast<unsigned char>(random.below(256))});
        std::memset(at, blocks.back().fill, size);
    }
    const bool all = std::all_of(blocks.begin(), blocks.end(), whole);
    for (const Block& block : blocks) arena.free(block.at);
    return all;
}

}  // namespace

class TestTensorMemory : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_hole_is_taken_again_by_the_next_block_of_its_size() {
        BlockArena arena(256 * mebibyte);
        void* first = arena.allocate(40 * mebibyte);
        void* second = arena.allocate(mebibyte);
        const std::size_t high = arena.high_water();
        for (int i = 0; i < 20; ++i) {
            arena.free(first);
            QCOMPARE(arena.allocate(40 * mebibyte - static_cast<std::size_t>(i)), first);
        }
        QCOMPARE(arena.high_water(), high);
        arena.free(second);
    }
    void neighbours_join_whatever_the_order_of_freeing() {
        for (const auto& order : {std::array{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}}) {
            BlockArena arena(3 * mebibyte);
            std::array<void*, 3> blocks{};
            for (void*& block : blocks) block = arena.allocate(mebibyte);
            QVERIFY(!arena.allocate(1));
            for (const int which : order) arena.free(blocks[static_cast<std::size_t>(which)]);
            QVERIFY(arena.allocate(3 * mebibyte) != nullptr);
        }
    }
    void the_smallest_hole_that_is_large_enough_is_taken() {
        BlockArena arena(64 * mebibyte);
        void* large = arena.allocate(8 * mebibyte);
        arena.allocate(mebibyte);
        void* small = arena.allocate(2 * mebibyte);
        arena.allocate(mebibyte);
        arena.free(large);
        arena.free(small);
        QCOMPARE(arena.allocate(2 * mebibyte), small);
        QCOMPARE(arena.allocate(2 * mebibyte), large);
    }
    void steps_of_other_sizes_need_no_more_than_the_largest() {
        BlockArena arena(1024 * mebibyte);
        void* weights = arena.allocate(10 * mebibyte);
        RandomStream random(1, "steps");
        for (int step = 0; step < 200; ++step) {  // as activations: a forward takes, its backward gives in turn
            const std::size_t tokens = 500 + random.below(500);
            std::vector<void*> saved;
            for (int layer = 0; layer < 24; ++layer) saved.push_back(arena.allocate(tokens * (layer % 3 ? 1536 : 6144)));
            for (; !saved.empty(); saved.pop_back()) arena.free(saved.back());
        }
        QVERIFY(arena.high_water() <= 10 * mebibyte + 24 * (std::size_t{64} << 10) + 1000 * (16 * 1536 + 8 * 6144));
        arena.free(weights);
    }
    void blocks_never_overlap() {
        BlockArena arena(64 * mebibyte);
        QVERIFY(blocks_stay_whole(arena, 1, 20'000));
    }
    void threads_may_share_it() {
        BlockArena arena(256 * mebibyte);
        std::array<bool, 4> whole{};
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < whole.size(); ++t) threads.emplace_back([&, t] { whole[t] = blocks_stay_whole(arena, t, 5000); });
        for (std::thread& thread : threads) thread.join();
        for (const bool one : whole) QVERIFY(one);
        QVERIFY(arena.allocate(256 * mebibyte) != nullptr);
    }
    void an_arena_that_the_system_refuses_gives_nothing() {
        BlockArena arena(std::size_t{1} << 60);
        QVERIFY(!arena.valid());
        QVERIFY(!arena.allocate(1));
        QVERIFY(!arena.contains(&arena));
    }
    void tensors_live_in_it_and_are_what_they_were() {
        const at::Tensor before = at::arange(1 << 20, at::kFloat);
        use_frugal_memory();
        at::Tensor large = at::ones({1 << 20}), small = at::ones({10});
        QCOMPARE((large * 2 + before).sum(at::kDouble).item<double>(), 2.0 * (1 << 20) + 0.5 * (double(1 << 20) * ((1 << 20) - 1)));
        large.resize_({2 << 20});
        large = at::Tensor();
        QCOMPARE(small.sum().item<double>(), 10.0);
        at::Allocator* allocator = c10::GetAllocator(c10::DeviceType::CPU);
        for (const std::size_t bytes : {std::size_t{10}, 3 * mebibyte}) {  // as oneDNN asks
            void* bare = allocator->raw_allocate(bytes);
            std::memset(bare, 1, bytes);
            allocator->raw_deallocate(bare);
        }
    }
};

FACETER_TEST(TestTensorMemory)
#include "test_tensor_memory.moc"
