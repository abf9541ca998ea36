#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "checkpoint/safetensors.h"
#include "checkpoint/weights.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/random.h"
#include "conform/broken.h"
#include "conform/cell.h"
#include "experiment/experiment.h"
#include "record/journal.h"

// What holds of training: the same bits again and after a kill; the same steps in two processes, in chunks, in bf16.

namespace faceter::conform {
namespace {

/// Every file of the final model by its path, hashed.
std::map<std::string, std::string> model_files(const RunDirectory& run) {
    std::map<std::string, std::string> files;
    const fs::path model = run.folder() / "model";
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(model))
        if (entry.is_regular_file()) files[fs::relative(entry.path(), model).string()] = sha256_file(entry.path());
    return files;
}

void require_same_files(const RunDirectory& a, const RunDirectory& b, const std::string& command) {
    const auto first = model_files(a), second = model_files(b);
    for (const auto& [name, hash] : first)
        if (const auto found = second.find(name); found == second.end() || found->second != hash)
            throw Broken{fmt::format("model/{} of {} differs from that of {}", name, b.info().id, a.info().id), command};
    if (first.empty() || first.size() != second.size()) throw Broken{"the models hold different files, or none", command};
}

/// The numbers of a file of weights as one vector.
std::vector<float> values_of(const fs::path& path) {
    const Weights weights(std::vector<fs::path>{path});
    std::vector<float> values;
    for (const std::string& name : weights.names()) {
        const TensorInfo& tensor = weights.at(name);
        if (!is_float(tensor.dtype)) continue;
        const std::size_t before = values.size();
        values.resize(before + static_cast<std::size_t>(tensor.numel()));
        weights.read_float(name, std::span(values).subspan(before));
    }
    return values;
}

/// The largest relative difference (of norms) of a file of weights of two runs; infinite where one is no number or none is there.
double weights_apart(const RunDirectory& a, const RunDirectory& b) {
    double largest = 0;
    std::size_t compared = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(a.folder() / "model")) {
        if (!is_weights(entry.path())) continue;
        const auto first = values_of(entry.path()),
                   second = values_of(b.folder() / "model" / fs::relative(entry.path(), a.folder() / "model"));
        if (first.size() != second.size()) return std::numeric_limits<double>::infinity();
        double apart = 0, norm = 0;
        for (std::size_t i = 0; i < first.size(); ++i) {
            apart += std::pow(static_cast<double>(first[i]) - second[i], 2);
            norm += std::pow(static_cast<double>(first[i]), 2);
        }
        compared += first.size();
        const double relative = std::sqrt(apart / std::max(norm, 1e-30));
        largest = std::isnan(relative) ? std::numeric_limits<double>::infinity() : std::max(largest, relative);
    }
    return compared > 0 ? largest : std::numeric_limits<double>::infinity();
}

std::vector<double> losses(const RunDirectory& run) {
    std::vector<double> all;
    for (JournalReader journal(run.attempt_journal(1)); const auto event = journal.next();)
        if (event->type == "step") all.push_back(event->fields.at("loss").get<double>());
    return all;
}

/// Of each step relative to the first run's; one infinite where they made different numbers of steps.
std::vector<double> losses_apart(const RunDirectory& a, const RunDirectory& b) {
    const auto first = losses(a), second = losses(b);
    if (first.empty() || first.size() != second.size()) return {std::numeric_limits<double>::infinity()};
    std::vector<double> apart;
    for (std::size_t i = 0; i < first.size(); ++i) apart.push_back(std::abs(first[i] - second[i]) / std::max(std::abs(first[i]), 1e-3));
    return apart;
}

/// Where the line of each step of a journal ends, in bytes.
std::vector<std::uint64_t> ends_of_steps(const fs::path& journal) {
    const std::string text = read_file(journal);
    std::vector<std::uint64_t> ends;
    for (std::size_t start = 0, end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
        if (std::string_view(text).substr(start, end - start).find(R"("event":"step")") != std::string_view::npos) ends.push_back(end + 1);
    return ends;
}

struct Steps {
    std::size_t made = 0, kept = 0;  ///< by an attempt; up to its last checkpoint
};

Steps steps_of(const fs::path& attempt_journal) {
    Steps steps;
    for (JournalReader journal(attempt_journal); const auto event = journal.next();) {
        if (event->type == "step") ++steps.made;
        if (event->type == "checkpoint") steps.kept = steps.made;
    }
    return steps;
}

double largest_of(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }

// Sums in another order differ in float32's last bits, and AdamW's first steps have the size of the learning rate whatever the gradient's:
// an element whose gradient is all rounding (a key's bias) moves by chance, which weights show and losses do not.
constexpr double same_loss = 1e-4, same_weights = 2e-3;

// In bf16 operands have 8 bits of mantissa: a relative rounding of 2^-9 each. That of an embedding alone moves a cosine by as much, which
// the temperature divides. What the blocks add depends on their depth and weights and is measured: weights are moved by a whole rounding
// each, and what they are multiplied with is rounded as well, which is the same again; twice that, for a few draws.
constexpr double half_loss = 1.0 / 512 / 0.03, half_noise_factor = 4;
constexpr int noise_draws = 3;

constexpr int most_kills = 5;  // a run of a few steps may be over before it is killed

}  // namespace

