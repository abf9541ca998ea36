#include "run_session.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <cstdlib>

#include "common/cancel.h"
#include "common/error.h"
#include "common/strings.h"
#include "data/leaves.h"
#include "data/overlap.h"
#include "eval/group_embedding.h"
#include "machine.h"
#include "model/accelerator.h"
#include "plugin/loader.h"
#include "plugin/run_model.h"
#include "stage_data.h"
#include "train/token_objective.h"

namespace faceter::worker {
namespace {

EarlyStopping early_stopping_of(const Json& training) {
    const Json& settings = training.contains("early_stopping") ? training.at("early_stopping") : Json();
    if (settings.is_null()) return {};
    return {true, json_or<std::int64_t>(settings, "patience", 3, "early_stopping"),
            json_or<double>(settings, "min_delta", 0, "early_stopping")};
}

CheckpointStore store_of(const RunDirectory& run) {
    return {run.checkpoints(), json_or<std::size_t>(run.settings().at("training"), "keep_checkpoints", 2, "training")};
}

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
    if (!report.task.empty()) event["loss/" + report.task] = report.loss;
    return event;
}

/// "method", "method-2" ...
std::string numbered(const std::string& method, int time) { return time == 1 ? method : fmt::format("{}-{}", method, time); }

}  // namespace

RunSession::RunSession(const fs::path& folder)
    : run_(folder),
      settings_(run_.settings()),
      rendezvous_(Rendezvous::from_environment()),
      device_(choose_device(json_or<std::string>(settings_, "device", "auto", "device"), rendezvous_.local_rank, rendezvous_.local_size)) {
    at::set_num_threads(std::max(1, json_or<int>(settings_, "threads", at::get_num_threads(), "threads") / rendezvous_.local_size));
}

DataRequest RunSession::request(const Json& entry) const {
    return {entry, run_.folder(), json_or<std::uint64_t>(settings_, "seed", 1, "seed"),
            json_or<std::size_t>(settings_, "sample_limit", 0, "sample_limit")};
}

void RunSession::warn(const std::string& message) {
    if (!is_root()) return;  // the same as rank 0 says
    fmt::print(stderr, "warning: {}\n", message);
    journal_->event("warning", {{"message", message}});
}

bool RunSession::stop_wanted() const { return stop_requested() != StopRequest::none || run_.requested("stop"); }

bool RunSession::has_final_model() const { return run_.info().is_baseline() || fs::is_directory(final_model_folder(run_)); }

void RunSession::load_training_data() {
    journal_->phase("read training data");
    for (const Task& task : read_tasks(settings_.at("tasks")))
        for (const Json& entry : task.train) {
            try {
                add_training_sets(load_training_sets(request(entry), task.type), task);
            } catch (const DataUnavailable& error) {
                warn(error.what());
            }
        }
}

void RunSession::add_training_sets(std::vector<TrainingSet> sets, const Task& task) {
    for (TrainingSet& set : sets) {
        if (own_instructions(set) && task.query_instruction.empty() && task.document_instruction.empty())
            throw settings_error(
                "tasks.{}: its data set '{}' brings instructions of its own, but the task has none, which texts from elsewhere would need; "
                "give it 'instructions'",
                task.name, set.name);
        set.task = task.name;
        for (const Json& warning : json_or<Json>(set.card, "warnings", Json::array(), "card")) warn(warning.get<std::string>());
        journal_->event("data", {{"use", "training"}, {"task", task.name}, {"card", set.card}});
        training_.push_back(std::move(set));
    }
}

void RunSession::load_evaluation_data() {
    journal_->phase("read evaluation data");
    for (const Json& entry : settings_.at("evaluation").at("datasets")) {
        try {
            evaluation_.push_back(load_evaluation_set(request(entry)));
        } catch (const DataUnavailable& error) {
            warn(error.what());
            continue;
        }
        for (const Json& warning : json_or<Json>(evaluation_.back().card, "warnings", Json::array(), "card"))
            warn(warning.get<std::string>());
        journal_->event("data", {{"use", "evaluation"}, {"task", evaluation_.back().task_type}, {"card", evaluation_.back().card}});
    }
}

