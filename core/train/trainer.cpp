#include "train/trainer.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "common/strings.h"
#include "model/accelerator.h"
#include "model/device.h"
#include "model/matrix.h"
#include "model/shortage.h"
#include "train/balance.h"
#include "train/stage_length.h"

namespace faceter {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// What embeds documents once on an accelerator whose steps multiply in bfloat16: the same, without graph.
std::unique_ptr<EmbeddingModel> lowered(const EmbeddingModel& model) {
    const at::NoGradGuard no_grad;
    auto low = std::make_unique<EmbeddingModel>();
    low->folder = model.folder;
    for (const auto& encoder : model.encoders) low->encoders.push_back(encoder->lowered(at::kBFloat16));
    return low;
}

/// A curriculum knows its own state, not the file that it came from. One of a plugin may not look at what it is given.
void restore_curriculum(Curriculum& curriculum, const Json& state, const std::string& name) {
    const auto refuse = [&](const std::string& why) {
        return data_error("{}: {}; remove the folder, and resume goes on from the checkpoint before it", name, why);
    };
    try {
        curriculum.restore(state);
    } catch (const Error& error) {
        throw refuse(error.what());
    } catch (const nlohmann::json::exception&) {
        throw refuse("curriculum: is not as this run's curriculum writes it");
    }
}

}  // namespace

PairBatcher::Sides embedded_sides(const Stage& stage, const Objective& objective) {
    PairBatcher::Sides sides;
    sides.negatives = objective.reads_negatives();
    sides.guide = objective.guide();
    if (stage.adapter < 0) return sides;
    sides.query_adapter = stage.adapter;
    sides.document_adapter = stage.adapt_documents ? stage.adapter : Path::none;
    sides.documents_frozen = !stage.adapt_documents;
    return sides;
}

void require_fitting(const Objective& objective, const Stage& stage) {
    if ((stage.adapter >= 0 || !stage.adapters.empty()) && !objective.fits_adapters())
        throw settings_error(
            "stage '{}' trains a low-rank adapter, but its objective is one on tokens, which trains the encoder itself; pre-train in a "
            "stage of a dense variant",
            stage.name);
}

Trainer::Trainer(EmbeddingModel& model, const Stage& stage, std::size_t stage_index, const PairBatcher& batcher, Curriculum& curriculum,
                 const Objective& objective, const TrainingSettings& settings, const EarlyStopping& early, ProcessGroup& group)
    : encoder_(*model.encoders[static_cast<std::size_t>(stage.encoder)]),
      stage_index_(stage_index),
      adapter_(stage.adapter),
      adapters_(stage.adapters),
      base_rate_(stage.base_rate),
      batcher_(batcher),
      curriculum_(curriculum),
      objective_(objective),
      settings_(settings),
      early_(early),
      group_(group),
      tools_{model, encoder_, batcher, settings_, group, stage.routing_loss, embedded_sides(stage, objective)} {
    require_fitting(objective, stage);
    if (lowers_products()) require_bfloat16(encoder_.device());
    if (adapter_ >= 0 || !adapters_.empty()) encoder_.require_grad(false);
    if (adapter_ < 0 && (adapters_.empty() || base_rate_ > 0)) encoder_.widen();
    if (tools_.sides.documents_frozen) {
        const auto low = lowers_products() ? lowered(model) : nullptr;
        batcher_.freeze_documents(low ? *low : model, {stage.tasks.begin(), stage.tasks.end()}, tools_.sides.negatives, group_);
    }
    for (const Parameter& p : trained()) p.tensor.requires_grad_(true);
    optimizer_ = std::make_unique<GroupAdamW>(trained(), settings_.adamw, group_, settings_.sharding, settings_.bucket_values);
    tools_.optimizer = optimizer_.get();
    way_ = objective_.way(tools_);
    const StageLength length = stage_length(settings_, curriculum_);
    total_steps_ = length.steps;
    last_batches_ = length.last_batches;
    warmup_steps_ =
        settings_.warmup_steps >= 0 ? settings_.warmup_steps : std::llround(settings_.warmup_ratio * static_cast<double>(total_steps_));
}

