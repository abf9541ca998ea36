#include "train/trainer.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <chrono>
#include <cmath>

#include "common/error.h"
#include "model/matrix.h"

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
    s.max_grad_norm = json_or<double>(t, "max_grad_norm", s.max_grad_norm, name);
    s.dropout = json_or<double>(t, "dropout", -1, name);
    s.schedule = schedule_from_name(json_or<std::string>(t, "schedule", "cosine", name));
    s.adamw.weight_decay = json_or<double>(t, "weight_decay", s.adamw.weight_decay, name);
    s.gradient_cache_chunk = json_or<std::int64_t>(settings.at("objective"), "gradient_cache_chunk", 0, "objective");
    s.bf16 = json_or<std::string>(settings, "precision", "float32", "precision") == "bf16";
    s.seed = json_or<std::uint64_t>(settings, "seed", 1, "seed");
    return s;
}

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
    if (adapter_ >= 0) {
        sides_ = {adapter_ + 1, stage.adapt_documents ? adapter_ + 1 : 0, !stage.adapt_documents};
        encoder_.require_grad(false);
        if (sides_.documents_frozen) batcher_.freeze_documents(model_, {stage.tasks.begin(), stage.tasks.end()});
    }
    for (const Parameter& p : trained(encoder_)) p.tensor.requires_grad_(true);
    optimizer_ = std::make_unique<AdamW>(trained(encoder_), settings_.adamw);
    const std::int64_t batches = std::max<std::int64_t>(1, curriculum_.num_examples() * settings_.epochs / settings_.batch_size);
    const std::int64_t planned = curriculum_.num_batches() * settings_.epochs;   // its last step may be a short one: no example is left out
    const std::int64_t whole_epochs = planned > 0 ? (planned + settings_.accumulate - 1) / settings_.accumulate : batches / settings_.accumulate;
    total_steps_ = settings_.steps > 0 ? settings_.steps : std::max<std::int64_t>(1, whole_epochs);
    warmup_steps_ = settings_.warmup_steps >= 0 ? settings_.warmup_steps : std::llround(settings_.warmup_ratio * static_cast<double>(total_steps_));
}

std::vector<Parameter> Trainer::trained(const Encoder& encoder) const {
    return adapter_ < 0 ? encoder.parameters() : encoder.adapter_parameters(static_cast<std::size_t>(adapter_));
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
    for (std::size_t i = 0; i < best_.size(); ++i) state.push_back({"best." + optimizer_->parameters()[i].name, best_[i]});
    return state;
}

PairBatch Trainer::build(std::span<const ExampleReference> items, double temperature) const { return batcher_.build(items, temperature, sides_); }

void Trainer::restore(const Checkpoint& checkpoint) {
    const Weights state(std::vector<fs::path>{checkpoint.optimizer()});
    optimizer_->load(state);
    best_.clear();
    for (const Parameter& p : optimizer_->parameters())
        if (state.find("best." + p.name)) {
            best_.push_back(at::empty_like(p.tensor.detach()));
            state.read_float("best." + p.name, {best_.back().data_ptr<float>(), static_cast<std::size_t>(best_.back().numel())});
        }
    step_ = checkpoint.state.step;
    curriculum_.restore(checkpoint.state.details.at("curriculum"));
    best_score_ = json_at<double>(checkpoint.state.details, "best_score", "state.json");
    evaluations_without_gain_ = json_at<std::int64_t>(checkpoint.state.details, "evaluations_without_gain", "state.json");
}

at::Tensor Trainer::forward(const PairBatch& batch, RoutingTrace* trace) const {
    const EncoderConfig& config = encoder_.config();
    const bool own = settings_.dropout < 0;
    const ForwardContext context{true, settings_.seed, step_, own ? config.hidden_dropout : settings_.dropout,
                                 own ? config.attention_dropout : settings_.dropout, routing_loss_ ? trace : nullptr};
    return model_.embed(encoder_, batch.tokens, context);
}

LossResult Trainer::routing_loss(const RoutingTrace& trace, const RoutingTotals& totals) const {
    return trace.empty() ? LossResult{} : routing_loss_(trace, totals);
}

void Trainer::add_loss(const LossResult& result, StepSums& sums, double share_of_parts) const {
    if (!result.loss.defined()) return;
    const at::Tensor share = result.loss.detach() / static_cast<double>(settings_.accumulate);
    sums.loss = sums.loss.defined() ? sums.loss + share : share;
    for (const auto& [name, value] : result.parts) sums.parts[name] += value * share_of_parts;
}

void Trainer::accumulate_gradients(const BatchPlan& plan, StepSums& sums) {
    const auto pairs = static_cast<std::int64_t>(plan.items.size());
    sums.pairs += pairs;
    if (settings_.gradient_cache_chunk > 0 && pairs > settings_.gradient_cache_chunk) return cached_gradients(plan, sums);
    const PairBatch batch = build(plan.items, plan.temperature);
    sums.tokens += batch.tokens.layout->num_tokens();
    sums.experts.insert(batch.experts.begin(), batch.experts.end());
    RoutingTrace trace;
    RoutingTotals totals;
    PairEmbeddings rows = batch.assemble(forward(batch, &trace));
    rows.keep = plan.keep;
    const LossResult result = objective_(rows);
    totals.add(trace);
    const LossResult routing = routing_loss(trace, totals);
    const at::Tensor loss = routing.loss.defined() ? result.loss + routing.loss : result.loss;
    (loss / static_cast<double>(settings_.accumulate)).backward();
    add_loss(result, sums);
    add_loss(routing, sums, 1.0 / static_cast<double>(settings_.accumulate));
}

