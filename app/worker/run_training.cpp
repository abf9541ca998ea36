#include "run_training.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "cut_texts.h"
#include "eval/group_embedding.h"
#include "experiment/example_needs.h"
#include "model/accelerator.h"
#include "model/compute.h"
#include "plugin/loader.h"
#include "settings/core_settings.h"
#include "stage_data.h"
#include "stage_memory.h"
#include "train/segments.h"
#include "train/stage_length.h"
#include "train/token_objective.h"

namespace faceter::worker {
namespace {

Json step_event(const StepReport& report) {
    Json event = {{"step", report.step},
                  {"total_steps", report.total_steps},
                  {"loss", report.loss},
                  {"lr", report.learning_rate},
                  {"grad_norm", report.grad_norm},
                  {"temperature", report.temperature},
                  {"tokens", report.tokens},
                  {"pairs", report.pairs},
                  {"tokens_per_s", report.seconds > 0 ? static_cast<double>(report.tokens) / report.seconds : 0},
                  {"pairs_per_s", report.seconds > 0 ? static_cast<double>(report.pairs) / report.seconds : 0}};
    for (const auto& [name, value] : report.parts) event[name] = value;
    for (const auto& [task, loss] : report.task_losses) event["loss/" + task] = loss;
    return event;
}

/// Of the tasks that batches are drawn from.
void check_sets(const CurriculumContext& context, const Objective& objective) {
    const bool by_weight = json_at<std::string>(context.settings, "method", "curriculum") == "task_aware";
    for (const TrainingSet* set : context.sets)
        for (const Task& task : context.tasks)
            if (set->task == task.name && (!by_weight || task.weight > 0)) objective.check(*set);
}

/// Of the epochs of a stage. Where each data set is cut into batches of its own, its last one may be short.
std::size_t most_steps_of(const CurriculumContext& context, const TrainingSettings& training) {
    const auto method = json_at<std::string>(context.settings, "method", "curriculum");
    if (method == "task_aware" || method == "static")
        return static_cast<std::size_t>(stage_length(training, *registry().make_curriculum(method, context)).steps);
    const auto size = static_cast<std::size_t>(training.batch_size), epochs = static_cast<std::size_t>(training.epochs),
               accumulate = static_cast<std::size_t>(training.accumulate);
    std::size_t batches = 0;
    for (std::size_t s = 0; s < context.sets.size(); ++s)
        for (const Task& task : context.tasks)
            if (context.sets[s]->task == task.name) batches += (examples_of(context, s).size() + size - 1) / size;
    return std::max<std::size_t>(1, (batches * epochs + accumulate - 1) / accumulate);
}

/// What is not read of a side's texts: all that is behind an instruction which takes all tokens, or the ends of many. Empty: little.
std::string unread_of(const EmbeddingModel& model, const TrainingSet& set, PairSide side, const TokenLengths& lengths) {
    const bool query = side == PairSide::query;
    const std::size_t own = query ? lengths.query : lengths.document, length = own > 0 ? own : model.max_length;
    const std::string instruction = route_of(model, set, side).instruction;
    const std::string setting = own == 0 ? "max_length" : query ? "training.query_length" : "training.document_length";
    std::vector<std::int32_t> ids;
    model.tokenizer->encode(instruction, 0, ids);
    if (!instruction.empty() && ids.size() >= length)
        return fmt::format(
            "training data '{}' ({}): the instruction {} takes all {} tokens that are read of {}, so that nothing of a "
            "text behind it is; raise {}, or shorten the instruction",
            set.name, set.task, faceter::quoted(instruction, 60), length, query ? "a query" : "a document", setting);
    const std::string subject = fmt::format("training data '{}' ({}), {}", set.name, set.task, query ? "queries" : "documents");
    const std::string cut = cut_warning(subject, model, texts_of(set, side), instruction, length);
    return cut.empty() ? "" : cut + "; " + setting + " sets it";
}

void warn_of_unread(const RunContext& run, const EmbeddingModel& model, const CurriculumContext& context, const TokenLengths& lengths) {
    for (const TrainingSet* set : context.sets) {
        const auto is_own = [&](const Task& task) { return task.name == set->task; };
        if (std::none_of(context.tasks.begin(), context.tasks.end(), is_own)) continue;
        for (const PairSide side : {PairSide::query, PairSide::positive})
            if (const std::string unread = unread_of(model, *set, side, lengths); !unread.empty()) run.warn(unread);
    }
}

/// What the number of steps leaves without effect, where it is known only with the stage's batches; `faceter check` says it of others.
void warn_of_few_steps(const RunContext& run, const PlannedStage& planned, const TrainingSettings& training, std::int64_t steps) {
    if (training.steps > 0) return;
    const std::string& stage = planned.stage.name;
    const bool stops_early = training_of(planned.settings).at("early_stopping").is_object();
    if (training.evaluate_every_steps > steps)
        run.warn(fmt::format("stage '{}' has {} steps, and training.evaluate_every_steps is {}: nothing is scored during it{}", stage,
                             steps, training.evaluate_every_steps, stops_early ? ", and early_stopping has no effect" : ""));
    if (training.warmup_steps > steps)
        run.warn(fmt::format("stage '{}' has {} steps, and training.warmup_steps is {}: the learning rate is never that of learning_rate",
                             stage, steps, training.warmup_steps));
}

std::string phase_of(const Stage& stage) { return stage.name == "train" ? "train" : "train " + stage.name; }

}  // namespace

bool RunTraining::train(const Variant& variant, const std::optional<Checkpoint>& resume) {
    const auto stages = planned_stages(run_.settings, variant, model_);
    announce(stages);
    const StageData data(
        run_.run.folder() / "data", model_, run_.device, *run_.group,
        {[&](const std::string& what) { run_.journal->phase(what); },
         [&](const std::string& what, const TrainingSet& set, const Tally& tally) {
             run_.journal->event("data", {{"use", what}, {"task", set.task}, {"card", {{"name", set.name}, {"counts", tally}}}});
         },
         [&](const std::string& message) { run_.warn(message); },
         [&] {
             if (run_.stop_wanted())
                 throw Error(ExitCode::stopped, "stopped while a stage chose its data; faceter resume goes on with the data sets left");
         }},
        [&](std::size_t part, const std::string& task) {
            return needs_negatives(run_.settings, part, task, Catalogue::load(plugin_folders()));
        });
    const std::size_t first = resume ? resume->state.stage : 0;
    check_stages(stages, first);
    for (std::size_t i = 0; i < stages.size(); ++i) {
        if (i == 0 || stages[i].part != stages[i - 1].part) {
            const bool begun = resume && (i < first || (i == first && resume->state.step > 0));
            data.prepare(stages[i], begun,
                         data_.training());  // also of stages that an earlier attempt has trained: the next ones build on their data
            if (i > 0 || stages[i].filter.is_object() || stages[i].mine.is_object()) texts_.clear();
        }
        if (i >= first && !train_stage(i, stages[i], i == first ? resume : std::nullopt)) return false;
    }
    return true;
}

/// What a later stage would be refused for is said before the first is trained. A stage that filters or mines changes the examples of those
/// behind it, too.
void RunTraining::check_stages(const std::vector<PlannedStage>& stages, std::size_t first) const {
    std::vector<const TrainingSet*> sets;
    for (const TrainingSet& set : data_.training()) sets.push_back(&set);
    bool as_given = true;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        as_given = as_given && !stages[i].filter.is_object() && !stages[i].mine.is_object();
        if (i < first) continue;
        const auto objective = objective_of(stages[i]);
        require_fitting(*objective, stages[i].stage);
        const CurriculumContext context = curriculum_context(stages[i], model_, sets);
        if (as_given) check_sets(context, *objective);
        if (run_.is_root() && stages[i].training().evaluate_every_steps > 0) scores_.check(stages[i]);
    }
}

