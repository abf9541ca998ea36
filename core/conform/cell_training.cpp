#include <fmt/format.h>

#include <cmath>

#include "checkpoint/safetensors.h"
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
    if (first.size() != second.size()) throw Broken{"the models hold different files", command};
}

/// The float32 tensors of a file of weights as one vector.
std::vector<float> values_of(const fs::path& path) {
    const SafetensorsFile file(path);
    std::vector<float> values;
    for (const TensorInfo& tensor : file.tensors()) {
        if (tensor.dtype != DType::f32) continue;
        values.resize(values.size() + static_cast<std::size_t>(tensor.numel()));
        file.read(tensor, values.data() + values.size() - static_cast<std::size_t>(tensor.numel()));
    }
    return values;
}

/// The largest relative difference (of norms) of a file of weights of two runs.
double weights_apart(const RunDirectory& a, const RunDirectory& b) {
    double largest = 0;
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
        largest = std::max(largest, std::sqrt(apart / std::max(norm, 1e-30)));
    }
    return largest;
}

std::vector<double> losses(const RunDirectory& run) {
    std::vector<double> all;
    for (const JournalEvent& event : read_journal(run.attempt_journal(1)).events)
        if (event.type == "step") all.push_back(event.fields.at("loss").get<double>());
    return all;
}

/// Each step's loss relative to the first run's; infinite where they made different numbers of steps.
double losses_apart(const RunDirectory& a, const RunDirectory& b) {
    const auto first = losses(a), second = losses(b);
    if (first.empty() || first.size() != second.size()) return std::numeric_limits<double>::infinity();
    double largest = 0;
    for (std::size_t i = 0; i < first.size(); ++i)
        largest = std::max(largest, std::abs(first[i] - second[i]) / std::max(std::abs(first[i]), 1e-3));
    return largest;
}

void require_alike(const RunDirectory& a, const RunDirectory& b, double loss_bound, double weight_bound) {
    const double loss = losses_apart(a, b), weights = weights_apart(a, b);
    if (loss <= loss_bound && weights <= weight_bound) return;
    throw Broken{
        fmt::format("losses are apart by {:.2g} (bound {:.2g}), weights by {:.2g} (bound {:.2g})", loss, loss_bound, weights, weight_bound),
        fmt::format("{} against {}", b.folder().string(), a.folder().string())};
}

// Sums in another order differ in float32's last bits, and AdamW's first steps have the size of the learning rate whatever the gradient's:
// an element whose gradient is all rounding (a key's bias) moves by chance, which weights show and losses do not.
constexpr double same_loss = 1e-4, same_weights = 2e-3;

}  // namespace

void Cell::rerun() {
    const Outcome outcome = laboratory_.programs.faceter({"rerun", first_->info().id, "--project", project_.string(), "--json"});
    if (outcome.code != 0) throw Broken{outcome.said(), outcome.command};
    const RunDirectory again(fs::path(parse_json(outcome.out, "faceter rerun").at("runs").at(0).at("folder").get<std::string>()));
    require_same_files(*first_, again, outcome.command);
}

/// Killed when its journal has a share of what the whole run's has, drawn for the cell.
void Cell::resume() {
    const Experiment experiment = Experiment::load(write_experiment("killed"), laboratory_.catalogue);
    const RunDirectory run = RunDirectory::create(project_, experiment, experiment.runs().front(), false);
    RandomStream random(3, result_.name());
    const auto whole = static_cast<double>(fs::file_size(first_->attempt_journal(1)));
    const auto bytes = static_cast<std::uint64_t>(whole * (0.02 + 0.9 * random.uniform()));
    if (!laboratory_.programs.kill_at(run, bytes)) {
        if (!fs::exists(run.folder() / "model")) throw Broken{"the worker failed; see its log", run.attempt_log(1).string()};
        return require_same_files(*first_, run, run.folder().string());
    }
    const Outcome outcome = laboratory_.programs.faceter({"resume", run.info().id, "--project", project_.string()});
    if (outcome.code != 0) throw Broken{outcome.said(), outcome.command};
    require_same_files(*first_, run, outcome.command + fmt::format("  (killed when its journal had {} bytes)", bytes));
}

/// The same steps computed in parts. What a whole batch defines may be refused in parts, by `faceter check`: that is said, and no finding.
void Cell::in_parts(const std::string& law, const Json& changes, const std::vector<std::string>& options) {
    std::vector<std::string> check = {"check", write_experiment(law, changes).string()};
    check.insert(check.end(), options.begin(), options.end());
    if (const Outcome outcome = laboratory_.programs.faceter(check); outcome.code == 3)
        result_.limits[law] = outcome.err;
    else
        require_alike(*first_, train(law, changes, options), same_loss, same_weights);
}

void Cell::ranks() { in_parts("ranks", Json::object(), {"--devices", "2"}); }

void Cell::cache() {
    Json in_chunks = objective();
    in_chunks["gradient_cache_chunk"] = 3;
    in_parts("cache", {{"objective", in_chunks}}, {});
}

/// Operands have 8 bits of mantissa: a relative rounding of 2^-9 each, which a few products in a row and a temperature of 0.03 multiply.
void Cell::half_precision() {
    const RunDirectory half = train("bf16", {{"precision", "bf16"}}, {});
    if (const double apart = losses_apart(*first_, half); apart > 0.1)
        throw Broken{fmt::format("losses in bf16 are apart by {:.2g} of those in float32 (bound 0.1)", apart), half.folder().string()};
}

}  // namespace faceter::conform