bool Trainer::lowers_products() const { return settings_.bf16 && ops_form(encoder_.parameters().front().tensor) == OpsForm::device; }

std::vector<Parameter> Trainer::trained_of_encoder() const {
    if (adapter_ >= 0) return encoder_.adapter_parameters(static_cast<std::size_t>(adapter_));
    if (adapters_.empty()) return encoder_.parameters();
    std::vector<Parameter> all;
    for (const int adapter : adapters_)
        for (Parameter& p : encoder_.adapter_parameters(static_cast<std::size_t>(adapter))) all.push_back(std::move(p));
    if (base_rate_ > 0)
        for (Parameter& p : encoder_.parameters()) {
            p.rate = base_rate_;
            all.push_back(std::move(p));
        }
    return all;
}

std::vector<Parameter> Trainer::trained() const {
    std::vector<Parameter> all = trained_of_encoder();
    for (Parameter& p : objective_.parameters()) all.push_back(std::move(p));
    return all;
}

void Trainer::keep_best() {
    if (!early_.keep_best) return;
    best_step_ = step_;
    best_.clear();
    for (const Parameter& p : optimizer_->parameters()) best_.push_back(p.tensor.detach().clone());
}

void Trainer::take_best() {
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < best_.size(); ++i) optimizer_->parameters()[i].tensor.copy_(best_[i]);
}

std::vector<NamedTensor> Trainer::optimizer_state() const {
    std::vector<NamedTensor> state = optimizer_->state();
    if (group_.rank() != 0) return state;
    for (const Parameter& p : objective_.parameters()) state.push_back({"objective." + p.name, p.tensor.detach()});
    for (std::size_t i = 0; i < best_.size(); ++i) state.push_back({"best." + optimizer_->parameters()[i].name, best_[i]});
    return state;
}

BatchPlan Trainer::next_plan() {
    BatchPlan plan = curriculum_.next();
    if (group_.size() > 1) balance_shares(plan, batcher_.work_of(plan.items, tools_.sides, encoder_.config().hidden_dim), group_.size());
    return plan;
}

void Trainer::restore(const Checkpoint& checkpoint) {
    const Weights state(checkpoint.optimizer());
    optimizer_->load(state);
    for (const Parameter& p : objective_.parameters()) read_tensor(state, "objective." + p.name, p.tensor.detach());
    best_.clear();
    for (const Parameter& p : optimizer_->parameters())
        if (early_.keep_best && state.find("best." + p.name)) {
            best_.push_back(at::empty_like(p.tensor.detach()));
            read_tensor(state, "best." + p.name, best_.back());
        }
    step_ = checkpoint.state.step;
    const Json& details = checkpoint.state.details;
    const std::string name = (checkpoint.folder / "state.json").string();
    restore_curriculum(curriculum_, json_at<Json>(details, "curriculum", name), name);
    best_score_ = json_at<double>(details, "best_score", name);
    gained_score_ = json_or<double>(details, "gained_score", best_score_, name);
    best_step_ = json_or<std::int64_t>(details, "best_step", 0, name);
    evaluations_without_gain_ = json_at<std::int64_t>(details, "evaluations_without_gain", name);
}

/// A step that the device was given, and its numbers on their way.
struct Trainer::TakenStep {
    StepReport report;
    StepSums sums;
    GradientNorms norms;
    NumbersOnTheWay numbers;
    Clock::time_point start{};
};

Trainer::~Trainer() = default;

StepReport Trainer::train_step() {
    give_step([] {});
    return *read_step();
}

/// `before_update` is called when all of the step but its update was given; alone, also when that failed.
void Trainer::give_step(const std::function<void()>& before_update) {
    const std::int64_t tried = step_ + 1;
    const auto tell_of_before = [&] {  // what is known of the step before comes first
        try {
            if (group_.size() == 1) before_update();
        } catch (const c10::Error&) {  // the device itself is gone
        }
    };
    try {
        take_step(before_update);
    } catch (const c10::Error& error) {
        const auto shortage = shortage_of(error, encoder_.device());
        if (!shortage) {
            tell_of_before();
            throw;
        }
        lowered_.reset();
        optimizer_->zero_grad();
        if (group_.size() == 1) before_update();  // the other ranks are at something else
        throw Error(
            ExitCode::out_of_memory,
            fmt::format(
                "{} is out of memory at step {}, in a batch of at most {} pairs; the step is not taken, the last checkpoint stands: "
                "set objective.gradient_cache_chunk to a part of the batch, training.activation_checkpointing to true, or lower "
                "training.batch_size or training.batch_tokens ({})",
                encoder_.device().str(), tried, settings_.batch_size, *shortage));
    } catch (...) {
        tell_of_before();
        throw;
    }
}