/// What a run of many stages will take, before it takes it.
void RunTraining::announce(const std::vector<PlannedStage>& stages) {
    if (stages.size() < 2) return;
    std::size_t most_steps = 0;
    for (const PlannedStage& planned : stages) {
        const TrainingSettings training = planned.training();
        if (!json_or<Json>(planned.settings.at("training"), "batch_tokens", nullptr, "training").is_null())
            return;  // known with its tokens
        const CurriculumContext context = context_of(planned, *objective_of(planned));
        most_steps += training.steps > 0 ? static_cast<std::size_t>(training.steps) : most_steps_of(context, training);
    }
    if (run_.is_root()) say(stderr, "{} stages, at most {} steps\n", stages.size(), most_steps);
    run_.journal->event("plan", {{"stages", stages.size()}, {"most_steps", most_steps}});
}

/// Rank 0 has the data that would say how the stage does.
bool RunTraining::is_judged(const PlannedStage& planned) const {
    at::Tensor judged = at::zeros({1}, at::kDouble);
    if (run_.is_root() && scores_.is_judged(planned)) judged.fill_(1);
    run_.group->all_reduce_sum(judged, Patience::work);
    return judged.item<double>() > 0;
}

EarlyStopping RunTraining::early_stopping_of(const PlannedStage& planned) const {
    const Json settings = training_of(planned.settings).at("early_stopping");
    EarlyStopping early;
    early.on = settings.is_object() && is_judged(planned);
    if (early.on) {
        early.patience = json_at<std::int64_t>(settings, "patience", "early_stopping");
        early.min_delta = json_at<double>(settings, "min_delta", "early_stopping");
    }
    early.keep_best = early.on || scores_.has_validation(planned.stage);
    return early;
}

