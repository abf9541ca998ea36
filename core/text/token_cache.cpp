#include "text/token_cache.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/atomic_file.h"
#include "common/error.h"
#include "common/hash.h"

namespace faceter {
namespace {

/// File: header, offsets (num_texts + 1 of 8 bytes), ids (num_tokens of 4 bytes).
struct Header {
    std::array<char, 8> magic;
    std::uint64_t num_texts, num_tokens;
    std::array<char, 32> key;  ///< also in the file's name: a renamed file is not taken for another
    std::uint64_t offsets_hash, ids_hash;
    std::uint64_t header_hash;  ///< of all before it
};
constexpr std::array<char, 8> magic = {'F', 'a', 'c', 'T', 'o', 'k', '0', '1'};

std::string_view bytes_of(const auto& values) { return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])}; }

std::uint64_t hash_header(const Header& header) { return hash64({reinterpret_cast<const char*>(&header), offsetof(Header, header_hash)}); }

/// 32 hexadecimal digits that name the content: tokenizer, settings and every text.
std::string cache_key(const Tokenizer& tokenizer, std::span<const std::string_view> texts, std::string_view prefix,
                      std::size_t max_length) {
    std::vector<Hash128> hashes{hash128(tokenizer.fingerprint()), hash128(prefix), hash128(fmt::format("{} {}", max_length, texts.size()))};
    hashes.reserve(texts.size() + hashes.size());
    for (const std::string_view text : texts) hashes.push_back(hash128(text));
    return hash128(bytes_of(hashes)).hex();
}

void write_cache(const fs::path& path, std::string_view key, const TokenBatch& batch) {
    Header header{magic, batch.size(), batch.ids.size(), {}, hash64(bytes_of(batch.offsets)), hash64(bytes_of(batch.ids)), 0};
    std::memcpy(header.key.data(), key.data(), header.key.size());
    header.header_hash = hash_header(header);
    AtomicFile file(path);
    file.write(&header, sizeof header);
    file.write(bytes_of(batch.offsets));
    file.write(bytes_of(batch.ids));
    file.commit();
}

/// Hashes find damage, not intent: whoever can write the file can write its hashes.
bool are_in_range(std::span<const std::uint64_t> offsets, std::span<const std::int32_t> ids, std::size_t vocab_size) {
    return offsets.front() == 0 && offsets.back() == ids.size() && std::is_sorted(offsets.begin(), offsets.end()) &&
           std::all_of(ids.begin(), ids.end(), [&](std::int32_t id) { return id >= 0 && static_cast<std::size_t>(id) < vocab_size; });
}

}  // namespace

/// False where the file is missing or is not exactly what was written: everything is hashed, and looked through for ids and offsets out of
/// range, which the model's tables would be read by.
bool TokenCache::map(const fs::path& path, std::string_view key, std::size_t num_texts, std::size_t vocab_size) {
    if (std::error_code error; !fs::is_regular_file(path, error)) return false;
    const auto file = std::make_shared<MappedFile>(path);
    const auto bytes = file->bytes();
    Header header;
    if (bytes.size() < sizeof header) return false;
    std::memcpy(&header, bytes.data(), sizeof header);
    const std::uint64_t rest = bytes.size() - sizeof header, offsets_bytes = (std::uint64_t{num_texts} + 1) * 8;
    if (header.magic != magic || header.header_hash != hash_header(header) || std::string_view(header.key.data(), 32) != key) return false;
    if (header.num_texts != num_texts || rest < offsets_bytes || rest - offsets_bytes != header.num_tokens * 4) return false;
    const auto* offsets = reinterpret_cast<const std::uint64_t*>(bytes.data() + sizeof header);
    const std::span<const std::uint64_t> offsets_span(offsets, num_texts + 1);
    const std::span<const std::int32_t> ids(reinterpret_cast<const std::int32_t*>(offsets + num_texts + 1), header.num_tokens);
    if (hash64(bytes_of(offsets_span)) != header.offsets_hash || hash64(bytes_of(ids)) != header.ids_hash) return false;
    if (!are_in_range(offsets_span, ids, vocab_size)) return false;
    file_ = file;
    offsets_ = offsets_span;
    ids_ = ids;
    return true;
}

TokenCache TokenCache::open_or_build(const fs::path& cache_folder, const Tokenizer& tokenizer, std::span<const std::string_view> texts,
                                     std::string_view prefix, std::size_t max_length, int threads) {
    TokenCache cache;
    const std::string key = cache_key(tokenizer, texts, prefix, max_length);
    const fs::path path = cache_folder / ("tokens-" + key + ".bin");
    try {
        cache.reused_ = cache.map(path, key, texts.size(), tokenizer.vocab_size());
    } catch (const Error&) {
        // cannot be opened: built anew below
    }
    if (cache.reused_) return cache;
    auto batch = std::make_shared<TokenBatch>(encode_batch(tokenizer, texts, prefix, max_length, threads));
    try {
        make_directories(cache_folder);
        write_cache(path, key, *batch);
        if (cache.map(path, key, texts.size(), tokenizer.vocab_size())) return cache;
    } catch (const Error&) {
        // read-only or full: the ids stay in memory
    }
    cache.memory_ = std::move(batch);
    cache.offsets_ = cache.memory_->offsets;
    cache.ids_ = cache.memory_->ids;
    return cache;
}

}  // namespace faceter