void Trainer::take_step(const std::function<void()>& before_update) {
    const auto start = Clock::now();
    StepSums sums;
    double temperature = 0;
    const Bf16Products products(settings_.bf16);
    if (lowers_products()) lowered_ = encoder_.lowered(at::kBFloat16);
    tools_.in_precision = lowered_ ? lowered_.get() : &encoder_;
    tools_.step = step_;
    tools_.batches = step_ + 1 == total_steps_ ? last_batches_ : settings_.accumulate;
    for (std::int64_t i = 0; i < tools_.batches; ++i) {
        const BatchPlan plan = next_plan();
        if (!plan.task.empty()) ++sums.batches_of[plan.task];
        temperature += plan.temperature * tools_.part();
        sums.pairs += static_cast<std::int64_t>(plan.items.size());
        way_->add_batch(plan, i + 1 == tools_.batches, sums);
    }
    optimizer_->send_rest(sums.used);  // before_update() waits for the hosts of the others
    before_update();
    const double learning_rate = learning_rate_at(settings_.schedule, settings_.learning_rate, step_, warmup_steps_, total_steps_);
    const at::Tensor norm = optimizer_->step(learning_rate, settings_.max_grad_norm, sums.used);
    lowered_.reset();
    ++step_;
    unread_ = taken(std::move(sums), norm);
    unread_->report.temperature = temperature;
    unread_->report.learning_rate = learning_rate;
    optimizer_->zero_grad();
    unread_->start = start;
}

/// The one place of a step where numbers leave an accelerator.
std::unique_ptr<Trainer::TakenStep> Trainer::taken(StepSums sums, const at::Tensor& norm) const {
    std::vector<at::Tensor> numbers{norm};
    for (const LossSums* part : {&sums.whole, &sums.share}) {
        numbers.push_back(part->loss);
        for (const auto& [task, batches] : sums.batches_of)
            numbers.push_back(part->tasks.contains(task) ? part->tasks.at(task) : at::Tensor());
        for (const auto& [name, value] : part->parts) numbers.push_back(value);
    }
    const GradientNorms& norms = optimizer_->norms();
    if (norms.each.defined()) numbers.push_back(norms.each);
    StepReport report;
    report.step = step_;
    report.total_steps = total_steps_;
    report.pairs = sums.pairs;
    report.tokens = sums.tokens;
    return std::make_unique<TakenStep>(report, std::move(sums), norms, NumbersOnTheWay(numbers));
}

/// Whether nobody waits for a step's numbers before the next step is under way.
bool Trainer::reads_late() const { return is_accelerator(encoder_.device()); }

/// The numbers of the step whose numbers nobody has read, if there is one. Errors: they are not finite.
std::optional<StepReport> Trainer::read_step() {
    if (!unread_) return std::nullopt;
    const std::unique_ptr<TakenStep> step = std::move(unread_);
    StepReport& report = step->report;
    const std::vector<double> values = step->numbers.values();
    const auto norms = values.end() - static_cast<std::ptrdiff_t>(step->norms.parameters.size());
    auto value = values.begin();
    report.grad_norm = *value++;
    report.loss = *value++;
    for (const auto& [task, batches] : step->sums.batches_of) report.task_losses[task] = *value++;
    for (const auto& [name, ignored] : step->sums.whole.parts) report.parts[name] = *value++;
    add_share(step->sums.share, {value, norms}, step->sums, report);
    for (auto& [task, loss] : report.task_losses) loss /= step->sums.batches_of.at(task);
    report.seconds = seconds_since(std::max(step->start, last_read_));
    last_read_ = Clock::now();
    check_finite(report, *step, {norms, values.end()});
    return report;
}