bool RunTraining::train_stage(std::size_t index, const PlannedStage& planned, const std::optional<Checkpoint>& resume) {
    const Stage& stage = planned.stage;
    const TrainingSettings training = planned.training();
    const auto objective = objective_of(planned);
    const PairBatcher& batcher = batcher_of(training.lengths, *objective);
    const CurriculumContext context = context_of(planned, *objective);
    run_.journal->phase("plan batches");
    const auto curriculum = curriculum_of(planned, context, batcher);
    check_sets(context, *objective);
    if (run_.is_root()) warn_of_unread(run_, model_, context, training.lengths);
    const fs::path kept = run_.run.folder() / objective->kept_as();
    if (const std::string message = objective->attach(model_, training.seed, kept); !message.empty())
        run_.journal->event("objective", {{"stage", index}, {"message", message}});
    if (stage.adapter >= 0 && !stage.adapt_documents) run_.journal->phase("embed the documents of " + stage.name);
    Trainer trainer(model_, stage, index, batcher, *curriculum, *objective, training, early_stopping_of(planned), *run_.group);
    warn_of_few_steps(run_, planned, training, trainer.total_steps());
    if (resume) trainer.restore(*resume);
    foresee_memory(index, planned, context, batcher);
    run_.group->barrier();  // from here on one that is late is lost
    run_.journal->event("stage_started", {{"stage", stage.name},
                                          {"index", index},
                                          {"part", planned.part},
                                          {"total_steps", trainer.total_steps()},
                                          {"examples", curriculum->num_examples()}});
    run_.journal->phase(phase_of(stage));
    const TrainOutcome outcome = trainer.run(events_of(planned, index, trainer));
    if (outcome == TrainOutcome::stopped) {
        run_.journal->event("stopped", {{"step", trainer.step()}, {"stage", index}});
        return false;
    }
    if (run_.is_root()) objective->keep(kept);
    run_.group->barrier();
    if (trainer.kept_step() > 0) run_.journal->event("kept_best", {{"stage", index}, {"step", trainer.kept_step()}});
    return true;
}

/// Said before the first step. It is no refusal: a kernel of CUDA may take less than what PyTorch composes in its place.
void RunTraining::foresee_memory(std::size_t index, const PlannedStage& planned, const CurriculumContext& context,
                                 const PairBatcher& batcher) {
    if (!run_.is_root() || !is_accelerator(run_.device)) return;
    run_.journal->phase("forecast memory");
    Json report;
    try {
        report = StageMemory(model_, planned, context, batcher, run_.group->size()).report(device_memory(run_.device).size);
    } catch (const c10::Error& reads_values) {  // an objective of somebody's plugin may
        run_.journal->event("memory", {{"stage", index}, {"message", reads_values.what_without_backtrace()}});
        return;
    } catch (const Error& not_forecast) {  // what opens no guide for a forecast opened the run's own
        run_.journal->event("memory", {{"stage", index}, {"message", not_forecast.what()}});
        return;
    }
    const std::string problem = StageMemory::problem_in(report);
    report["stage"] = index;
    run_.journal->event("memory", report);
    if (!problem.empty()) run_.warn(problem);
}

