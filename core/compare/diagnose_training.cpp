#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

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

constexpr std::size_t fewest_steps = 20;    // fewer say nothing of a trend
constexpr std::size_t steps_to_learn = 50;  // a start model that knows nothing of the texts may guess for fewer
constexpr double floor_share = 0.5, least_temperature = 1e-3, least_fall = 0.01, largest_ratio = 10;
constexpr double sure = 2;  // so many times the noise

/// The numbers of one task's steps, in their order; "" where batches mix tasks.
struct Curve {
    std::vector<double> loss, gradient, temperature, rate, pairs, masked;
};
using Curves = std::map<std::pair<std::size_t, std::string>, Curve>;  // by stage and task

/// What a stage's recipe says of its losses.
struct Loss {
    bool contrastive = true;    ///< a text is told from others
    bool cosine = true;         ///< a temperature divides cosines
    double accumulate = 1;      ///< batches of a step
    double per_pair = 1;        ///< texts that a query is told from, of each other pair of its batch
    double scale = 0;           ///< CoSENT's, 1 / temperature; 0: the tasks' temperatures count
    double weight = 1;          ///< of all prefixes together
    std::string hard = "none";  ///< which queries a given negative counts for
    bool mines = false;         ///< how many negatives its examples were given then is not known
    /// Differences of cosines that the loss sums in a batch, at most.
    double others(double pairs) const { return scale > 0 ? pairs * (pairs - 1) / 2 : (pairs - 1) * per_pair; }
};

/// What Matryoshka's sum counts the loss.
double weight_of_prefixes(const Json& objective) {
    const auto weights = json_or<std::vector<double>>(objective, "matryoshka_weights", {}, "objective");
    if (!weights.empty()) return std::accumulate(weights.begin(), weights.end(), 0.0);
    return static_cast<double>(std::max<std::size_t>(1, json_or<std::vector<int>>(objective, "matryoshka_dims", {}, "objective").size()));
}

Loss loss_of(const Json& recipe) {
    const Json objective = json_or<Json>(recipe, "objective", Json::object(), "stages");
    const auto method = json_or<std::string>(objective, "method", "infonce", "objective");
    Loss loss;
    loss.accumulate = json_at<double>(training_of(recipe), "accumulate", "training");
    loss.contrastive = method == "infonce" || method == "gist";
    loss.cosine = loss.contrastive || method == "cosent";
    loss.weight = weight_of_prefixes(objective);
    loss.mines = json_or<Json>(recipe, "mine", Json(), "stages").is_object();
    if (method == "infonce") {
        const Json whole = builtin_settings(ExtensionKind::objective, "infonce", objective);
        loss.cosine = whole.at("similarity") == "cosine";
        loss.hard = whole.at("hard_negatives");
    }
    if (method == "gist") {
        loss.hard = "all";
        for (const char* more : {"contrast_queries", "contrast_documents"})
            loss.per_pair += json_or<bool>(objective, more, true, "objective") ? 1 : 0;
    }
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
    double loss, gradient, temperature, rate, pairs, masked;
};