/// What the ranks have of a step, each of its own share, added up: the loss, those of the tasks, the parts. Ranks that had none do not know
/// the names of the parts, and have no use for them.
void Trainer::add_share(const LossSums& share, const std::vector<double>& values, const StepSums& sums, StepReport& report) const {
    std::vector<double> own;
    if (group_.rank() < sums.busy_ranks || group_.size() == 1) {
        own = {static_cast<double>(sums.tokens)};
        own.insert(own.end(), values.begin(), values.end());
    }
    const at::Tensor column = at::tensor(own, at::kDouble).view({-1, 1});
    const std::vector<std::int64_t> counts(static_cast<std::size_t>(group_.size()), column.size(0));
    const bool known = sums.busy_ranks == group_.size();  // else some do not know how many the others send
    const at::Tensor rows = known ? group_.all_gather_rows(column, counts) : group_.all_gather_rows(column);
    const at::Tensor total = rows.view({group_.size() == 1 ? 1 : sums.busy_ranks, -1}).sum(0).contiguous();
    const auto* value = total.data_ptr<double>();
    report.tokens = static_cast<std::int64_t>(*value++);
    report.loss += *value++;
    for (auto& [task, loss] : report.task_losses) loss += *value++;
    for (const auto& [name, ignored] : share.parts) report.parts[name] += *value++;
}

/// A weight that holds a number that is none: those that the training makes are left as they were before they become so.
std::optional<std::string> Trainer::damaged_weight() const {
    const at::NoGradGuard no_grad;
    std::vector<Parameter> all = encoder_.parameters();
    for (Parameter& p : trained()) all.push_back(std::move(p));
    for (const Parameter& p : all)
        if (!at::isfinite(p.tensor).all().item<bool>()) return p.name;
    return std::nullopt;
}

/// Ends the run where the step's numbers are none: the optimiser has left the weights as they were, and nothing is saved.
void Trainer::check_finite(const StepReport& report, const TakenStep& taken, std::span<const double> norms) const {
    if (std::isfinite(report.loss) && std::isfinite(report.grad_norm)) return;
    std::vector<std::string> tasks;
    for (const auto& [task, loss] : report.task_losses) tasks.push_back(task);
    const std::string batches = tasks.empty() ? "a batch of several tasks" : "task " + join(tasks, ", ");
    const char* advice = "lower training.learning_rate, set training.max_grad_norm, or look for empty or broken texts";
    if (const auto damaged = damaged_weight())
        throw failure(
            "the loss is not finite at step {}, because the weights are not: {} holds numbers that are none; the model that the "
            "training began with is damaged, or its precision too low",
            report.step, *damaged);
    if (!std::isfinite(report.loss))
        throw failure("the loss is {} at step {} ({}); the step is not taken, the last checkpoint stands: {}",
                      std::isnan(report.loss) ? std::abs(report.loss) : report.loss /* without a sign */, report.step, batches, advice);
    throw failure("the gradient is not finite at step {} ({}): {}; the step is not taken, the last checkpoint stands: {}", report.step,
                  batches, where_not_finite(taken, norms), advice);
}

/// The groups of parameters whose gradients have a norm that is not finite, with the first of each.
std::string Trainer::where_not_finite(const TakenStep& taken, std::span<const double> norms) const {
    std::map<std::string, std::pair<std::string, std::size_t>> groups;
    for (const Parameter& p : optimizer_->not_finite(taken.norms, norms)) {
        const std::string group = adapter_ >= 0                   ? "the low-rank adapter"
                                  : p.owner.adapter != Path::none ? fmt::format("low-rank adapter {}", p.owner.adapter)
                                  : p.owner.expert != Path::none  ? fmt::format("expert {}", p.owner.expert)
                                                                  : "the shared weights";
        auto& [first, count] = groups.emplace(group, std::pair(p.name, std::size_t{0})).first->second;
        ++count;
    }
    if (groups.empty()) return "its norm is not, though that of each parameter is: its numbers are too large";
    std::vector<std::string> named;
    for (const auto& [group, found] : groups)
        named.push_back(
            fmt::format("{} ({}{})", group, found.first, found.second > 1 ? fmt::format(" and {} more", found.second - 1) : ""));
    return join(named, ", ");
}