TrainerEvents RunTraining::events_of(const PlannedStage& planned, std::size_t index, Trainer& trainer) {
    TrainerEvents events;
    events.step = [this, index](const StepReport& report) {
        Json event = run_.is_root() ? step_event(report)
                                    : Json{{"step", report.step}, {"total_steps", report.total_steps}, {"step_s", report.seconds}};
        if (index > 0) event["stage"] = index;
        run_.journal->step(event);
    };
    if (planned.training().evaluate_every_steps > 0) {
        if (planned.stage.adapter >= 0 && !scores_.has_validation(planned.stage))
            run_.warn(fmt::format("stage '{}': its tasks have no validation data (tasks.*.validation), so it trains to the end",
                                  planned.stage.name));
        else
            events.evaluate = [this, &planned, index](std::int64_t step) {
                const LaidOutProducts laid_out(model_);
                const LoweredEncoders lowered(model_, run_.scores_in_bf16());
                const double score = scores_.evaluate(planned, index, step);
                let_servers_go(*run_.group);
                return score;
            };
    }
    events.serve = [this] {
        const LaidOutProducts laid_out(model_);
        const LoweredEncoders lowered(model_, run_.scores_in_bf16());
        serve_embeddings(model_, *run_.group);
    };
    events.checkpoint = [this, &trainer, index](const CheckpointState& state, const std::vector<NamedTensor>& optimizer) {
        save(trainer, index, state, optimizer);
    };
    events.should_stop = [this] { return run_.stop_wanted(); };
    events.checkpoint_wanted = [this] { return run_.run.requested("checkpoint"); };
    return events;
}

void RunTraining::save(const Trainer& trainer, std::size_t index, const CheckpointState& state,
                       const std::vector<NamedTensor>& optimizer) const {
    run_.journal->flush();  // the record of its steps first: a run that goes on from here does not take them again
    const fs::path folder =
        run_.checkpoints().save(state, model_.named_tensors(), optimizer, trainer.optimizer().is_sharded() ? run_.group.get() : nullptr);
    if (!run_.is_root()) return;
    run_.journal->event("checkpoint", {{"step", state.step}, {"stage", index}, {"path", folder.filename().string()}});
    run_.run.clear_request("checkpoint");
}

RunTraining::Texts& RunTraining::texts_of(const TokenLengths& lengths, const Objective& objective) {
    const auto [at, fresh] = texts_.try_emplace({lengths, objective.segmented()});
    if (!fresh || !objective.segmented()) return at->second;
    run_.journal->phase("cut texts into segments");
    for (const TrainingSet& set : data_.training())
        at->second.segments.push_back(segmented_set(model_, set, *objective.segmented(), lengths));
    return at->second;
}

std::vector<const TrainingSet*> RunTraining::sets_of(const Texts& texts) const {
    std::vector<const TrainingSet*> sets;
    for (const TrainingSet& set : texts.segments.empty() ? data_.training() : texts.segments) sets.push_back(&set);
    return sets;
}

const PairBatcher& RunTraining::batcher_of(const TokenLengths& lengths, const Objective& objective) {
    Texts& texts = texts_of(lengths, objective);
    if (texts.batcher) return *texts.batcher;
    run_.journal->phase("tokenise");
    if (!run_.is_root()) run_.group->barrier();  // rank 0 writes the token caches, the others find them
    texts.batcher = std::make_unique<PairBatcher>(model_, sets_of(texts), cache_directory() / "tokens", at::get_num_threads(), lengths);
    if (run_.is_root()) run_.group->barrier();
    return *texts.batcher;
}

CurriculumContext RunTraining::context_of(const PlannedStage& planned, const Objective& objective) {
    CurriculumContext context = curriculum_context(planned, model_, sets_of(texts_of(planned.training().lengths, objective)));
    context.folder = run_.run.folder() / "curriculum";
    context.group = run_.group.get();
    context.device = run_.device;
    context.warn = [this](const std::string& message) { run_.warn(message); };
    return context;
}

}  // namespace faceter::worker
