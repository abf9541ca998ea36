#include <algorithm>
#include <chrono>
#include <cstdio>

#include "common/error.h"
#include "common/file.h"
#include "common/json_document.h"
#include "common/strings.h"
#include "text/encode_batch.h"

using namespace faceter;

namespace {

/// Member "long" or "text" of every line, or the line itself where it is a JSON string.
std::vector<std::string> read_texts(const fs::path& path) {
    std::vector<std::string> texts;
    const std::string content = read_file(path);
    for (const std::string_view line : split(content, '\n')) {
        if (line.empty()) continue;
        with_json_document(line, path.string(), [&](simdjson::dom::element root) {
            std::string_view text;
            if (!root.get(text) || (root.is_object() && (!root["long"].get(text) || !root["text"].get(text)))) texts.emplace_back(text);
        });
    }
    return texts;
}

template <typename Work>
double seconds(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Input {
    std::vector<std::string_view> texts;
    double megabytes = 0;
};

void report(const char* what, const Input& input, std::size_t num_tokens, std::vector<double> times) {
    std::sort(times.begin(), times.end());
    const auto speed = [&](double time) { return input.megabytes / time; };
    std::printf("%-24s %8.1f MB/s (%.1f to %.1f), %.0f texts/s, %zu tokens\n", what, speed(times[times.size() / 2]), speed(times.back()),
                speed(times[0]), double(input.texts.size()) / times[times.size() / 2], num_tokens);
}

void measure(const Tokenizer& tokenizer, const Input& input, std::size_t max_length, int rounds) {
    std::vector<double> one, batch;
    std::vector<std::int32_t> ids;
    std::size_t num_tokens = 0;
    for (int round = 0; round < rounds; ++round) {
        num_tokens = 0;
        one.push_back(seconds([&] {
            for (const std::string_view text : input.texts) {
                ids.clear();
                tokenizer.encode(text, max_length, ids);
                num_tokens += ids.size();
            }
        }));
        batch.push_back(seconds([&] { encode_batch(tokenizer, input.texts, "", max_length); }));
    }
    report("one thread", input, num_tokens, one);
    report("encode_batch, all cores", input, num_tokens, batch);
}

int run(int argc, char** argv) {
    if (argc < 3) throw usage_error("usage: {} MODEL_FOLDER TEXTS.jsonl [MAX_LENGTH (0: none)] [ROUNDS]", argv[0]);
    const auto number = [&](int i, std::int64_t fallback) { return argc > i ? parse_int(argv[i]).value_or(fallback) : fallback; };
    const std::vector<std::string> texts = read_texts(argv[2]);
    Input input{{texts.begin(), texts.end()}};
    for (const std::string& text : texts) input.megabytes += double(text.size()) / 1e6;
    std::unique_ptr<Tokenizer> tokenizer;
    const double loading = seconds([&] { tokenizer = load_tokenizer(argv[1]); });
    std::printf("%zu texts, %.1f MB; tokenizer loaded in %.1f ms\n", texts.size(), input.megabytes, loading * 1e3);
    measure(*tokenizer, input, std::size_t(number(3, 0)), int(number(4, 5)));
    return 0;
}

}  // namespace

/// Prints the speed of the tokeniser. peer_tokenize.py runs it in turn with Hugging Face's.
int main(int argc, char** argv) { return run_guarded("bench_tokenize", run, argc, argv); }
