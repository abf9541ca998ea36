#pragma once
#include <cmath>
#include <fstream>
#include <string>

#include "common/hash.h"
#include "common/strings.h"
#include "store/store.h"
#include "store/store_series.h"

namespace faceter::bench {

// A project as a year of sweeps leaves it. Run folders are real (they are ingested as any other), without waiting for the disk; the points
// of the series go through the store's own writer, since 100 million of them as journal lines would be 25 GB of JSON.

struct ProjectSize {
    int runs = 10'000;
    std::int64_t points = 100'000'000;
    std::int64_t long_series = 1'000'000;  ///< of the first run
};

inline const char* const variants[] = {"EM", "SEM", "IC", "MoTE"};
inline const char* const series[] = {"loss",  "lr",           "grad_norm",   "temperature",    "tokens",
                                     "pairs", "tokens_per_s", "pairs_per_s", "loss/retrieval", "loss/sts"};
inline const std::pair<const char*, const char*> data_sets[] = {{"scifact", "retrieval"},
                                                                {"nfcorpus", "retrieval"},
                                                                {"arguana", "retrieval"},
                                                                {"fiqa", "retrieval"},
                                                                {"banking77", "classification"},
                                                                {"emotion", "classification"},
                                                                {"imdb", "classification"},
                                                                {"twentynewsgroups", "clustering"},
                                                                {"arxiv", "clustering"},
                                                                {"stsbenchmark", "sts"},
                                                                {"sick-r", "sts"},
                                                                {"biosses", "sts"},
                                                                {"askubuntu", "reranking"},
                                                                {"twitterurl", "pair_classification"},
                                                                {"summeval", "summarisation"}};

inline void put(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

inline std::string sealed(Json event) {
    std::string line = event.dump();
    line.pop_back();
    return line + fmt::format(",\"crc\":\"{:08x}\"}}\n", crc32c(line));
}

struct RunPlace {
    std::string id, variant, point;
    int seed, sweep;
};

/// 4 variants x 5 seeds x as many sweep points as it takes; a hundred runs an experiment.
inline RunPlace place_of(int i) {
    const int seed = 1 + i % 5, variant = i / 5 % 4, sweep = i / 20 % 5, experiment = i / 100;
    RunPlace place;
    place.variant = variants[variant];
    place.seed = seed;
    place.sweep = sweep;
    place.point = fmt::format("learning_rate={}e-05", sweep + 1);
    place.id = fmt::format("sweep{:03}-{}-s{}-20260{}{:02}-{:06}-{:04x}", experiment, lowercase_ascii(place.variant), seed,
                           1 + experiment % 9, 1 + i % 28, i, i);
    return place;
}

inline Json settings_of(const RunPlace& place) {
    Json tasks = Json::object();
    for (const char* task : {"retrieval", "classification", "clustering", "sts", "reranking"})
        tasks[task] = {{"type", task},
                       {"instructions", {{"query", std::string(task) + ": "}, {"document", "document: "}}},
                       {"temperature", 0.03},
                       {"weight", 1.0},
                       {"train",
                        {{{"name", "pairs"}, {"source", "file"}, {"path", "/data/pairs.tsv"}, {"max_examples", 100000}, {"format", "tsv"}},
                         {{"name", "more"}, {"source", "folder"}, {"path", "/data/more"}, {"split", "train"}}}}};
    Json training = {
        {"learning_rate", (place.sweep + 1) * 1e-5}, {"batch_size", 512}, {"epochs", 1}, {"warmup_steps", 100}, {"weight_decay", 0.01}};
    for (int i = 0; i < 40; ++i) training["detail_" + std::to_string(i)] = i * 0.5;
    return {{"name", "sweep"},
            {"model", "/models/minilm"},
            {"max_length", 128},
            {"seed", place.seed},
            {"threads", 8},
            {"precision", "bf16"},
            {"tasks", tasks},
            {"variant", {{"name", place.variant}, {"method", "dense"}, {"placement", place.variant == "MoTE" ? "every_other" : "none"}}},
            {"training", training}};
}

inline std::string journal_of(int i) {
    const double start = 1.79e9 + i * 100.0;
    std::string text = sealed({{"seq", 1},
                               {"t", start},
                               {"event", "attempt_started"},
                               {"attempt", 1},
                               {"rank", 0},
                               {"from_checkpoint", ""},
                               {"from_step", 0},
                               {"host", "node17"},
                               {"pid", 4711},
                               {"pid_start", "x"},
                               {"machine", Json::object()}});
    text += sealed({{"seq", 2}, {"t", start + 1}, {"event", "stage_started"}, {"stage", "train"}, {"total_steps", 1000}});
    const char* const ending = i % 50 == 7 ? "failed" : "finished";
    return text + sealed({{"seq", 3}, {"t", start + 90}, {"event", ending}, {"step", 1000}, {"code", 7}, {"message", "out of memory"}});
}

inline void make_run(const fs::path& runs, int i) {
    const RunPlace place = place_of(i);
    const fs::path folder = runs / place.id;
    for (const char* part : {"journal/1", "checkpoints", "results", "figures", "tables", "logs", "control"})
        fs::create_directories(folder / part);
    put(folder / "run.json",
        Json{{"faceter_run", 1},
             {"id", place.id},
             {"experiment", place.id.substr(0, 8)},
             {"variant", place.variant},
             {"method", "dense"},
             {"plugin", "demo"},
             {"point", place.point},
             {"seed", place.seed},
             {"created", fmt::format("2026-0{}-{:02}T10:{:02}:{:02}.000Z", 1 + i / 100 % 9, 1 + i % 28, i / 60 % 60, i % 60)},
             {"parent", ""},
             {"version", "0.1.0"},
             {"smoke", false},
             {"settings", settings_of(place)}}
            .dump(1));
    put(folder / "journal/1/rank-0.jsonl", journal_of(i));
    if (i % 7 == 0)
        put(folder / "user.jsonl",
            i % 21 == 0 ? "{\"tag\":\"paper\"}\n{\"pinned\":true}\n" : "{\"tag\":\"sweep\"}\n{\"note\":\"as before\"}\n");
    for (const auto& [name, type] : data_sets) {
        Json examples = Json::array();
        for (int j = 0; j < 50; ++j) examples.push_back(((i + j) * 7 % 11) / 11.0);
        const double score = 40 + (i * 13 + static_cast<int>(std::string_view(name).size())) % 400 / 10.0;
        put(folder / "results" / (std::string(name) + ".json"), Json{{"name", name},
                                                                     {"task", type},
                                                                     {"task_type", type},
                                                                     {"metric", "main"},
                                                                     {"score", score},
                                                                     {"n", 50},
                                                                     {"metrics", {{"main", score / 100}, {"other", 0.5}}},
                                                                     {"per_example", examples},
                                                                     {"settings", Json::object()}}
                                                                    .dump());
    }
    put(folder / "figures/loss.json", R"({"name":"loss","series":[]})");
    put(folder / "tables/scores.json", R"({"name":"scores","rows":[]})");
}

inline void make_series(SeriesWriter& writer, const std::string& run, std::int64_t points) {
    std::vector<SeriesPoint> values(static_cast<std::size_t>(points));
    std::uint64_t noise = 88172645463325252ULL + static_cast<std::uint64_t>(points);
    for (const char* name : series) {
        for (std::int64_t i = 0; i < points; ++i) {
            noise ^= noise << 13, noise ^= noise >> 7, noise ^= noise << 17;
            const double value = name == std::string_view("pairs")
                                     ? 512
                                     : 4.0 / std::sqrt(static_cast<double>(i + 1)) + static_cast<double>(noise % 1000) / 5000;
            values[static_cast<std::size_t>(i)] = {i + 1, 1.79e9 + static_cast<double>(i) * 0.3, value};
        }
        writer.append(run, 1, 0, name, values);
    }
}

inline void make_project(const fs::path& folder, const ProjectSize& size) {
    fs::create_directories(folder / "runs");
    for (int i = 0; i < size.runs; ++i) make_run(folder / "runs", i);
    Store store(folder);
    for (const std::string& warning : store.ingest_all()) fmt::print(stderr, "{}\n", warning);
    Database database(store.file());
    constexpr std::int64_t num_series = std::size(series);
    const std::int64_t each = size.runs > 1 ? (size.points - size.long_series * num_series) / (num_series * (size.runs - 1)) : 0;
    for (int begin = 0; begin < size.runs; begin += 200)
        database.transaction([&] {
            SeriesWriter writer(database);
            for (int i = begin; i < std::min(size.runs, begin + 200); ++i)
                if (const std::int64_t points = i == 0 ? size.long_series : each; points > 0) make_series(writer, place_of(i).id, points);
        });
}

}  // namespace faceter::bench
