#pragma once
#include "desktop/support/sample_project.h"

namespace faceter::testing {

struct ComparedShape {
    int sets = 8, seeds = 3;
    std::vector<std::string> variants{"EM", "IC", "MoTE", "TLR MoE"};
};

/// Text that would be markup, a command or a formula wherever it is not escaped.
inline const char* hostile_name() { return "=1+<b>A&\"|\\x"; }

/// A project of finished runs: seeds x variants x data sets, each with scores of 60 examples whose mean is the score (percent).
inline void make_compared_project(const fs::path& project, const ComparedShape& shape = {}) {
    std::string text = sample_experiment();
    std::string seeds, variants;
    for (int seed = 1; seed <= shape.seeds; ++seed) seeds += (seed > 1 ? ", " : "") + std::to_string(seed);
    for (std::size_t i = 0; i < shape.variants.size(); ++i)
        variants += "  " + Json(shape.variants[i]).dump() +
                    ": {method: " + (i == 0 ? "dense" : "mixture, placement: " + std::string(i % 2 ? "every" : "every_other")) + "}\n";
    text.replace(text.find("[1, 2]"), 6, "[" + seeds + "]");
    const std::size_t at = text.find("  EM:"), end = text.find("evaluation:");
    text.replace(at, end - at, variants);
    const Experiment experiment = parse_sample(text);
    const char* types[] = {"retrieval",  "retrieval",  "classification", "classification",
                           "clustering", "clustering", "reranking",      "pair_classification"};
    const char* metrics[] = {"nDCG@10", "nDCG@10", "accuracy", "accuracy", "V-measure", "V-measure", "MAP", "AP"};
    const char* names[] = {"synopsis", "name", "section", "implemented-in", "use", "section clusters", "same source ranked", "same source"};
    for (const ResolvedRun& resolved : experiment.runs()) {
        const RunDirectory run = RunDirectory::create(project, experiment, resolved, false);
        const auto place = std::find(shape.variants.begin(), shape.variants.end(), run.info().variant) - shape.variants.begin();
        write_attempt(run, 1, 20, "finished", 3.0 - 0.2 * static_cast<double>(place));
        const double level = run.info().is_baseline() ? -4.0 : 1.3 * static_cast<double>(place);
        for (int set = 0; set < shape.sets; ++set) {
            const double gain = set == 4 || set == 5 ? 0.1 * level : level;
            Json examples = Json::array();
            double sum = 0;
            for (int j = 0; j < 60; ++j) {
                const double noise =
                    ((j * 37 + set * 11 + static_cast<int>(run.info().seed) * 5 + static_cast<int>(place) * 3) % 23) - 11.0;
                examples.push_back(52 + 4 * set + gain + noise);
                sum += examples.back().get<double>();
            }
            const bool correlation = set % 8 == 7;
            run.write_result(names[set % 8], {{"name", names[set % 8]},
                                              {"task", types[set % 8]},
                                              {"task_type", types[set % 8]},
                                              {"metric", metrics[set % 8]},
                                              {"score", sum / 60},
                                              {"n", 60},
                                              {"metrics", {{"score", sum / 6000}}},
                                              {"per_example", correlation ? Json::array() : examples},
                                              {"settings", Json::object()}});
        }
        run.write_result("_model", {{"total_parameters", 22713216 + 1000000 * place},
                                    {"active_parameters", 22713216},
                                    {"multiply_adds_per_token", 21233664},
                                    {"encode_latency_ms", 9.1 + 0.3 * static_cast<double>(place)},
                                    {"peak_memory_bytes", 1073741824}});
    }
}

}  // namespace faceter::testing
