#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/strings.h"
#include "compare/diagnose_record.h"
#include "experiment/builtin_settings.h"
#include "experiment/recipes.h"
#include "record/state.h"
#include "record/steps.h"
#include "settings/core_settings.h"
#include "stats/descriptive.h"
#include "stats/number.h"

namespace faceter {
namespace {

constexpr std::size_t fewest_steps = 20;  // fewer say nothing of a trend
constexpr double floor_share = 0.5, least_temperature = 1e-3, least_fall = 0.01, largest_ratio = 10;

/// The numbers of one task's steps, in their order; "" where batches mix tasks.
struct Curve {
    std::vector<double> loss, gradient, temperature, rate, pairs;
};
using Curves = std::map<std::pair<std::size_t, std::string>, Curve>;  // by stage and task

/// What a stage's recipe says of its losses.
struct Loss {
    bool contrastive = true;  ///< a text is told from others
    bool cosine = true;       ///< a temperature divides cosines
    double accumulate = 1;    ///< batches of a step
    double per_pair = 1;      ///< texts that a query is told from, of each other pair of its batch
    double scale = 0;         ///< CoSENT's, 1 / temperature; 0: the tasks' temperatures count
    /// Differences of cosines that the loss sums in a batch, at most.
    double others(double pairs) const { return scale > 0 ? pairs * (pairs - 1) / 2 : (pairs - 1) * per_pair; }
};
Loss loss_of(const Json& recipe) {
    const Json objective = json_or<Json>(recipe, "objective", Json::object(), "stages");
    const auto method = json_or<std::string>(objective, "method", "infonce", "objective");
    Loss loss;
    loss.accumulate = json_at<double>(training_of(recipe), "accumulate", "training");
    loss.contrastive = method == "infonce" || method == "gist";
    loss.cosine = loss.contrastive || method == "cosent";
    if (method == "infonce") loss.cosine = builtin_settings(ExtensionKind::objective, "infonce", objective).at("similarity") == "cosine";
    if (method == "gist")
        for (const char* more : {"contrast_queries", "contrast_documents"})
            loss.per_pair += json_or<bool>(objective, more, true, "objective") ? 1 : 0;
    if (method == "cosent") loss.scale = json_or<double>(objective, "scale", 20, "objective");
    return loss;
}

/// Which of the experiment's stages each that has trained is part of: a variant trains stages of its own (a gate each) within each of
/// them, which journals older than "part" name by their beginning.
std::map<std::size_t, std::size_t> parts_of(const RunDirectory& run, const std::vector<Json>& recipes) {
    const auto named = [&](const std::string& stage) {
        const auto same = std::find_if(recipes.begin(), recipes.end(), [&](const Json& recipe) {
            const auto name = json_or<std::string>(recipe, "name", "", "stages");
            return stage == name || stage.starts_with(name + ": ");
        });
        return same == recipes.end() ? std::size_t{0} : static_cast<std::size_t>(same - recipes.begin());
    };
    std::map<std::size_t, std::size_t> parts;
    for (const int attempt : run.attempts())
        for (JournalReader journal(run.attempt_journal(attempt)); const auto event = journal.next();) {
            if (event->type != "stage_started") continue;
            const std::size_t fallback = named(json_or<std::string>(event->fields, "stage", "", "stage_started"));
            const auto part = json_or<std::size_t>(event->fields, "part", fallback, "stage_started");
            parts[json_or<std::size_t>(event->fields, "index", 0, "stage_started")] = part < recipes.size() ? part : 0;
        }
    parts.try_emplace(0, 0);
    return parts;
}

/// By stage that has trained.
std::map<std::size_t, Loss> losses_of(const RunDirectory& run) {
    const std::vector<Json> recipes = recipes_of(run.settings());
    std::map<std::size_t, Loss> losses;
    for (const auto& [stage, part] : parts_of(run, recipes)) losses[stage] = loss_of(recipes[part]);
    return losses;
}

/// What a step's line says of its batch; `task` is empty where the batch mixes tasks.
struct Step {
    std::string task;
    double loss, gradient, temperature, rate, pairs;
};

Step step_of(const Json& line) {
    std::vector<std::string> tasks;
    for (const auto& [key, value] : line.items())
        if (key.starts_with("loss/")) tasks.push_back(key.substr(5));
    const std::string task = tasks.size() == 1 ? tasks.front() : "";
    const auto number = [&](const std::string& name) { return json_or<double>(line, name, not_a_number, "step"); };
    return {task,           number(task.empty() ? "loss" : "loss/" + task), number("grad_norm"), number("temperature"), number("lr"),
            number("pairs")};
}

Curves curves_of(const RunDirectory& run) {
    Curves curves;
    for (const auto& [place, step] : steps_of(run, step_of)) {
        Curve& curve = curves[{static_cast<std::size_t>(place.first), step.task}];
        curve.loss.push_back(step.loss);
        curve.gradient.push_back(step.gradient);
        curve.temperature.push_back(step.temperature);
        curve.rate.push_back(step.rate);
        curve.pairs.push_back(step.pairs);
    }
    return curves;
}

std::string subject_of(const Curves& curves, const Curves::key_type& key) {
    const std::string task = key.second.empty() ? "all tasks" : key.second;
    return curves.rbegin()->first.first == 0 ? task : fmt::format("stage {}, {}", key.first + 1, task);
}

std::span<const double> first_quarter(const std::vector<double>& all) {
    return std::span(all).first(std::max<std::size_t>(1, all.size() / 4));
}
std::span<const double> last_quarter(const std::vector<double>& all) {
    return std::span(all).last(std::max<std::size_t>(1, all.size() / 4));
}

/// Of a batch, which one text alone would be told from nothing in.
double pairs_of(const Curve& curve, const Loss& loss) { return std::max(2.0, mean(curve.pairs) / loss.accumulate); }

/// Of guessing: the loss of a batch whose texts all look alike.
double guess_of(const Curve& curve, const Loss& loss) { return std::log1p(loss.others(pairs_of(curve, loss))); }

/// Of the difference between the means of the two quarters: batches differ, and few of them say little.
double noise_of(std::span<const double> first, std::span<const double> last) {
    const auto squared = [](std::span<const double> part) {
        if (part.size() < 2) return 0.0;
        const double middle = mean(part);
        double sum = 0;
        for (const double value : part) sum += (value - middle) * (value - middle);
        return sum / static_cast<double>((part.size() - 1) * part.size());
    };
    return std::sqrt(squared(first) + squared(last));
}

Finding loss_finding(const Curve& curve, const std::string& subject, const Loss& loss) {
    Finding finding{"loss_curve", subject, FindingState::unknown, not_a_number, -least_fall, {}, {}, {}, {}};
    const double first = mean(first_quarter(curve.loss)), last = mean(last_quarter(curve.loss));
    finding.details = {{"first", first},
                       {"last", last},
                       {"steps", curve.loss.size()},
                       {"peak_rate", *std::max_element(curve.rate.begin(), curve.rate.end())}};
    if (curve.loss.size() < fewest_steps) {
        finding.says = fmt::format("{} steps are too few to judge a trend.", curve.loss.size());
        return finding;
    }
    finding.value = (last - first) / std::max(1e-12, std::abs(first));
    const bool solved = loss.contrastive && first < 0.1 * guess_of(curve, loss);  // the start model knows it already
    // Twice the noise may hide a fall.
    const double hidden = 2 * noise_of(first_quarter(curve.loss), last_quarter(curve.loss)) / std::max(1e-12, std::abs(first));
    finding.state = finding.value - hidden >= -least_fall && !solved ? FindingState::alarm : FindingState::fine;
    finding.details["noise"] = hidden / 2;
    finding.says =
        fmt::format("The loss went from {:.4g} (first quarter of the steps) to {:.4g} (last), at a peak learning rate of {:.3g}.", first,
                    last, finding.details.at("peak_rate").get<double>());
    finding.reason = "A loss that has not fallen by one part in a hundred has taught nothing that lasts.";
    finding.advice = finding.value > 0.05 ? "Lower training.learning_rate tenfold: the loss rose."
                                          : "Look at the other alarms first; else raise training.learning_rate threefold, or train longer.";
    return finding;
}

/// A curriculum that plans which examples come when keeps its plan in RUN/curriculum.
bool has_planned_order(const RunDirectory& run) {
    std::error_code none;
    return fs::is_directory(run.folder() / "curriculum", none) && !fs::is_empty(run.folder() / "curriculum", none);
}

/// From easy to difficult, the loss of the last steps is that of the difficult examples.
void excuse_planned_order(Finding& finding) {
    if (finding.state != FindingState::alarm) return;
    finding.state = FindingState::unknown;
    finding.says +=
        " The curriculum planned which examples come when, so that these quarters are of different ones: the gain over the start model "
        "tells.";
}

void be_too_cold(Finding& finding, double temperature) {
    finding.state = FindingState::alarm;
    finding.value = temperature;
    finding.threshold = least_temperature;
    finding.says = fmt::format("At temperature {:.3g} a text that is nearer by a hundredth of cosine counts exp({:.3g}) times as much.",
                               temperature, 0.01 / temperature);
    finding.reason = "From exp(10) on one text of a batch has the whole gradient, and rounding chooses which.";
}

/// N exp(-2 / tau) of N others: cosines lie in [-1, 1], so that no embedding brings the loss below the logarithm of one more than that.
Finding temperature_finding(const Curve& curve, const std::string& subject, const Loss& loss) {
    const double pairs = pairs_of(curve, loss), guess = guess_of(curve, loss);
    const double temperature = loss.scale > 0 ? 1 / loss.scale : mean(curve.temperature);
    const double lowest = std::log1p(loss.others(pairs) * std::exp(-2 / temperature));
    Finding finding{"temperature", subject, FindingState::fine, lowest / guess, floor_share, {}, {}, {}, {}};
    finding.details = {{"temperature", temperature}, {"pairs", pairs}, {"lowest_loss", lowest}, {"loss_of_guessing", guess}};
    finding.state = finding.value > floor_share ? FindingState::alarm : FindingState::fine;
    finding.says = fmt::format("At {} no embedding brings the loss of {:.0f} pairs below {:.3g}; guessing has {:.3g}.",
                               loss.scale > 0 ? fmt::format("scale {:.3g}, which is temperature {:.3g},", loss.scale, temperature)
                                              : fmt::format("temperature {:.3g}", temperature),
                               pairs, lowest, guess);
    finding.reason =
        "Where the best possible loss is more than half of guessing's, all gradients are nearly alike and the model learns little.";
    finding.advice = loss.scale > 0 ? "Set objective.scale between 5 and 100." : "Set tasks.*.temperature between 0.01 and 0.2.";
    if (temperature < least_temperature) be_too_cold(finding, temperature);
    return finding;
}

Finding ratio_finding(const Curves& curves, std::size_t stage) {
    std::map<std::string, double> gradients;
    for (const auto& [key, curve] : curves)
        if (key.first == stage && !key.second.empty()) gradients[key.second] = mean(curve.gradient);
    Finding finding{"gradient_ratio",
                    stage == 0 ? "" : fmt::format("stage {}", stage + 1),
                    FindingState::unknown,
                    not_a_number,
                    largest_ratio,
                    {},
                    {},
                    {},
                    gradients};
    finding.says = "Only one task has batches of its own: there is nothing to compare.";
    if (gradients.size() < 2) return finding;
    const auto by_size = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto smallest = std::min_element(gradients.begin(), gradients.end(), by_size),
               largest = std::max_element(gradients.begin(), gradients.end(), by_size);
    finding.value = largest->second / std::max(1e-12, smallest->second);
    finding.state = finding.value > largest_ratio ? FindingState::alarm : FindingState::fine;
    finding.says = fmt::format("The gradient of {} is {:.3g} on average, that of {} {:.3g}: {:.1f} times.", largest->first, largest->second,
                               smallest->first, smallest->second, finding.value);
    finding.reason = "Clipping and Adam's moments are shared: at ten times the size, one task decides where shared weights go.";
    finding.advice =
        fmt::format("Raise tasks.{}.weight, or give both tasks batches of like difficulty (temperature, negatives).", smallest->first);
    return finding;
}

}  // namespace

std::vector<Finding> diagnose_end(const RunDirectory& run) {
    const RunState state = read_state(run);
    if (state.phase == RunPhase::done) return {};
    Finding finding{"end", "", FindingState::unknown, static_cast<double>(state.step), static_cast<double>(state.total_steps), {}, {},
                    {},    {}};
    if (state.phase == RunPhase::failed || state.phase == RunPhase::dead) finding.state = FindingState::alarm;
    finding.says = fmt::format("The run is {} at step {} of {}{}.", run_phase_name(state.phase), state.step, state.total_steps,
                               state.cause.empty() ? "" : ": " + state.cause);
    finding.reason = "What else is said here is of what was done before that.";
    finding.advice = "Mend what the message names; then 'faceter resume' goes on from the last checkpoint, 'faceter run' begins anew.";
    return {finding};
}

BatchPairs recorded_pairs(const RunDirectory& run) {
    const std::vector<Json> recipes = recipes_of(run.settings());
    const auto parts = parts_of(run, recipes);
    std::map<BatchPairs::key_type, std::vector<double>> all;
    for (const auto& [key, curve] : curves_of(run)) {
        const auto known = parts.find(key.first);
        const std::size_t part = known == parts.end() ? 0 : known->second;
        const double batches = loss_of(recipes[part]).accumulate;
        for (const double pairs : curve.pairs)
            if (std::isfinite(pairs)) all[{part, key.second}].push_back(pairs / batches);
    }
    BatchPairs means;
    for (const auto& [key, pairs] : all) means[key] = mean(pairs);
    return means;
}

std::vector<Finding> diagnose_training(const RunDirectory& run) {
    const Curves curves = curves_of(run);
    if (curves.empty())
        return {{"loss_curve", "", FindingState::unknown, not_a_number, -least_fall, "The record has no training step.", {}, {}, {}}};
    std::map<std::size_t, Loss> losses = losses_of(run);
    const bool planned = has_planned_order(run);
    std::vector<Finding> findings;
    for (const auto& [key, curve] : curves) {
        const std::string subject = subject_of(curves, key);
        const Loss loss = losses.try_emplace(key.first, losses.at(0)).first->second;
        findings.push_back(loss_finding(curve, subject, loss));
        if (planned) excuse_planned_order(findings.back());
        if (loss.cosine) findings.push_back(temperature_finding(curve, subject, loss));
    }
    for (std::size_t stage = 0; stage <= curves.rbegin()->first.first; ++stage) findings.push_back(ratio_finding(curves, stage));
    return findings;
}

}  // namespace faceter
