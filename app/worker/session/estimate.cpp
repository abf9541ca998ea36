#include <ATen/DeviceAccelerator.h>
#include <ATen/Parallel.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>

#include "common/error.h"
#include "common/strings.h"
#include "eval/tasks.h"
#include "experiment/machine.h"
#include "machine.h"
#include "model/accelerator.h"
#include "plugin/run_model.h"
#include "plugin/stage_plan.h"
#include "session/session_data.h"
#include "settings/core_settings.h"
#include "stage_memory.h"
#include "train/segments.h"

namespace faceter::worker {
namespace {

constexpr double most_probe_seconds = 20;  // of one stage
constexpr std::size_t probe_texts = 128;

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Peak of this process's resident memory since restart(): what the probe takes, not what an earlier request took.
class MemoryPeak {
  public:
    static void restart() {
        ::malloc_trim(0);
        std::ofstream("/proc/self/clear_refs") << "5";
    }
    static std::uint64_t bytes() {
        std::ifstream status("/proc/self/status");
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("VmHWM:"))
                if (const auto kibibytes = parse_int(trim(std::string_view(line).substr(6, line.find("kB") - 6))))
                    return static_cast<std::uint64_t>(*kibibytes) * 1024;
        return peak_memory_bytes();
    }
};

/// What a probe has taken of a GPU goes back with it: PyTorch would keep it at hand for the next one, and the run that is launched
/// meanwhile would lack it.
struct BorrowedDevice {
    c10::Device device;
    ~BorrowedDevice() {
        try {
            if (is_accelerator(device)) at::accelerator::emptyCache();
        } catch (const c10::Error&) {  // the device itself is gone
        }
    }
};

/// What the probe computes with; the other requests go on with as many threads as before, however it ends.
class OwnThreads {
  public:
    explicit OwnThreads(int wanted) {
        if (wanted > 0) at::set_num_threads(wanted);
    }
    ~OwnThreads() { at::set_num_threads(before_); }
    OwnThreads(const OwnThreads&) = delete;
    OwnThreads& operator=(const OwnThreads&) = delete;

  private:
    int before_ = at::get_num_threads();
};

/// Of the steps of a stage that were tried: none where its batch does not fit the device.
struct Pace {
    std::size_t steps = 0;
    double seconds_per_step = 0, tokens_per_s = 0;
};

struct Probe {
    const Json& settings;
    SessionData& data;
    Request& request;
    std::size_t steps;
    std::vector<std::shared_ptr<std::vector<TrainingSet>>> training;  ///< of an entry each
    Json warnings = Json::array();
    std::unique_ptr<EmbeddingModel> model;
    /// As stages of these lengths read them, in segments or whole.
    struct Texts {
        std::vector<TrainingSet> segments;  ///< in place of the sets; empty: these
        std::unique_ptr<PairBatcher> batcher;
    };
    std::map<std::pair<TokenLengths, std::optional<ReadTexts>>, Texts> read;

    void read_training();
    std::vector<const TrainingSet*> sets_of(Texts& own, const Objective& objective, const TokenLengths& lengths);
    Json stage(std::size_t index, const PlannedStage& planned);
    Pace pace_of(Trainer& trainer, const std::string& stage, const Json& on_gpu);
    Json train(const Variant& variant);
    Json evaluation();
};

void Probe::read_training() {
    for (const Task& task : read_tasks(settings.at("tasks")))
        for (const Json& entry : task.train) {
            request.progress("read training data", training.size(), 0);
            try {
                training.push_back(data.training_sets(settings, entry, task));
            } catch (const DataUnavailable& error) {
                warnings.push_back(error.what());
            }
        }
}

std::vector<const TrainingSet*> Probe::sets_of(Texts& own, const Objective& objective, const TokenLengths& lengths) {
    std::vector<const TrainingSet*> whole, cut;
    for (const auto& entry : training)
        for (const TrainingSet& set : *entry) whole.push_back(&set);
    if (!objective.segmented()) return whole;
    for (std::size_t i = own.segments.size(); i < whole.size(); ++i) {
        request.progress("cut texts into segments", i, whole.size());
        own.segments.push_back(segmented_set(*model, *whole[i], *objective.segmented(), lengths));
    }
    for (const TrainingSet& set : own.segments) cut.push_back(&set);
    return cut;
}

/// What the stage takes of a GPU, whether there is one or not; null where it cannot be said.
Json memory_on_gpu(const StageMemory& memory, const c10::Device& device) {
    try {
        return memory.report(device_memory(device).size);
    } catch (const Error&) {
        return nullptr;
    } catch (const c10::Error&) {
        return nullptr;
    }
}

/// The first step, which fills caches, is not counted where there are others.
Pace Probe::pace_of(Trainer& trainer, const std::string& stage, const Json& on_gpu) {
    std::vector<double> seconds;
    std::int64_t tokens = 0;
    const auto start = std::chrono::steady_clock::now();
    const std::size_t wanted = std::min<std::size_t>(steps, static_cast<std::size_t>(trainer.total_steps()));
    try {
        while (seconds.size() < wanted && (seconds.size() < 2 || seconds_since(start) < most_probe_seconds)) {
            request.progress("try " + stage, seconds.size(), wanted);
            const StepReport report = trainer.train_step();
            seconds.push_back(report.seconds);
            tokens += report.tokens;
        }
    } catch (const Error& error) {
        if (error.code() != ExitCode::out_of_memory) throw;
        const std::string problem = on_gpu.is_null() ? "" : StageMemory::problem_in(on_gpu);
        warnings.push_back(problem.empty() ? fmt::format("{}: {}", stage, error.what()) : problem);
        return {};
    }
    const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0), without_first = all - seconds.front();
    return {seconds.size(), seconds.size() > 1 ? without_first / static_cast<double>(seconds.size() - 1) : all,
            all > 0 ? static_cast<double>(tokens) / all : 0};
}

