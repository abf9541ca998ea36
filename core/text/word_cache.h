#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace faceter {

/// A word of 1 to 31 bytes as four machine words, so that comparing and hashing need no loop: the text, zero filled; byte 31 its length.
struct WordKey {
    static constexpr std::size_t max_size = 31;
    std::array<std::uint64_t, 4> words;

    std::size_t size() const { return words[3] >> 56; }
    std::string_view text() const { return {reinterpret_cast<const char*>(words.data()), size()}; }
    bool operator==(const WordKey&) const = default;
    /// `at` must have 32 readable bytes. Lower-cases ASCII letters where `fold` is 0x2020202020202020 (0: as it is).
    static WordKey load(const char* at, std::size_t size, std::uint64_t fold);
    std::uint64_t hash() const;
};

/// A number for a tokenizer that no other has in this process.
std::uint64_t next_tokenizer_serial();

/// Word -> ids for one tokenizer and one thread: 2-way sets of one cache line an entry, bounded (2 MiB). A word found again moves to the
/// front of its set, so a word seen once does not push out a frequent one.
class WordCache {
  public:
    static constexpr std::size_t max_ids = 7, num_sets = 1 << 14;
    struct alignas(64) Entry {
        WordKey key;
        std::array<std::int32_t, max_ids> ids;
        std::uint32_t num_ids;
    };

    WordCache() : entries_(new Entry[2 * num_sets]()) {}
    const Entry* find(const WordKey& key, std::uint64_t hash);
    void insert(const WordKey& key, std::uint64_t hash, const std::int32_t* ids, std::size_t num_ids);
    /// This thread's cache for the tokenizer of that serial number; a thread keeps the caches of its last two tokenizers.
    static WordCache& of_thread(std::uint64_t serial);

  private:
    Entry* set_of(std::uint64_t hash) { return entries_.get() + 2 * (hash & (num_sets - 1)); }
    std::unique_ptr<Entry[]> entries_;
};

inline WordKey WordKey::load(const char* at, std::size_t size, std::uint64_t fold) {
    alignas(32) static constexpr auto masks = [] {
        std::array<unsigned char, 64> bytes{};
        for (std::size_t i = 0; i < 32; ++i) bytes[i] = 0xFF;
        return bytes;
    }();
    static constexpr std::uint64_t ones = 0x0101010101010101, high = 0x80 * ones;
    WordKey key;
    std::array<std::uint64_t, 4> mask;
    std::memcpy(key.words.data(), at, 32);
    std::memcpy(mask.data(), masks.data() + 32 - size, 32);
    for (std::size_t i = 0; i < 4; ++i) {
        const std::uint64_t word = key.words[i] & mask[i], low = word & ~high;
        const std::uint64_t capital = (low + (0x80 - 'A') * ones) & ~(low + (0x80 - 'Z' - 1) * ones) & ~word & high;
        key.words[i] = word | (capital >> 2 & fold);
    }
    key.words[3] |= std::uint64_t{size} << 56;
    return key;
}

inline std::uint64_t WordKey::hash() const {
    const auto fold = [](std::uint64_t a, std::uint64_t b) {
        const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    };
    return fold(words[0] ^ 0xA0761D6478BD642Full, words[1] ^ 0xE7037ED1A0B428DBull) ^
           fold(words[2] ^ 0x8EBC6AF09C88C6E3ull, words[3] ^ 0x589965CC75374CC3ull);
}

inline const WordCache::Entry* WordCache::find(const WordKey& key, std::uint64_t hash) {
    Entry* set = set_of(hash);
    if (set[0].key == key) return set;
    if (set[1].key != key) return nullptr;
    std::swap(set[0], set[1]);
    return set;
}

inline void WordCache::insert(const WordKey& key, std::uint64_t hash, const std::int32_t* ids, std::size_t num_ids) {
    Entry* set = set_of(hash);
    Entry& entry = set[0].num_ids == 0 ? set[0] : set[1];
    entry.key = key;
    entry.num_ids = static_cast<std::uint32_t>(num_ids);
    std::memcpy(entry.ids.data(), ids, num_ids * sizeof *ids);
}

}  // namespace faceter
