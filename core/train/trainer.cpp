#include "train/trainer.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <chrono>
#include <cmath>

#include "common/error.h"
#include "model/device.h"
#include "model/matrix.h"
#include "model/mlm_head.h"
#include "train/balance.h"
#include "train/token_objective.h"

namespace faceter {

TrainingSettings TrainingSettings::from_json(const Json& settings) {
    const std::string name = "training";
    const Json t = settings.at("training");
    TrainingSettings s;
    const auto integer = [&](const char* key, std::int64_t fallback) { return json_or<std::int64_t>(t, key, fallback, name); };
    s.batch_size = integer("batch_size", s.batch_size);
    s.epochs = integer("epochs", s.epochs);
    s.steps = integer("steps", 0);
    s.accumulate = integer("accumulate", 1);
    s.checkpoint_every_steps = integer("checkpoint_every_steps", s.checkpoint_every_steps);
    s.evaluate_every_steps = integer("evaluate_every_steps", 0);
    s.learning_rate = json_or<double>(t, "learning_rate", s.learning_rate, name);
    s.warmup_ratio = json_or<double>(t, "warmup_ratio", s.warmup_ratio, name);
    s.warmup_steps = integer("warmup_steps", -1);
    s.lengths = {static_cast<std::size_t>(integer("query_length", 0)), static_cast<std::size_t>(integer("document_length", 0))};
    s.activation_checkpointing = json_or<bool>(t, "activation_checkpointing", false, name);
    s.max_grad_norm = json_or<double>(t, "max_grad_norm", s.max_grad_norm, name);
    s.dropout = json_or<double>(t, "dropout", -1, name);
    s.schedule = schedule_from_name(json_or<std::string>(t, "schedule", "cosine", name));
    s.sharding = json_or<std::string>(t, "sharding", "none", name) == "zero2" ? Sharding::zero2 : Sharding::none;
    s.adamw.weight_decay = json_or<double>(t, "weight_decay", s.adamw.weight_decay, name);
    s.gradient_cache_chunk = json_or<std::int64_t>(settings.at("objective"), "gradient_cache_chunk", 0, "objective");
    s.bf16 = json_or<std::string>(settings, "precision", "float32", "precision") == "bf16";
    s.seed = json_or<std::uint64_t>(settings, "seed", 1, "seed");
    return s;
}

namespace {

const TokenObjective* on_tokens(const Objective& objective) { return dynamic_cast<const TokenObjective*>(&objective); }

/// What an objective on tokens cannot be asked for.
void check_tokens(const Objective& objective, const Stage& stage) {
    if (on_tokens(objective) && stage.adapter >= 0)
        throw settings_error(
            "stage '{}' trains a low-rank adapter, but its objective is one on tokens, which trains the encoder itself; pre-train in a "
            "stage of a dense variant",
            stage.name);
}

ForwardContext training_pass(const EncoderConfig& config, const TrainingSettings& settings, std::int64_t step, RoutingTrace* trace) {
    const bool own = settings.dropout < 0;
    return {true,
            settings.seed,
            step,
            own ? config.hidden_dropout : settings.dropout,
            own ? config.attention_dropout : settings.dropout,
            trace,
            settings.activation_checkpointing};
}

}  // namespace

Trainer::Trainer(EmbeddingModel& model, const Stage& stage, std::size_t stage_index, const PairBatcher& batcher, Curriculum& curriculum,
                 const Objective& objective, const TrainingSettings& settings, const EarlyStopping& early, ProcessGroup& group)
    : model_(model),
      encoder_(*model.encoders[static_cast<std::size_t>(stage.encoder)]),
      stage_index_(stage_index),
      routing_loss_(stage.routing_loss),
      adapter_(stage.adapter),
      batcher_(batcher),
      curriculum_(curriculum),
      objective_(objective),
      settings_(settings),
      early_(early),
      group_(group) {
    check_tokens(objective, stage);
    if (adapter_ >= 0) {
        sides_ = {adapter_ + 1, stage.adapt_documents ? adapter_ + 1 : 0, !stage.adapt_documents};
        encoder_.require_grad(false);
        if (sides_.documents_frozen) batcher_.freeze_documents(model_, {stage.tasks.begin(), stage.tasks.end()}, group_);
    }
    for (const Parameter& p : trained(encoder_)) p.tensor.requires_grad_(true);
    optimizer_ = std::make_unique<GroupAdamW>(trained(encoder_), settings_.adamw, group_, settings_.sharding);
    const at::Tensor words = word_embeddings(encoder_);
    if (!on_tokens(objective_) && optimizer_->sends_rows_of(words)) word_table_ = words;
    const std::int64_t batches = std::max<std::int64_t>(1, curriculum_.num_examples() * settings_.epochs / settings_.batch_size);
    const std::int64_t planned = curriculum_.num_batches() * settings_.epochs;  // its last step may be a short one: no example is left out
    const std::int64_t whole_epochs =
        planned > 0 ? (planned + settings_.accumulate - 1) / settings_.accumulate : batches / settings_.accumulate;
    total_steps_ = settings_.steps > 0 ? settings_.steps : std::max<std::int64_t>(1, whole_epochs);
    warmup_steps_ =
        settings_.warmup_steps >= 0 ? settings_.warmup_steps : std::llround(settings_.warmup_ratio * static_cast<double>(total_steps_));
}

std::vector<Parameter> Trainer::trained(const Encoder& encoder) const {
    std::vector<Parameter> all = adapter_ < 0 ? encoder.parameters() : encoder.adapter_parameters(static_cast<std::size_t>(adapter_));
    if (const TokenObjective* tokens = on_tokens(objective_))
        for (Parameter& p : tokens->parameters()) all.push_back(std::move(p));
    return all;
}

void Trainer::keep_best() {
    if (!early_.keep_best || adapter_ < 0) return;
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
    if (const TokenObjective* tokens = on_tokens(objective_))
        for (const Parameter& p : tokens->parameters()) state.push_back({"objective." + p.name, p.tensor.detach()});
    for (std::size_t i = 0; i < best_.size(); ++i) state.push_back({"best." + optimizer_->parameters()[i].name, best_[i]});
    return state;
}

BatchPlan Trainer::next_plan() {
    BatchPlan plan = curriculum_.next();
    if (group_.size() > 1) balance_shares(plan, batcher_.work_of(plan.items, sides_, encoder_.config().hidden_dim), group_.size());
    return plan;
}

PairBatch Trainer::build(std::span<const ExampleReference> items, double temperature) const {
    return batcher_.build(items, temperature, sides_);
}

void Trainer::restore(const Checkpoint& checkpoint) {
    const Weights state(checkpoint.optimizer());
    optimizer_->load(state);
    if (const TokenObjective* tokens = on_tokens(objective_))
        for (const Parameter& p : tokens->parameters()) read_tensor(state, "objective." + p.name, p.tensor.detach());
    best_.clear();
    for (const Parameter& p : optimizer_->parameters())
        if (state.find("best." + p.name)) {
            best_.push_back(at::empty_like(p.tensor.detach()));
            read_tensor(state, "best." + p.name, best_.back());
        }
    step_ = checkpoint.state.step;
    curriculum_.restore(checkpoint.state.details.at("curriculum"));
    best_score_ = json_at<double>(checkpoint.state.details, "best_score", "state.json");
    evaluations_without_gain_ = json_at<std::int64_t>(checkpoint.state.details, "evaluations_without_gain", "state.json");
}

at::Tensor Trainer::forward(const PairBatch& batch, RoutingTrace* trace) const {
    return model_.embed(in_precision(), batch.tokens, training_pass(encoder_.config(), settings_, step_, routing_loss_ ? trace : nullptr));
}

LossResult Trainer::routing_loss(const RoutingTrace& trace, const RoutingTotals& totals) const {
    return trace.empty() ? LossResult{} : routing_loss_(trace, totals);
}

void Trainer::add_loss(const LossResult& result, LossSums& sums, double share_of_parts) const {
    if (!result.loss.defined()) return;
    const auto add = [](at::Tensor& sum, const at::Tensor& value, double times) {
        const at::Tensor own = value.detach().to(at::kDouble) * times;
        sum = sum.defined() ? sum + own : own;
    };
    add(sums.loss, result.loss, 1.0 / static_cast<double>(settings_.accumulate));
    for (const auto& [name, value] : result.parts) add(sums.parts[name], value, share_of_parts);
}

void Trainer::accumulate_gradients(const BatchPlan& plan, bool last, StepSums& sums) {
    const auto pairs = static_cast<std::int64_t>(plan.items.size());
    sums.pairs += pairs;
    if (const TokenObjective* tokens = on_tokens(objective_)) return token_gradients(*tokens, plan, last, sums);
    if (group_.size() > 1 || (settings_.gradient_cache_chunk > 0 && pairs > settings_.gradient_cache_chunk))
        return cached_gradients(plan, last, sums);
    const PairBatch batch = build(plan.items, plan.temperature);
    sums.tokens += batch.tokens.layout->num_tokens();
    for (const Segment& segment : batch.tokens.layout->segments()) sums.experts.insert(segment.expert);
    RoutingTrace trace;
    RoutingTotals totals;
    PairEmbeddings rows = batch.assemble(forward(batch, &trace));
    rows.keep = plan.keep;
    const LossResult result = objective_(rows);
    totals.add(trace);
    const LossResult routing = routing_loss(trace, totals);
    const at::Tensor loss = routing.loss.defined() ? result.loss + routing.loss : result.loss;
    (loss / static_cast<double>(settings_.accumulate)).backward();
    add_loss(result, sums.whole);
    add_loss(routing, sums.share, 1.0 / static_cast<double>(settings_.accumulate));
}

/// A loss on tokens: each rank has the texts of its share, and its mean counts for as many tokens as it is over.
void Trainer::token_gradients(const TokenObjective& tokens, const BatchPlan& plan, bool last, StepSums& sums) {
    const auto pairs = static_cast<std::int64_t>(plan.items.size());
    const Share share = share_of(pairs, group_.rank(), group_.size());
    sums.busy_ranks = std::max(sums.busy_ranks, static_cast<int>(std::min<std::int64_t>(group_.size(), pairs)));
    if (group_.size() > 1) {
        const std::set<int> experts = batcher_.outline(plan.items, plan.temperature, sides_).experts;
        sums.experts.insert(experts.begin(), experts.end());
    }
    RoutingTrace trace;
    RoutingTotals totals;
    LossResult result;
    if (share.size() > 0) {
        const PairBatch batch = build({plan.items.data() + share.begin, static_cast<std::size_t>(share.size())}, plan.temperature);
        sums.experts.insert(batch.experts.begin(), batch.experts.end());
        const PackedBatch texts = tokens.texts_of(batch);
        sums.tokens += texts.layout->num_tokens();
        result = tokens.loss(in_precision(), texts, training_pass(encoder_.config(), settings_, step_, routing_loss_ ? &trace : nullptr));
        totals.add(trace);
    }
    sum_over_ranks(totals);
    at::Tensor count = at::full({1}, result.count, at::kDouble);
    group_.all_reduce_sum(count);
    if (share.size() == 0) return;
    const double total = count.item<double>(), part = 1.0 / static_cast<double>(settings_.accumulate);
    result.loss = result.loss * (result.count / std::max(1.0, total));
    for (auto& [name, mean] : result.parts) mean = mean * (result.count / std::max(1.0, total));
    result.parts[tokens.counted()] = at::scalar_tensor(result.count, at::kDouble);
    const LossResult routing = routing_loss(trace, totals);
    if (last) optimizer_->send_while_backward(sums.experts);
    ((routing.loss.defined() ? result.loss + routing.loss : result.loss) * part).backward();
    add_loss(result, sums.share, part);
    add_loss(routing, sums.share, part);
}

StepReport Trainer::train_step() {
    const auto start = std::chrono::steady_clock::now();
    StepSums sums;
    if (word_table_.defined()) sums.used_tokens.assign(static_cast<std::size_t>(word_table_.size(0)), 0);
    std::string task;
    double temperature = 0;
    const Bf16Products products(settings_.bf16);
    if (settings_.bf16 && ops_form(encoder_.parameters().front().tensor) == OpsForm::device) lowered_ = encoder_.lowered(at::kBFloat16);
    for (std::int64_t i = 0; i < settings_.accumulate; ++i) {
        const BatchPlan plan = next_plan();
        task = plan.task;
        temperature = plan.temperature;
        accumulate_gradients(plan, i + 1 == settings_.accumulate, sums);
    }
    const double learning_rate = learning_rate_at(settings_.schedule, settings_.learning_rate, step_, warmup_steps_, total_steps_);
    const at::Tensor norm = optimizer_->step(learning_rate, settings_.max_grad_norm, sums.experts);
    optimizer_->zero_grad();
    lowered_.reset();
    ++step_;
    StepReport report = read(sums, norm);
    report.task = task;
    report.temperature = temperature;
    report.learning_rate = learning_rate;
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

/// The one place of a step where the host waits for an accelerator.
StepReport Trainer::read(const StepSums& sums, const at::Tensor& norm) const {
    std::vector<at::Tensor> scalars{norm, sums.whole.loss, sums.share.loss};
    for (const LossSums* part : {&sums.whole, &sums.share})
        for (const auto& [name, value] : part->parts) scalars.push_back(value);
    const std::vector<double> values = read_scalars(scalars);
    auto value = values.begin() + 3;
    StepReport report;
    report.step = step_;
    report.total_steps = total_steps_;
    report.grad_norm = values[0];
    report.loss = values[1];
    report.tokens = sums.tokens;
    report.pairs = sums.pairs;
    for (const auto& [name, ignored] : sums.whole.parts) report.parts[name] = *value++;
    std::map<std::string, double> share;
    for (const auto& [name, ignored] : sums.share.parts) share[name] = *value++;
    add_share(share, values[2], sums, report);
    return report;
}

CheckpointState Trainer::state() const {
    return {stage_index_,
            step_,
            {{"curriculum", curriculum_.state()}, {"best_score", best_score_}, {"evaluations_without_gain", evaluations_without_gain_}}};
}

void Trainer::save(const TrainerEvents& events) const {
    if (events.checkpoint && (group_.rank() == 0 || optimizer_->is_sharded())) events.checkpoint(state(), optimizer_state());
    group_.barrier();
}

void Trainer::judge(const TrainerEvents& events, Verdict& verdict) const {
    verdict.score = events.evaluate(step_);
    verdict.better = verdict.score > best_score_ + early_.min_delta;
    verdict.enough = early_.on && !verdict.better && evaluations_without_gain_ + 1 >= early_.patience;
}

/// Rank 0 evaluates and judges; a rank that is asked to stop makes all of them stop at this step.
Trainer::Verdict Trainer::agree(const TrainerEvents& events) {
    const bool judged = settings_.evaluate_every_steps > 0 && step_ % settings_.evaluate_every_steps == 0 && events.evaluate;
    Verdict v;
    if (judged && group_.rank() == 0) judge(events, v);
    if (judged && group_.rank() != 0 && events.serve) events.serve();
    v.stop = step_ < total_steps_ && !v.enough && events.should_stop();
    v.save = group_.rank() == 0 && events.checkpoint_wanted();
    if (group_.size() > 1) {
        at::Tensor sums = at::tensor({double(v.stop), double(v.save), double(v.better), double(v.enough), v.score}, at::kDouble);
        group_.all_reduce_sum(sums, judged ? Patience::work : Patience::step);
        const auto* sum = sums.data_ptr<double>();
        v = {sum[0] > 0 && sum[3] == 0, sum[1] > 0, sum[2] > 0, sum[3] > 0, sum[4]};
    }
    if (v.better) {
        best_score_ = v.score;
        evaluations_without_gain_ = 0;
        keep_best();
    } else if (judged) {
        ++evaluations_without_gain_;
    }
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
    while (step_ < total_steps_) {
        const StepReport report = train_step();
        if (!std::isfinite(report.loss))
            throw failure("the loss is {} at step {}; lower training.learning_rate, or look for empty or broken texts", report.loss,
                          report.step);
        if (events.step) events.step(report);
        const bool last = step_ == total_steps_;
        const Verdict verdict = agree(events);
        const bool due = settings_.checkpoint_every_steps > 0 && step_ % settings_.checkpoint_every_steps == 0;
        if (last || verdict.enough || verdict.stop || due || verdict.save) save(events);
        if (verdict.enough) return TrainOutcome::early_stopped;
        if (verdict.stop) return TrainOutcome::stopped;
    }
    return TrainOutcome::finished;
}

}  // namespace faceter