void RunSession::load_validation_data() {
    for (const Task& task : read_tasks(settings_.at("tasks")))
        for (const Json& entry : task.validation) {
            journal_->phase("read validation data");
            try {
                validation_.push_back(load_evaluation_set(request(entry)));
            } catch (const DataUnavailable& error) {
                warn(error.what());
                continue;
            }
            validation_.back().routing.task = task.name;
            journal_->event("data", {{"use", "validation"}, {"task", task.name}, {"card", validation_.back().card}});
        }
}

void RunSession::warn_of_overlap() {
    for (const Overlap& overlap : count_overlap(training_, evaluation_)) warn(describe_overlap(overlap));
}

/// Rank 0: the attempt and its journal, before the others are there: what goes wrong at the rendezvous is in it.
void RunSession::begin() {
    trained_ = has_final_model();
    if (!trained_) resume_ = store_of(run_).newest(resume_warnings_);
    run_.clear_request("stop");
    remove_leftovers(run_.checkpoints());
    open_journal(run_.begin_attempt());
}

void RunSession::open_journal(int attempt) {
    JournalWriter::Start start;
    start.rank = rendezvous_.rank;
    if (resume_) start.from_checkpoint = resume_->folder.filename().string(), start.from_step = resume_->state.step;
    start.machine = machine_json();
    if (is_root()) start.machine["ranks"] = rendezvous_.size;
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    auto gpu = device_.is_cuda() ? GpuMonitor::open(device_.index(), visible ? visible : "") : nullptr;
    start.machine["device"] = gpu ? fmt::format("{} ({})", device_.str(), gpu->name()) : device_.str();
    journal_ = std::make_unique<JournalWriter>(run_, attempt, start);
    sampler_ = std::make_unique<SystemSampler>(*journal_, std::move(gpu));
}

/// All ranks go on from the checkpoint that rank 0 has chosen, and write into its attempt.
void RunSession::join_others() {
    GroupTimeouts timeouts;
    if (rendezvous_.size > 1) {
        if (journal_) journal_->phase("meet the other processes");
        timeouts.rendezvous_s = timeouts.step_s = json_or<double>(settings_.at("training"), "rank_timeout_s", 600, "training");
    }
    group_ = join_group(rendezvous_, timeouts, device_);
    Json plan;
    if (is_root())
        plan = {
            {"attempt", journal_->attempt()}, {"trained", trained_}, {"checkpoint", resume_ ? resume_->folder.filename().string() : ""}};
    plan = Json::parse(text_of_root(*group_, plan.dump()));
    if (is_root()) return;
    trained_ = plan.at("trained").get<bool>();
    if (const auto checkpoint = plan.at("checkpoint").get<std::string>(); !checkpoint.empty()) resume_ = store_of(run_).open(checkpoint);
    open_journal(plan.at("attempt").get<int>());
}

int RunSession::execute() {
    if (is_root()) begin();
    try {
        join_others();
        return work();
    } catch (...) {
        const auto [code, message] = describe_current_exception();
        if (group_ && code != ExitCode::peer_lost) group_->fail(message);
        if (journal_) journal_->event("failed", {{"code", static_cast<int>(code)}, {"message", message}});
        throw;
    }
}

int RunSession::work() {
    for (const std::string& warning : resume_warnings_) warn(warning);
    if (is_root()) load_evaluation_data();
    if (!trained_ && !train()) return static_cast<int>(ExitCode::stopped);
    group_->barrier();  // rank 0 has written the final model
    if (trained_ || !is_root()) {
        model_ = open_run_model(run_);
        model_->move_to(device_);
    }
    bool whole = true;
    if (is_root()) {
        whole = score();
        let_servers_go(*group_);
    } else {
        journal_->phase("embed for rank 0");
        serve_embeddings(*model_, *group_);
    }
    whole ? journal_->event("finished") : journal_->event("stopped", {{"phase", "evaluate"}});
    return whole ? 0 : static_cast<int>(ExitCode::stopped);
}

bool RunSession::score() {
    measure_model();
    embedder_ = std::make_unique<CachedEmbedder>(*model_);
    embedder_->share_work(*group_);
    if (!evaluate_all()) return false;
    analyse();
    return true;
}