CheckpointState Trainer::state() const {
    return {stage_index_,
            step_,
            {{"curriculum", curriculum_.state()},
             {"best_score", best_score_},
             {"gained_score", gained_score_},
             {"best_step", best_step_},
             {"evaluations_without_gain", evaluations_without_gain_}}};
}

void Trainer::save(const TrainerEvents& events) const {
    if (events.checkpoint && (group_.rank() == 0 || optimizer_->is_sharded())) events.checkpoint(state(), optimizer_state());
    group_.barrier();
}

void Trainer::judge(const TrainerEvents& events, Verdict& verdict) const {
    verdict.score = events.evaluate(step_);
    constexpr double rounding = 1e-9;  // of sums in another order, in percent: no better score
    verdict.better = verdict.score > best_score_ + rounding;
    verdict.gained = verdict.score > gained_score_ + std::max(early_.min_delta, rounding);
    verdict.enough = early_.on && !verdict.gained && evaluations_without_gain_ + 1 >= early_.patience;
}

bool Trainer::is_judged(const TrainerEvents& events) const {
    if (settings_.evaluate_every_steps == 0 || !events.evaluate) return false;
    const bool last = step_ == total_steps_ && best_step_ > 0;  // else its weights would be left for older ones unseen
    return last || step_ % settings_.evaluate_every_steps == 0;
}

/// Rank 0 evaluates and judges; a rank that is asked to stop makes all of them stop at this step.
Trainer::Verdict Trainer::agree(const TrainerEvents& events) {
    const bool judged = is_judged(events);
    Verdict v;
    if (judged && group_.rank() == 0) judge(events, v);
    if (judged && group_.rank() != 0 && events.serve) events.serve();
    v.stop = step_ < total_steps_ && !v.enough && events.should_stop();
    v.save = group_.rank() == 0 && events.checkpoint_wanted();
    if (group_.size() > 1) {
        at::Tensor sums =
            at::tensor({double(v.stop), double(v.save), double(v.better), double(v.gained), double(v.enough), v.score}, at::kDouble);
        group_.all_reduce_sum(sums, judged ? Patience::work : Patience::step);
        const auto* sum = sums.data_ptr<double>();
        v = {sum[0] > 0 && sum[4] == 0, sum[1] > 0, sum[2] > 0, sum[3] > 0, sum[4] > 0, sum[5]};
    }
    if (v.better) {
        best_score_ = v.score;
        keep_best();
    }
    if (v.gained) gained_score_ = v.score;
    if (judged) evaluations_without_gain_ = v.gained ? 0 : evaluations_without_gain_ + 1;
    return v;
}

TrainOutcome Trainer::run(const TrainerEvents& events) {
    const TrainOutcome outcome = run_steps(events);
    for (const Parameter& p : optimizer_->parameters())
        if (adapter_ >= 0) p.tensor.requires_grad_(false);  // frozen for the stages behind it
    if (outcome != TrainOutcome::stopped) take_best();
    return outcome;
}

TrainOutcome Trainer::run_steps(const TrainerEvents& events) {
    if (early_.on && step_ < total_steps_ && evaluations_without_gain_ >= early_.patience) return TrainOutcome::early_stopped;
    const auto tell = [&](const std::optional<StepReport>& report) {
        if (report && events.step) events.step(*report);
    };
    while (step_ < total_steps_) {
        give_step([&] { tell(read_step()); });
        const bool last = step_ == total_steps_;
        const bool due = settings_.checkpoint_every_steps > 0 && step_ % settings_.checkpoint_every_steps == 0;
        if (!reads_late() || last || due || is_judged(events)) tell(read_step());
        const Verdict verdict = agree(events);
        if (last || verdict.enough || verdict.stop || due || verdict.save) {
            tell(read_step());
            save(events);
        }
        if (verdict.enough) return TrainOutcome::early_stopped;
        if (verdict.stop) return TrainOutcome::stopped;
    }
    return TrainOutcome::finished;
}

}  // namespace faceter
