#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "desktop/support/sample_project.h"
#include "figure/figure.h"

namespace faceter::testing {

inline const char* const hostile_task = "<img src=x onerror=1> & =1+1|%1";
constexpr int facets_num_texts = 24;

inline std::vector<double> facet_values(double level, int salt) {
    std::vector<double> values;
    for (int i = 0; i < facets_num_texts; ++i)
        values.push_back(level + 0.004 * ((i * 7 + salt) % 11) + 0.0005 * ((i * (salt + 3)) % 5) * (1 - level));
    return values;
}

/// What the analysis stores of three tasks, one with a hostile name.
inline Json facets_json(double level, const std::string& texts = "wiki") {
    const std::vector<std::string> tasks = {"classification", "retrieval", hostile_task};
    Json pairs = Json::array(), samples = Json::array();
    int salt = 0;
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = a + 1; b < 3; ++b)
            pairs.push_back({{"a", tasks[a]}, {"b", tasks[b]}, {"values", facet_values(level - 0.05 * salt, salt)}, {"mean", 0}}), ++salt;
    for (int i = 0; i < facets_num_texts; ++i)
        samples.push_back(i == 3 ? std::string(hostile_task) : "text number " + std::to_string(i + 1));
    return {{"texts", facets_num_texts},
            {"pairs", pairs},
            {"samples", samples},
            {"fingerprint", texts},
            {"settings", {{"method", "inter_task_similarity"}, {"texts", {{"source", texts}}}}}};
}

inline Figure facets_plane(double level) {
    Figure figure;
    figure.kind = FigureKind::scatter;
    figure.name = "inter_task_projection";
    for (int task = 0; task < 3; ++task) {
        Series series;
        series.name = "task " + std::to_string(task);
        for (int i = 0; i < facets_num_texts; ++i) {
            series.x.push_back(task + 0.4 * std::sin(i + level));
            series.y.push_back(0.8 * i / facets_num_texts + 0.1 * std::cos(3.0 * i + task));
            series.labels.push_back(std::to_string(i + 1));
        }
        figure.series.push_back(series);
    }
    return figure;
}

/// The sample experiment: start; EM, seeds 1 and 2; Mix, seeds 1 and 2. Trained ones analysed two lists of texts.
inline void make_facets_project(const fs::path& project) {
    const Experiment experiment = parse_sample();
    for (std::size_t i = 0; i < experiment.runs().size(); ++i) {
        const RunDirectory run = RunDirectory::create(project, experiment, experiment.runs()[i], false);
        write_attempt(run, 1, 5, "finished");
        const double level = i == 0 ? 0.9 : i < 3 ? 0.80 + 0.01 * static_cast<double>(i) : 0.797 + 0.01 * static_cast<double>(i - 2);
        run.write_result("inter_task_similarity", facets_json(level));
        run.write_figure("inter_task_projection", facets_plane(level).to_json());
        if (i > 0) run.write_result("inter_task_similarity-2", facets_json(level - 0.2, "debian"));
    }
}

}  // namespace faceter::testing