bool RunSession::train() {
    load_training_data();
    load_validation_data();
    warn_of_overlap();
    journal_->phase("load model");
    model_ = open_start_model(settings_);
    variant_ = variant_of(settings_);
    variant_->prepare(*model_);
    if (resume_) model_->load_weights(Weights(std::vector<fs::path>{resume_->model()}));
    model_->move_to(device_);
    const auto stages = planned_stages(settings_, *variant_, *model_);
    announce(stages);
    const StageData data(
        run_.folder() / "data", *model_, [&](const std::string& what) { journal_->phase(what); },
        [&](const std::string& what, const TrainingSet& set, const Tally& tally) {
            journal_->event("data", {{"use", what}, {"task", set.task}, {"card", {{"name", set.name}, {"counts", tally}}}});
        });
    const std::size_t first = resume_ ? resume_->state.stage : 0;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        if (i == 0 || stages[i].part !=
                          stages[i - 1].part) {  // also of stages that an earlier attempt has trained: the next ones build on their data
            if (!is_root()) group_->barrier();   // rank 0 chooses and writes, the others find it
            data.prepare(stages[i], training_);
            if (is_root()) group_->barrier();
            batchers_.clear();
        }
        if (i >= first && !train_stage(i, stages[i], i == first ? resume_ : std::nullopt)) return false;
    }
    if (!is_root()) return true;
    variant_->finish(*model_, {training_, json_or<std::uint64_t>(settings_, "seed", 1, "seed"), [&](const std::string& what) {
                                   if (stop_wanted())
                                       throw Error(ExitCode::stopped, "stopped; faceter resume goes on from the last checkpoint");
                                   journal_->phase(what);
                               }});
    validation_embedder_.reset();
    batchers_.clear();
    journal_->phase("write model");
    write_final_model(run_, *model_);
    model_->encoders.front()->require_grad(false);
    return true;
}

/// What a run of many stages will take, before it takes it.
void RunSession::announce(const std::vector<PlannedStage>& stages) {
    if (stages.size() < 2) return;
    std::size_t most_steps = 0;
    for (const PlannedStage& planned : stages) {
        const TrainingSettings training = TrainingSettings::from_json(planned.settings);
        const CurriculumContext context = curriculum_context(planned);
        std::size_t examples = 0;
        for (std::size_t s = 0; s < context.sets.size(); ++s)
            for (const Task& task : context.tasks) examples += context.sets[s]->task == task.name ? examples_of(context, s).size() : 0;
        const std::size_t batch = static_cast<std::size_t>(training.batch_size * training.accumulate);
        most_steps += training.steps > 0 ? static_cast<std::size_t>(training.steps)
                                         : std::max<std::size_t>(1, examples * static_cast<std::size_t>(training.epochs) / batch);
    }
    fmt::print(stderr, "{} stages, at most {} steps\n", stages.size(), most_steps);
    journal_->event("plan", {{"stages", stages.size()}, {"most_steps", most_steps}});
}