/// GradCache (Gao et al., 2021): embeddings of all chunks without a graph, gradients of the loss with respect to them, then each chunk again with its
/// part. Dropout masks are keyed by example, so both passes draw the same.
void Trainer::cached_gradients(const BatchPlan& plan, StepSums& sums) {
    const auto chunk = static_cast<std::size_t>(settings_.gradient_cache_chunk);
    std::vector<PairBatch> chunks;
    std::vector<at::Tensor> queries, documents, negatives;
    RoutingTotals totals;
    PairEmbeddings whole;
    whole.temperature = plan.temperature;
    whole.keep = plan.keep;
    for (std::size_t begin = 0; begin < plan.items.size(); begin += chunk) {
        const std::size_t count = std::min(chunk, plan.items.size() - begin);
        chunks.push_back(build({plan.items.data() + begin, count}, plan.temperature));
        const PairBatch& part = chunks.back();
        sums.tokens += part.tokens.layout->num_tokens();
        sums.experts.insert(part.experts.begin(), part.experts.end());
        const at::NoGradGuard no_grad;
        RoutingTrace trace;
        const PairEmbeddings rows = part.assemble(forward(part, &trace));
        totals.add(trace);
        queries.push_back(rows.queries);
        documents.push_back(rows.documents);
        if (rows.negatives.defined()) negatives.push_back(rows.negatives);
        const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
        for (const std::int64_t owner : part.pairs.negative_owner) whole.negative_owner.push_back(owner + static_cast<std::int64_t>(begin));
        append(whole.document_texts, part.pairs.document_texts);
        append(whole.negative_texts, part.pairs.negative_texts);
        append(whole.labels, part.pairs.labels);
    }
    whole.queries = at::cat(queries).requires_grad_();
    whole.documents = at::cat(documents).requires_grad_();
    if (!negatives.empty()) whole.negatives = at::cat(negatives).requires_grad_();
    const LossResult result = objective_(whole);
    (result.loss / static_cast<double>(settings_.accumulate)).backward();
    std::int64_t pair = 0, negative = 0;
    for (const PairBatch& part : chunks) {
        RoutingTrace trace;
        const PairEmbeddings rows = part.assemble(forward(part, &trace));
        std::vector<at::Tensor> outputs{rows.queries};
        std::vector<at::Tensor> gradients{whole.queries.grad().narrow(0, pair, part.num_pairs)};
        if (!sides_.documents_frozen) {
            outputs.push_back(rows.documents);
            gradients.push_back(whole.documents.grad().narrow(0, pair, part.num_pairs));
        }
        if (!sides_.documents_frozen && rows.negatives.defined() && whole.negatives.grad().defined()) {
            outputs.push_back(rows.negatives);
            gradients.push_back(whole.negatives.grad().narrow(0, negative, rows.negatives.size(0)));
            negative += rows.negatives.size(0);
        }
        pair += part.num_pairs;
        if (const LossResult routing = routing_loss(trace, totals); routing.loss.defined()) {
            outputs.push_back(routing.loss);
            gradients.push_back(at::full({}, 1.0 / static_cast<double>(settings_.accumulate), routing.loss.options()));
            add_loss(routing, sums, 1.0 / static_cast<double>(settings_.accumulate));
        }
        torch::autograd::backward(outputs, gradients);
    }
    add_loss(result, sums);
}

StepReport Trainer::train_step() {
    const auto start = std::chrono::steady_clock::now();
    StepReport report;
    StepSums sums;
    const Bf16Products products(settings_.bf16);
    for (std::int64_t i = 0; i < settings_.accumulate; ++i) {
        const BatchPlan plan = curriculum_.next();
        report.task = plan.task;
        report.temperature = plan.temperature;
        accumulate_gradients(plan, sums);
    }
    report.learning_rate = learning_rate_at(settings_.schedule, settings_.learning_rate, step_, warmup_steps_, total_steps_);
    const at::Tensor norm = optimizer_->step(report.learning_rate, settings_.max_grad_norm, sums.experts);
    optimizer_->zero_grad();
    report.step = ++step_;
    report.total_steps = total_steps_;
    report.loss = sums.loss.item<double>();
    report.grad_norm = norm.item<double>();
    report.tokens = sums.tokens;
    report.pairs = sums.pairs;
    report.parts = sums.parts;
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

CheckpointState Trainer::state() const {
    return {stage_index_, step_,
            {{"curriculum", curriculum_.state()}, {"best_score", best_score_}, {"evaluations_without_gain", evaluations_without_gain_}}};
}

void Trainer::save(const TrainerEvents& events) const {
    if (events.checkpoint && group_.rank() == 0) events.checkpoint(state(), optimizer_state());
    group_.barrier();
}

bool Trainer::evaluate_and_judge(const TrainerEvents& events) {
    const double score = events.evaluate(step_);
    if (score > best_score_ + early_.min_delta) {
        best_score_ = score;
        evaluations_without_gain_ = 0;
        keep_best();
    } else {
        ++evaluations_without_gain_;
    }
    return early_.on && evaluations_without_gain_ >= early_.patience;
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
            throw failure("the loss is {} at step {}; lower training.learning_rate, or look for empty or broken texts", report.loss, report.step);
        if (events.step) events.step(report);
        const bool last = step_ == total_steps_;
        const bool judged = settings_.evaluate_every_steps > 0 && step_ % settings_.evaluate_every_steps == 0 && events.evaluate;
        const bool enough = judged && evaluate_and_judge(events);
        const bool stop = !last && !enough && events.should_stop();
        const bool due = settings_.checkpoint_every_steps > 0 && step_ % settings_.checkpoint_every_steps == 0;
        if (last || enough || stop || due || events.checkpoint_wanted()) save(events);
        if (enough) return TrainOutcome::early_stopped;
        if (stop) return TrainOutcome::stopped;
    }
    return TrainOutcome::finished;
}

}  // namespace faceter
