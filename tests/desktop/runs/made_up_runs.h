#pragma once
#include <fmt/format.h>

#include "pages/runs/runs_layout.h"
#include "pages/runs/runs_query.h"

namespace faceter::testing {

/// Runs that exist in memory only: four variants x five seeds x sweep points, a hundred an experiment, scores of six task types on twelve
/// data sets.
inline desktop::RunsDataPtr made_up_runs(int count, std::int64_t revision = 1) {
    const char* const variants[] = {"EM", "SEM", "IC", "MoTE"};
    const char* const types[] = {"classification", "clustering", "reranking", "retrieval", "sts", "summarisation"};
    auto snapshot = std::make_shared<desktop::RunsSnapshot>();
    auto scores = std::make_shared<RunScores>();
    auto settings = std::make_shared<KeySettings>();
    for (const char* type : types)
        for (int set = 0; set < 2; ++set) scores->sets.push_back({fmt::format("{}{}", type, set), type});
    scores->arrange_sets();
    settings->keys = {"training.learning_rate", "variant.placement"};
    for (int i = 0; i < count; ++i) {
        RunRow run;
        run.info.experiment = fmt::format("sweep{:03}", i / 100);
        run.info.variant = variants[i / 5 % 4];
        run.info.seed = static_cast<std::uint64_t>(1 + i % 5);
        run.info.point = fmt::format("learning_rate={}e-05", 1 + i / 20 % 5);
        run.info.id = fmt::format("{}-{}-{:06}", run.info.experiment, run.info.variant, i);
        run.info.method = "dense";
        run.info.created = fmt::format("2026-01-01T{:02}:{:02}:{:02}.000Z", i / 3600 % 24, i / 60 % 60, i % 60);
        run.state.phase = i % 50 == 7 ? RunPhase::failed : RunPhase::done;
        run.state.cause = i % 50 == 7 ? "out of memory at step 3" : "";
        run.state.step = run.state.total_steps = 1000;
        run.state.active_s = 60 + i % 600;
        run.state.started = 1.79e9 + i;
        if (i % 7 == 0) run.tags = {"sweep"};
        run.num_scores = 12;
        run.revision = revision;
        double sum = 0;
        for (std::size_t set = 0; set < scores->sets.size(); ++set) {
            const double score = 40 + (i * 37 + static_cast<int>(set) * 11) % 3000 / 100.0;
            scores->values.push_back(score);
            sum += score;
        }
        run.mean_score = sum / static_cast<double>(scores->sets.size());
        scores->runs.push_back(run.info.id);
        settings->values[run.info.id] = {{"training.learning_rate", fmt::format("{}e-05", 1 + i / 20 % 5)},
                                         {"variant.placement", i % 2 ? "every_other" : "every_block"}};
        snapshot->places.emplace(run.info.id, snapshot->runs.size());
        snapshot->runs.push_back(std::move(run));
    }
    return std::make_shared<const desktop::RunsData>(std::move(snapshot), std::move(scores), std::move(settings),
                                                     std::make_shared<desktop::Places>());
}

/// The same with some runs changed or left out; what `change` touches gets a new revision.
template <typename Change>
desktop::RunsDataPtr changed_runs(const desktop::RunsData& before, const Change& change) {
    auto snapshot = std::make_shared<desktop::RunsSnapshot>();
    for (RunRow run : before.snapshot()->runs) {
        if (!change(run)) continue;
        snapshot->places.emplace(run.info.id, snapshot->runs.size());
        snapshot->runs.push_back(std::move(run));
    }
    return std::make_shared<const desktop::RunsData>(std::move(snapshot), before.scores(), before.settings(), before.places());
}

inline desktop::LayoutOptions plain_options(const desktop::RunsData& data) {
    desktop::LayoutOptions options;
    options.columns = data.defaultColumns();
    return options;
}

}  // namespace faceter::testing