bool RunSession::train_stage(std::size_t index, const PlannedStage& planned, const std::optional<Checkpoint>& resume) {
    const Stage& stage = planned.stage;
    const Json& curriculum_settings = planned.settings.at("curriculum");
    const Json& objective_settings = planned.settings.at("objective");
    const TrainingSettings training = TrainingSettings::from_json(planned.settings);
    const PairBatcher& batcher = batcher_of(training.lengths);
    const CurriculumContext context = curriculum_context(planned);
    journal_->phase("plan batches");
    const auto curriculum = registry().make_curriculum(json_at<std::string>(curriculum_settings, "method", "curriculum"), context);
    const auto objective = registry().make_objective(json_at<std::string>(objective_settings, "method", "objective"), objective_settings);
    auto* const tokens = dynamic_cast<TokenObjective*>(objective.get());
    if (tokens)
        journal_->event("objective",
                        {{"stage", index}, {"message", tokens->attach(*model_, training.seed, run_.folder() / mlm_head_file)}});
    EarlyStopping early = early_stopping_of(planned.settings.at("training"));
    early.keep_best = has_validation(stage);
    if (stage.adapter >= 0 && !stage.adapt_documents) journal_->phase("embed the documents of " + stage.name);
    Trainer trainer(*model_, stage, index, batcher, *curriculum, *objective, training, early, *group_);
    if (resume) trainer.restore(*resume);
    group_->barrier();  // from here on one that is late is lost
    journal_->event(
        "stage_started",
        {{"stage", stage.name}, {"index", index}, {"total_steps", trainer.total_steps()}, {"examples", curriculum->num_examples()}});
    journal_->phase(stage.name == "train" ? "train" : "train " + stage.name);
    const CheckpointStore store = store_of(run_);
    TrainerEvents events;
    events.step = [&](const StepReport& report) {
        Json event =
            is_root() ? step_event(report) : Json{{"step", report.step}, {"total_steps", report.total_steps}, {"step_s", report.seconds}};
        if (index > 0) event["stage"] = index;
        journal_->step(event);
    };
    if (training.evaluate_every_steps > 0 && stage.adapter >= 0 && !has_validation(stage))
        warn(fmt::format("stage '{}': its tasks have no validation data (tasks.*.validation), so it trains to the end", stage.name));
    else if (training.evaluate_every_steps > 0)
        events.evaluate = [&](std::int64_t step) {
            const double score = stage.adapter >= 0 ? evaluate_adapter(stage, index, step) : evaluate_during_training(planned, index, step);
            let_servers_go(*group_);
            return score;
        };
    events.serve = [&] { serve_embeddings(*model_, *group_); };
    events.checkpoint = [&](const CheckpointState& state, const std::vector<NamedTensor>& optimizer) {
        journal_->flush();  // the record of its steps first: a run that goes on from here does not take them again
        const fs::path folder =
            store.save(state, model_->named_tensors(), optimizer, trainer.optimizer().is_sharded() ? group_.get() : nullptr);
        if (!is_root()) return;
        journal_->event("checkpoint", {{"step", state.step}, {"stage", index}, {"path", folder.filename().string()}});
        run_.clear_request("checkpoint");
    };
    events.should_stop = [&] { return stop_wanted(); };
    events.checkpoint_wanted = [&] { return run_.requested("checkpoint"); };
    const TrainOutcome outcome = trainer.run(events);
    if (tokens && outcome != TrainOutcome::stopped) tokens->keep(run_.folder() / mlm_head_file);
    if (outcome == TrainOutcome::stopped) journal_->event("stopped", {{"step", trainer.step()}, {"stage", index}});
    return outcome != TrainOutcome::stopped;
}

/// Stages whose texts have the same lengths share their tokens, and the documents that were embedded once.
const PairBatcher& RunSession::batcher_of(const TokenLengths& lengths) {
    auto& batcher = batchers_[lengths];
    if (batcher) return *batcher;
    journal_->phase("tokenise");
    if (!is_root()) group_->barrier();  // rank 0 writes the token caches, the others find them
    batcher = std::make_unique<PairBatcher>(*model_, training_pointers(), cache_directory() / "tokens", at::get_num_threads(), lengths);
    if (is_root()) group_->barrier();
    return *batcher;
}

std::vector<const TrainingSet*> RunSession::training_pointers() const {
    std::vector<const TrainingSet*> sets;
    for (const TrainingSet& set : training_) sets.push_back(&set);
    return sets;
}

CurriculumContext RunSession::curriculum_context(const PlannedStage& planned) {
    CurriculumContext context = faceter::curriculum_context(planned, *model_, training_pointers());
    context.folder = run_.folder() / "curriculum";
    context.group = group_.get();
    context.warn = [this](const std::string& message) { warn(message); };
    return context;
}

bool RunSession::has_validation(const Stage& stage) const {
    return stage.adapter >= 0 && std::any_of(validation_.begin(), validation_.end(), [&](const EvaluationSet& set) {
               return std::find(stage.tasks.begin(), stage.tasks.end(), set.routing.task) != stage.tasks.end();
           });
}

/// The mean score of the stage's own validation data through its adapter. Documents that it leaves as they are are embedded once.
double RunSession::evaluate_adapter(const Stage& stage, std::size_t index, std::int64_t step) {
    if (!validation_embedder_) validation_embedder_ = std::make_unique<CachedEmbedder>(*model_);
    validation_embedder_->share_work(*group_);
    const int expert = stage.adapter + 1;
    validation_embedder_->renew(expert);
    Json scores = Json::object();
    double sum = 0;
    journal_->phase("validate " + stage.name);
    for (const EvaluationSet& set : validation_) {
        if (std::find(stage.tasks.begin(), stage.tasks.end(), set.routing.task) == stage.tasks.end()) continue;
        EvaluationRoutes routes = routes_for(*model_, set, "");
        routes.query.expert = expert;
        routes.document.expert = stage.adapt_documents ? expert : 0;
        sum += (scores[set.name] = evaluate_set(*validation_embedder_, set, routes).score).get<double>();
    }
    journal_->event("evaluation", {{"step", step}, {"stage", index}, {"scores", scores}});
    journal_->phase("train " + stage.name);
    return sum / static_cast<double>(scores.size());
}

