// usage: bench_learn_encode MODEL TEXTS.jsonl [COUNT] [ROUNDS] [float32|bf16|int8|unprepared] [TOKENS]     (TEXTS: {"short", "long"} a
// line) Texts and tokens a second of embedding mixed-length texts, and the latency of one short text. Peer: peer_encode.py with the same
// file. "unprepared": weights are laid out for each product, as in a run that trains. TOKENS: of a forward pass; 0: as embed chooses.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>

#include "bench_texts.h"
#include "eval/embedder.h"
#include "model/compute.h"
#include "model/tensor_memory.h"
#include "text/encode_batch.h"

using namespace faceter;

namespace {

double cpu_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) + static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        fmt::print(stderr, "usage: bench_learn_encode MODEL TEXTS.jsonl [COUNT] [ROUNDS] [float32|bf16|int8|unprepared] [TOKENS]\n");
        return 2;
    }
    use_frugal_memory();  // as the worker does
    const std::size_t count = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 2000;
    const int rounds = argc > 4 ? std::atoi(argv[4]) : 3;
    const auto model = EmbeddingModel::open(ModelFolder::open(resolve_model(argv[1])));
    const std::string compute = argc > 5 ? argv[5] : "float32";
    if (compute != "unprepared") prepare_products(*model, compute_from_name(compute), true);
    EmbedOptions options;
    options.tokens_per_batch = argc > 6 ? std::atoi(argv[6]) : 0;
    const auto pairs = bench::read_pairs(argv[2], count);
    std::vector<std::string_view> texts;
    for (const auto& pair : pairs) texts.push_back(pair.document);
    const auto tokens = static_cast<double>(encode_batch(*model->tokenizer, texts, "", model->max_length, 0).ids.size());
    embed_texts(*model, std::span(texts).first(std::min<std::size_t>(64, texts.size())), {});
    std::vector<double> seconds, latency;
    const double before = cpu_seconds();
    for (int round = 0; round < rounds; ++round) seconds.push_back(bench::seconds_of([&] { embed_texts(*model, texts, {}, options); }));
    const double cpu = (cpu_seconds() - before) / std::max(1, rounds);
    const std::string_view query = "How do I reset my password?";
    for (int i = 0; i < 50; ++i) latency.push_back(bench::seconds_of([&] { embed_texts(*model, {&query, 1}, {}); }));
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const double middle = bench::median(seconds);
    fmt::print(
        "encode {}: {} texts, {:.0f} tokens: {:.1f} texts/s, {:.0f} tokens/s (median of {}; {:.2f} to {:.2f} s); {:.2f} CPU s a round; one "
        "short text {:.2f} ms; peak {} MiB\n",
        compute, count, tokens, static_cast<double>(count) / middle, tokens / middle, rounds,
        *std::min_element(seconds.begin(), seconds.end()), *std::max_element(seconds.begin(), seconds.end()), cpu,
        1000 * bench::median(latency), usage.ru_maxrss / 1024);
}
