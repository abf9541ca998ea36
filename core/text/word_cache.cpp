#include "text/word_cache.h"

#include <atomic>
#include <bit>
#include <utility>

namespace faceter {

static_assert(std::endian::native == std::endian::little, "WordKey keeps a word's length in the last byte of its last machine word");
static_assert(sizeof(WordCache::Entry) == 64);

std::uint64_t next_tokenizer_serial() {
    static std::atomic<std::uint64_t> serial{0};
    return ++serial;
}

WordCache& WordCache::of_thread(std::uint64_t serial) {
    struct Slot {
        std::uint64_t serial = 0;
        std::unique_ptr<WordCache> cache;
    };
    thread_local Slot slots[2];
    if (slots[0].serial == serial) return *slots[0].cache;
    std::swap(slots[0], slots[1]);
    if (slots[0].serial != serial) slots[0] = {serial, std::make_unique<WordCache>()};
    return *slots[0].cache;
}

}  // namespace faceter