/// How far the loss of each step of the first run moves where it starts from weights that a rounding has moved.
std::vector<double> Cell::loss_noise(Rounding rounding, int draw) {
    const std::string name = fmt::format("moved-{}{}", rounding == Rounding::float32 ? "" : "half-", draw);
    const fs::path start = folder_ / (name + "-start");
    copy_moved(start_.folder, start, rounding, static_cast<std::uint64_t>(draw));
    return losses_apart(*first_, train(name, {{"model", start.string()}}, {}));
}

/// Of each step: where an objective has a kink, a token is routed by a hair's breadth or weights are large, steps part.
std::vector<double> Cell::bounds_of(const Tolerance& tolerance, std::size_t steps) {
    std::vector<std::vector<double>> noise;
    for (int draw = 1; draw <= noise_draws; ++draw) {
        noise.push_back(loss_noise(tolerance.rounding, draw));
        if (noise.back().size() != steps) throw Broken{"a training from moved weights made other steps", ""};
    }
    return loss_bounds(tolerance.losses, tolerance.noise_factor, noise);
}

void Cell::require_alike(const RunDirectory& other, const Tolerance& tolerance) {
    const std::vector<double> apart = losses_apart(*first_, other);
    const double weights = weights_apart(*first_, other);
    const std::string command = fmt::format("{} against {}", other.folder().string(), first_->folder().string());
    if (!(weights <= tolerance.weights))
        throw Broken{fmt::format("weights are apart by {:.2g} (bound {:.2g})", weights, tolerance.weights), command};
    if (std::isinf(apart.front())) throw Broken{"made other steps", command};
    if (largest_of(apart) <= tolerance.losses) return;
    const std::vector<double> bounds = bounds_of(tolerance, apart.size());
    for (std::size_t step = 0; step < apart.size(); ++step)
        if (!(apart[step] <= bounds[step]))
            throw Broken{fmt::format("losses of step {} are apart by {:.2g} (bound {:.2g})", step + 1, apart[step], bounds[step]), command};
}

void Cell::rerun() {
    const Outcome outcome = laboratory_.programs.faceter({"rerun", first_->info().id, "--project", project_.string(), "--json"});
    if (outcome.code != 0) throw Broken{outcome.said(), outcome.command};
    const RunDirectory again(fs::path(parse_json(outcome.out, "faceter rerun").at("runs").at(0).at("folder").get<std::string>()));
    require_same_files(*first_, again, outcome.command);
}

/// Killed at a step that is drawn for the cell.
void Cell::resume() {
    const Experiment experiment = Experiment::load(write_experiment("killed"), laboratory_.catalogue);
    const std::vector<std::uint64_t> ends = ends_of_steps(first_->attempt_journal(1));
    if (ends.empty()) throw Broken{"made no step that it could be killed at", first_->folder().string()};
    RandomStream random(3, result_.name());
    for (int trial = 0; trial < most_kills; ++trial) {
        const RunDirectory run = RunDirectory::create(project_, experiment, experiment.runs().front(), false);
        const std::uint64_t bytes = ends[random.below(ends.size())];
        if (laboratory_.programs.kill_at(run, bytes)) return go_on(run, bytes);
        if (!fs::exists(run.folder() / "model")) throw Broken{"the worker failed; see its log", run.attempt_log(1).string()};
    }
    throw Broken{fmt::format("was over {} times before it could be killed: nothing was resumed", most_kills), ""};
}

/// A killed run goes on behind its last checkpoint, to the same bits.
void Cell::go_on(const RunDirectory& killed, std::uint64_t bytes) const {
    const Outcome outcome = laboratory_.programs.faceter({"resume", killed.info().id, "--project", project_.string()});
    const std::string command = outcome.command + fmt::format("  (killed when its journal had {} bytes)", bytes);
    if (outcome.code != 0) throw Broken{outcome.said(), command};
    const std::size_t whole = steps_of(first_->attempt_journal(1)).made, kept = steps_of(killed.attempt_journal(1)).kept,
                      again = steps_of(killed.attempt_journal(killed.attempts().back())).made;
    if (again + kept > whole)
        throw Broken{fmt::format("made {} of {} steps again, although {} were in a checkpoint", again + kept - whole, whole, kept),
                     command};
    require_same_files(*first_, killed, command);
}

/// The same steps computed in parts. What a whole batch defines may be refused in parts, by `faceter check`: that is said, and no finding.
void Cell::in_parts(const std::string& law, const Json& changes, const std::vector<std::string>& options) {
    std::vector<std::string> check = {"check", write_experiment(law, changes).string()};
    check.insert(check.end(), options.begin(), options.end());
    if (const Outcome outcome = laboratory_.programs.faceter(check); outcome.code == 3)
        result_.limits[law] = outcome.err;
    else
        require_alike(train(law, changes, options), {same_loss, same_weights, Rounding::float32, noise_factor});
}

void Cell::ranks() { in_parts("ranks", Json::object(), {"--devices", "2"}); }

void Cell::cache() {
    Json in_chunks = objective();
    in_chunks["gradient_cache_chunk"] = 3;
    in_parts("cache", {{"objective", in_chunks}}, {});
}

void Cell::half_precision() {
    constexpr double any_weights = std::numeric_limits<double>::max();
    const RunDirectory half = train("bf16", {{"precision", "bf16"}}, {});
    require_alike(half, {half_loss, any_weights, Rounding::bf16, half_noise_factor});
    if (losses(half) == losses(*first_))
        result_.limits["bf16"] = "precision: bf16 changes no bit of a loss: this processor has no instructions for it, or nothing reads it";
}

}  // namespace faceter::conform
