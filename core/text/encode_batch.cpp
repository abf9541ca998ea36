#include "text/encode_batch.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace faceter {
namespace {

constexpr std::size_t chunk_size = 256;  // texts; small enough to balance long and short ones, large enough to be worth a claim

/// One chunk's ids and the length of each of its texts.
struct Chunk {
    std::vector<std::int32_t> ids;
    std::vector<std::size_t> ends;
};

Chunk encode_chunk(const Tokenizer& tokenizer, std::span<const std::string_view> texts, std::string_view prefix, std::size_t max_length) {
    Chunk chunk;
    std::string prefixed(prefix);
    for (const std::string_view text : texts) {
        if (prefix.empty()) {
            tokenizer.encode(text, max_length, chunk.ids);
        } else {
            prefixed.resize(prefix.size());
            prefixed += text;
            tokenizer.encode(prefixed, max_length, chunk.ids);
        }
        chunk.ends.push_back(chunk.ids.size());
    }
    return chunk;
}

/// Calls work(i) for every i below count, on several threads; the first exception is thrown again here.
template <typename Work>
void run_parallel(std::size_t count, std::size_t num_threads, const Work& work) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr error;
    std::mutex error_mutex;
    const auto loop = [&] {
        try {
            for (std::size_t i; (i = next.fetch_add(1)) < count;) work(i);
        } catch (...) {
            next = count;
            const std::lock_guard lock(error_mutex);
            if (!error) error = std::current_exception();
        }
    };
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < num_threads; ++i) threads.emplace_back(loop);
    loop();
    threads.clear();  // joins
    if (error) std::rethrow_exception(error);
}

TokenBatch join_chunks(std::vector<Chunk>& chunks, std::size_t num_texts) {
    TokenBatch batch;
    std::size_t total = 0;
    for (const Chunk& chunk : chunks) total += chunk.ids.size();
    batch.ids.reserve(total);
    batch.offsets.reserve(num_texts + 1);
    for (Chunk& chunk : chunks) {
        const std::uint64_t start = batch.ids.size();
        for (const std::size_t end : chunk.ends) batch.offsets.push_back(start + end);
        batch.ids.insert(batch.ids.end(), chunk.ids.begin(), chunk.ids.end());
        chunk = {};
    }
    return batch;
}

}  // namespace

TokenBatch encode_batch(const Tokenizer& tokenizer, std::span<const std::string_view> texts, std::string_view prefix,
                        std::size_t max_length, int threads) {
    const std::size_t num_chunks = (texts.size() + chunk_size - 1) / chunk_size;
    const std::size_t wanted = threads > 0 ? std::size_t(threads) : std::max(1u, std::thread::hardware_concurrency());
    std::vector<Chunk> chunks(num_chunks);
    run_parallel(num_chunks, std::min(wanted, std::max<std::size_t>(num_chunks, 1)), [&](std::size_t i) {
        const std::size_t begin = i * chunk_size;
        chunks[i] = encode_chunk(tokenizer, texts.subspan(begin, std::min(chunk_size, texts.size() - begin)), prefix, max_length);
    });
    return join_chunks(chunks, texts.size());
}

}  // namespace faceter
