#pragma once
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/json.h"
#include "common/random.h"
#include "data/line_reader.h"

/// What the benchmarks of encoding and training share.
namespace faceter::bench {

struct TextPair {
    std::string query, document;
};

/// Lines {"short", "long"} of a JSON-lines file, `count` of them drawn with a fixed seed.
inline std::vector<TextPair> read_pairs(const std::string& file, std::size_t count) {
    std::vector<TextPair> all;
    LineReader reader(file);
    while (const auto line = reader.next()) {
        const Json record = parse_json(*line, reader.position().text());
        all.push_back({json_at<std::string>(record, "short", file), json_at<std::string>(record, "long", file)});
    }
    RandomStream(3, "bench").shuffle(all);
    if (all.size() < count) throw data_error("{}: {} pairs, {} are needed", file, all.size(), count);
    all.resize(count);
    return all;
}

inline double seconds_of(const auto& body) {
    const auto start = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

}  // namespace faceter::bench