Step step_of(const Json& line) {
    std::vector<std::string> tasks;
    for (const auto& [key, value] : line.items())
        if (key.starts_with("loss/")) tasks.push_back(key.substr(5));
    const std::string task = tasks.size() == 1 ? tasks.front() : "";
    const auto number = [&](const std::string& name) { return json_or<double>(line, name, not_a_number, "step"); };
    return {task,
            number(task.empty() ? "loss" : "loss/" + task),
            number("grad_norm"),
            number("temperature"),
            number("lr"),
            number("pairs"),
            json_or<double>(line, "masked_negatives", 0, "step")};
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
        curve.masked.push_back(step.masked);
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

/// What a query of a batch is told from, on average: what the mask leaves out is none of it, what `given` negatives an example has is.
double others_of(const Curve& curve, const Loss& loss, double given) {
    const double pairs = pairs_of(curve, loss), counted = loss.hard == "all" ? pairs : loss.hard == "own" ? 1 : 0;
    const double masked = mean(curve.masked) / std::max(1.0, mean(curve.pairs));  // both of a step
    return std::max(0.0, loss.others(pairs) - masked + given * counted);
}

/// Negatives that an example was given, on average, by task; of all tasks under "". Journals say what data a run has read.
std::map<std::string, double> given_negatives(const RunDirectory& run) {
    std::map<std::string, std::pair<double, double>> counts;  // negatives, examples
    for (const int attempt : run.attempts())
        for (JournalReader journal(run.attempt_journal(attempt)); const auto event = journal.next();) {
            if (event->type != "data" || json_or<std::string>(event->fields, "use", "", "data") != "training") continue;
            const Json card = json_or<Json>(event->fields, "card", Json::object(), "data");
            const Json numbers = json_or<Json>(card, "counts", Json::object(), "card");
            for (const std::string& task : {json_or<std::string>(event->fields, "task", "", "data"), std::string()}) {
                counts[task].first += json_or<double>(numbers, "hard_negatives", 0, "counts");
                counts[task].second += json_or<double>(numbers, "examples", 0, "counts");
            }
        }
    std::map<std::string, double> given;
    for (const auto& [task, count] : counts) given[task] = count.first / std::max(1.0, count.second);
    return given;
}

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

/// Whether the last quarter is no better than guessing, which no embedding at all reaches where it is too cold.
bool is_guessing(const Curve& curve, const Loss& loss, double others) {
    if (curve.loss.size() < steps_to_learn || !loss.contrastive || loss.mines || others < 1 || mean(curve.temperature) < least_temperature)
        return false;
    const auto last = last_quarter(curve.loss);
    const double guess = loss.weight * std::log1p(others);
    return mean(last) > guess - std::max(least_fall * guess, sure * noise_of(last, {}));
}

/// `hidden`: what the noise may hide of the fall; of few steps it hides most of any.
FindingState state_of_fall(double value, double hidden, std::size_t steps) {
    const bool told = steps < steps_to_learn || value <= -hidden;
    return value - hidden >= -least_fall ? FindingState::alarm : told ? FindingState::fine : FindingState::unknown;
}

void be_guessing(Finding& finding, double guess) {
    finding.state = FindingState::alarm;
    finding.says += fmt::format(" Guessing has {:.4g}.", guess);
    finding.reason =
        "At the loss of guessing a model tells what belongs to a query from the rest of the batch as well as if all texts were alike.";
    finding.advice =
        "Look at the other alarms first, and whether the pairs belong together (faceter data show); else try training.learning_rate "
        "tenfold "
        "lower, then tenfold higher.";
}

Finding loss_finding(const Curve& curve, const std::string& subject, const Loss& loss, double others) {
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
    const double guess = loss.weight * std::log1p(others);
    const bool solved = loss.contrastive && first < 0.1 * guess;  // the start model knows it already
    const double hidden = sure * noise_of(first_quarter(curve.loss), last_quarter(curve.loss)) / std::max(1e-12, std::abs(first));
    finding.state = solved ? FindingState::fine : state_of_fall(finding.value, hidden, curve.loss.size());
    finding.details["noise"] = hidden / sure;
    if (loss.contrastive) finding.details["loss_of_guessing"] = guess;
    finding.says =
        fmt::format("The loss went from {:.4g} (first quarter of the steps) to {:.4g} (last), at a peak learning rate of {:.3g}.", first,
                    last, finding.details.at("peak_rate").get<double>());
    if (finding.state == FindingState::unknown) finding.says += " Batches differ more than that: whether it fell cannot be told.";
    finding.reason = "A loss that has not fallen by one part in a hundred has taught nothing that lasts.";
    finding.advice = "Look at the other alarms first; else raise training.learning_rate threefold, or train longer.";
    if (is_guessing(curve, loss, others)) be_guessing(finding, guess);
    if (finding.value > 0.05) finding.advice = "Lower training.learning_rate tenfold: the loss rose.";
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
Finding temperature_finding(const Curve& curve, const std::string& subject, const Loss& loss, double others) {
    const double pairs = pairs_of(curve, loss), guess = std::log1p(others);
    const double temperature = loss.scale > 0 ? 1 / loss.scale : mean(curve.temperature);
    const double lowest = std::log1p(others * std::exp(-2 / temperature));
    Finding finding{"temperature", subject, FindingState::fine, lowest / std::max(1e-12, guess), floor_share, {}, {}, {}, {}};
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
    const std::map<std::string, double> given = given_negatives(run);
    const bool planned = has_planned_order(run);
    std::vector<Finding> findings;
    for (const auto& [key, curve] : curves) {
        const std::string subject = subject_of(curves, key);
        const Loss loss = losses.try_emplace(key.first, losses.at(0)).first->second;
        const auto own = given.find(key.second);
        const double others = others_of(curve, loss, own == given.end() ? 0 : own->second);
        findings.push_back(loss_finding(curve, subject, loss, others));
        if (planned) excuse_planned_order(findings.back());
        if (loss.cosine) findings.push_back(temperature_finding(curve, subject, loss, others));
    }
    for (std::size_t stage = 0; stage <= curves.rbegin()->first.first; ++stage) findings.push_back(ratio_finding(curves, stage));
    return findings;
}

}  // namespace faceter