/// Real steps of the stage on the run's own batches.
Json Probe::stage(std::size_t index, const PlannedStage& planned) {
    const Stage& stage = planned.stage;
    const TrainingSettings recipe = planned.training();
    const auto objective = objective_of(planned);
    Texts& own = read[{recipe.lengths, objective->segmented()}];
    const std::vector<const TrainingSet*> sets = sets_of(own, *objective, recipe.lengths);
    const CurriculumContext context = curriculum_context(planned, *model, sets);
    auto& batcher = own.batcher;
    if (!batcher) {
        request.progress("tokenise", 0, 0);
        batcher = std::make_unique<PairBatcher>(*model, sets, cache_directory() / "tokens", at::get_num_threads(), recipe.lengths);
    }
    const auto curriculum = curriculum_of(planned, context, *batcher);
    for (const TrainingSet* set : context.sets)
        if (std::any_of(context.tasks.begin(), context.tasks.end(), [&](const Task& task) { return set->task == task.name; }))
            objective->check(*set);
    objective->attach(*model, recipe.seed, {});
    SingleProcess group;
    const Json on_gpu = memory_on_gpu(StageMemory(*model, planned, context, *batcher), model->encoders.front()->device());
    Trainer trainer(*model, stage, index, *batcher, *curriculum, *objective, recipe, {}, group);
    const Pace pace = pace_of(trainer, stage.name, on_gpu);
    return {{"name", stage.name},
            {"steps", trainer.total_steps()},
            {"examples", curriculum->num_examples()},
            {"on_gpu", on_gpu},
            {"seconds_per_step", pace.seconds_per_step},
            {"tokens_per_s", pace.tokens_per_s},
            {"probed_steps", pace.steps},
            {"seconds", pace.seconds_per_step * static_cast<double>(trainer.total_steps())}};
}

Json Probe::train(const Variant& variant) {
    Json stages = Json::array();
    read_training();
    std::size_t index = 0;
    for (const PlannedStage& one : planned_stages(settings, variant, *model)) stages.push_back(stage(index++, one));
    return stages;
}

/// Time to embed the texts that the evaluation embeds, from a few of each set. What a task computes after that (search, classifiers,
/// clusters) is not in it.
Json Probe::evaluation() {
    double seconds = 0;
    std::size_t texts = 0;
    for (const Json& entry : settings.at("evaluation").at("datasets")) {
        request.progress("try the evaluation", 0, 0);
        try {
            const auto set = data.evaluation_set(settings, entry);
            const auto all = embedded_texts(*set);
            std::vector<std::string_view> some;
            for (std::size_t i = 0; i < std::min(all.size(), probe_texts); ++i)
                some.push_back(all[i * all.size() / std::min(all.size(), probe_texts)]);
            if (some.empty()) continue;
            const auto start = std::chrono::steady_clock::now();
            embed_texts(*model, some, routes_for(*model, *set, "").document);
            seconds += seconds_since(start) * static_cast<double>(all.size()) / static_cast<double>(some.size());
            texts += all.size();
        } catch (const DataUnavailable& error) {
            warnings.push_back(error.what());
        }
    }
    return {{"texts", texts}, {"seconds", seconds}};
}

}  // namespace

/// {"settings": resolved settings of a run, "steps": 4} -> {"total_parameters", "active_parameters", "stages": [{"name", "steps",
/// "examples", "on_gpu" (StageMemory::report, or null), "seconds_per_step", "tokens_per_s", "probed_steps" (0, as the times are, where a
/// step does not fit the device: a warning says so), "seconds"}], "evaluation": {"texts", "seconds"}, "seconds" (in all), "memory_bytes"
/// (peak of the probe), "memory_available_bytes", "threads", "warnings"}. Real steps on real batches; nothing is written but the token
/// cache, which the run uses as well.
Json estimate(const Json& params, SessionData& data, Request& request) {
    const auto settings = json_at<Json>(params, "settings", "estimate");
    const BorrowedDevice borrowed{choose_device(head_setting(settings, "device").get<std::string>())};  // outlives the probe
    Probe probe{settings, data,          request, std::clamp<std::size_t>(json_or<std::size_t>(params, "steps", 4, "estimate"), 1, 50),
                {},       Json::array(), {},      {}};
    const OwnThreads threads(head_setting(settings, "threads").get<int>());
    data.drop_models();
    MemoryPeak::restart();
    request.progress("load the model", 0, 0);
    probe.model = open_start_model(settings);
    const auto variant = variant_of(settings);
    variant->prepare(*probe.model);
    probe.model->move_to(borrowed.device);
    std::int64_t total = 0;
    for (const auto& encoder : probe.model->encoders) total += encoder->total_parameters();
    const bool trains = json_at<std::string>(settings.at("variant"), "method", "variant") != "start";
    const Json stages = trains ? probe.train(*variant) : Json::array();
    const Json evaluation = probe.evaluation();
    double seconds = evaluation["seconds"].get<double>();
    for (const Json& stage : stages) seconds += stage["seconds"].get<double>();
    return {{"total_parameters", total},
            {"active_parameters", probe.model->encoders.front()->active_parameters()},
            {"stages", stages},
            {"evaluation", evaluation},
            {"seconds", seconds},
            {"memory_bytes", MemoryPeak::bytes()},
            {"memory_available_bytes", this_machine().memory_available_bytes},
            {"threads", at::get_num_threads()},
            {"warnings", probe.warnings}};
}

}  // namespace faceter::worker
