#include "compare/study_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/strings.h"
#include "record/steps.h"
#include "stats/descriptive.h"
#include "stats/number.h"

namespace faceter {
namespace {

constexpr std::size_t most_points = 20;  // of a loss curve; a batch's loss says little
constexpr std::size_t most_bands = 3;    // more of them hide the curves

std::vector<double> step_losses_of(const RunDirectory& run) {
    std::vector<double> all;
    for (const auto& [place, loss] : steps_of(run, [](const Json& step) { return json_or<double>(step, "loss", not_a_number, "step"); }))
        all.push_back(loss);
    return all;
}

/// Mean loss over each part of a run's steps, the parts as many as a curve has points.
std::vector<double> losses_of(const RunDirectory& run) {
    const std::vector<double> losses = step_losses_of(run);
    const std::size_t points = std::min(most_points, losses.size());
    std::vector<double> curve;
    for (std::size_t i = 0; i < points; ++i) {
        const std::size_t begin = i * losses.size() / points, end = (i + 1) * losses.size() / points;
        curve.push_back(mean(std::span(losses).subspan(begin, end - begin)));
    }
    return curve;
}

/// What a run scored during its training.
struct Scores {
    std::map<std::int64_t, double> by_step;  ///< mean over the data sets
    std::set<std::string> sets;
};

Scores scores_of(const RunDirectory& run) {
    Scores scores;
    for (const int attempt : run.attempts())
        for (JournalReader journal(run.attempt_journal(attempt)); const auto event = journal.next();) {
            if (event->type != "evaluation") continue;
            if (json_or<std::int64_t>(event->fields, "stage", 0, "evaluation") > 0) return {};
            const Json of_sets = json_or<Json>(event->fields, "scores", Json::object(), "evaluation");
            std::vector<double> values;
            for (const auto& [set, score] : of_sets.items()) {
                if (!score.is_number()) continue;
                values.push_back(score.get<double>());
                scores.sets.insert(set);
            }
            if (!values.empty()) scores.by_step[json_or<std::int64_t>(event->fields, "step", 0, "evaluation")] = mean(values);
        }
    return scores;
}

/// The seeds' values at one place of a curve.
void add_point(Series& series, double x, const std::vector<double>& values) {
    series.x.push_back(x);
    series.y.push_back(mean(values));
    series.low.push_back(*std::min_element(values.begin(), values.end()));
    series.high.push_back(*std::max_element(values.begin(), values.end()));
}

/// More bands than a figure shows are left out.
std::string limit_bands(Figure& figure) {
    if (figure.series.size() <= most_bands) return "Lines: mean over seeds; bands: all seeds.";
    for (Series& series : figure.series) series.low = series.high = {};
    return "Lines: mean over seeds.";
}

}  // namespace

Figure loss_curves(const std::vector<TrainedRun>& runs) {
    std::map<std::string, std::vector<std::vector<double>>> curves;
    for (const TrainedRun& run : runs) curves[run.name].push_back(losses_of(RunDirectory(run.record)));
    Figure figure;
    figure.kind = FigureKind::lines;
    figure.name = "learning_curves";
    figure.title = "Loss over the training";
    figure.x.label = "share of the steps";
    figure.x.unit = "%";
    figure.y.label = "loss";
    for (const auto& [name, seeds] : curves) {
        Series series{.name = name};
        const std::size_t points =
            std::min_element(seeds.begin(), seeds.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); })->size();
        for (std::size_t i = 0; i < points; ++i) {
            std::vector<double> values;
            for (const auto& seed : seeds) values.push_back(seed[i]);
            add_point(series, 100.0 * static_cast<double>(i + 1) / static_cast<double>(points), values);
        }
        if (points > 0) figure.series.push_back(std::move(series));
    }
    figure.notes = {limit_bands(figure)};
    return figure;
}

Figure score_curves(const std::vector<TrainedRun>& runs) {
    std::map<std::string, std::vector<Scores>> curves;
    std::set<std::string> sets;
    for (const TrainedRun& run : runs) {
        Scores scores = scores_of(RunDirectory(run.record));
        if (scores.by_step.empty()) continue;
        sets.insert(scores.sets.begin(), scores.sets.end());
        curves[run.name].push_back(std::move(scores));
    }
    Figure figure;
    figure.kind = FigureKind::lines;
    figure.name = "scores_over_steps";
    figure.title = "Scores over the training";
    figure.x.label = "step";
    figure.y.label = "mean score";
    figure.y.unit = "points";
    for (const auto& [name, seeds] : curves) {
        Series series{.name = name};
        for (const auto& [step, ignored] : seeds.front().by_step) {
            std::vector<double> values;
            for (const Scores& seed : seeds)
                if (const auto found = seed.by_step.find(step); found != seed.by_step.end()) values.push_back(found->second);
            if (values.size() == seeds.size()) add_point(series, static_cast<double>(step), values);
        }
        if (!series.x.empty()) figure.series.push_back(std::move(series));
    }
    figure.notes = {fmt::format("{} Data sets: {}.", limit_bands(figure), join(std::vector<std::string>(sets.begin(), sets.end()), ", "))};
    return figure;
}

}  // namespace faceter