double RunSession::evaluate_during_training(const PlannedStage& planned, std::size_t index, std::int64_t step) {
    const Json& training = planned.settings.at("training");
    const auto wanted = json_or<std::vector<std::string>>(training, "evaluate_datasets", {}, "training");
    const Json early = json_or<Json>(training, "early_stopping", Json::object(), "training");
    const auto watched = json_or<std::string>(early, "dataset", "", "early_stopping");
    CachedEmbedder embedder(*model_);
    embedder.share_work(*group_);
    Json scores = Json::object();
    double sum = 0, watched_score = 0;
    for (const EvaluationSet& set : evaluation_) {
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), set.name) == wanted.end()) continue;
        journal_->phase("evaluate " + set.name);
        const double score = evaluate_set(embedder, set, routes_for(*model_, set, "")).score;
        scores[set.name] = score;
        sum += score;
        if (set.name == watched) watched_score = score;
    }
    Json event = {{"step", step}, {"scores", scores}};
    if (index > 0) event["stage"] = index;
    journal_->event("evaluation", event);
    journal_->phase(planned.stage.name == "train" ? "train" : "train " + planned.stage.name);
    return watched.empty() ? (scores.empty() ? 0 : sum / static_cast<double>(scores.size())) : watched_score;
}

void RunSession::measure_model() {
    journal_->phase("measure");
    const int threads = at::get_num_threads();
    at::set_num_threads(threads * rendezvous_.local_size);  // a text's latency is that of the machine; the other ranks are waiting
    run_.write_result("_model", model_measurements(*model_));
    at::set_num_threads(threads);
}

bool RunSession::evaluate_all() {
    for (const EvaluationSet& set : evaluation_) {
        if (stop_wanted()) return false;
        const std::string file = safe_file_name(set.name) + ".json";
        if (fs::is_regular_file(run_.results() / file)) continue;  // scored by an earlier attempt
        journal_->phase("evaluate " + set.name);
        const EvaluationResult result = evaluate_set(*embedder_, set, routes_for(*model_, set, ""));
        run_.write_result(set.name, result.to_json());
        journal_->event(
            "result",
            {{"name", result.name}, {"task_type", result.task_type}, {"metric", result.metric}, {"score", result.score}, {"n", result.n}});
    }
    return true;
}

void RunSession::analyse() {
    const Json analyses = json_or<Json>(settings_, "analyses", Json::array(), "settings");
    std::map<std::string, int> times;
    for (const Json& settings : analyses) {
        const auto method = json_at<std::string>(settings, "method", "analyses");
        const std::string name = numbered(method, ++times[method]);
        journal_->phase("analyse " + name);
        AnalysisContext context{.embedder = *embedder_,
                                .tasks = model_->tasks,
                                .texts = {},
                                .run_name = run_.info().variant,
                                .run_folder = run_.folder(),
                                .run = settings_,
                                .training_sets = [this]() -> const std::vector<TrainingSet>& {
                                    if (training_.empty()) load_training_data();
                                    return training_;
                                },
                                .evaluation = evaluation_,
                                .phase = [&](const std::string& what) { journal_->phase(what); }};
        try {
            if (settings.contains("texts") && !settings.at("texts").is_null()) context.texts = load_texts(request(settings.at("texts")));
        } catch (const DataUnavailable& error) {
            warn(error.what());
            continue;
        }
        store(settings, name, registry().make_analysis(method, settings)->run(context));
    }
}

/// `name` is the method's, or with a number where the experiment asks for the method again (with other texts): each keeps its files.
void RunSession::store(const Json& settings, const std::string& name, const AnalysisResult& analysed) const {
    const auto method = json_at<std::string>(settings, "method", "analyses");
    const std::string ending = name.substr(method.size());
    const Json source = {{"analysis", method}, {"name", name}};
    Json result = analysed.result;
    if (result.is_object()) result["settings"] = settings;
    run_.write_result(name, result);
    for (const auto& [figure, value] : analysed.figures) {
        Json json = value.to_json();
        json["source"] = source;
        run_.write_figure(figure + ending, json);
    }
    for (const auto& [table, value] : analysed.tables) {
        Json json = value.to_json();
        json["source"] = source;
        run_.write_table(table + ending, json);
    }
}

}  // namespace faceter::worker
