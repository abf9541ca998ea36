#include "train/memory_forecast.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "model/shape_device.h"

namespace faceter {
namespace {

/// One batch, whenever it is asked.
class SameBatch final : public Curriculum {
  public:
    explicit SameBatch(const BatchPlan& plan) : plan_(plan) {}
    BatchPlan next() override { return plan_; }
    std::int64_t num_examples() const override { return static_cast<std::int64_t>(plan_.items.size()); }
    Json state() const override { return Json::object(); }
    void restore(const Json&) override {}

  private:
    const BatchPlan& plan_;
};

/// The first of several processes: what comes from the others has its shape. Takes what GlooGroup takes. `busy`: so many of them have a
/// share of the batch.
class ShapeGroup final : public ProcessGroup {
  public:
    using ProcessGroup::all_reduce_sum;
    ShapeGroup(int size, std::int64_t busy) : size_(size), busy_(busy) {}
    int rank() const override { return 0; }
    int size() const override { return size_; }
    at::Tensor all_gather_rows(const at::Tensor& rows) override {
        std::vector<std::int64_t> counts(static_cast<std::size_t>(size_), 0);
        std::fill_n(counts.begin(), std::min<std::int64_t>(busy_, size_), rows.size(0));
        return all_gather_rows(rows, counts);
    }
    at::Tensor all_gather_rows(const at::Tensor& rows, const std::vector<std::int64_t>& counts) override {
        if (size_ == 1) return rows.detach();
        const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
        std::vector<std::int64_t> shape = rows.sizes().vec();
        shape[0] = *most;
        const at::Tensor padded = rows.size(0) < *most ? at::zeros(shape, rows.options()) : rows.detach().contiguous();
        shape[0] = *most * size_;
        const at::Tensor all = at::zeros(shape, rows.options());
        if (*least == *most) return all;
        std::vector<at::Tensor> parts;
        for (std::size_t r = 0; r < counts.size(); ++r) parts.push_back(all.narrow(0, static_cast<std::int64_t>(r) * *most, counts[r]));
        return at::cat(parts);
    }
    void all_reduce_sum(at::Tensor&, Patience) override {}
    at::Tensor reduce_scatter_sum(const at::Tensor& values) override { return at::zeros({values.numel() / size_}, values.options()); }
    std::unique_ptr<PendingSum> start_all_reduce_sum(const at::Tensor& values) override { return std::make_unique<Sum>(values, values); }
    std::unique_ptr<PendingSum> start_reduce_scatter_sum(const at::Tensor& values) override {
        return std::make_unique<Sum>(values, reduce_scatter_sum(values));
    }
    at::Tensor all_gather_parts(const at::Tensor& part) override { return at::zeros({part.numel() * size_}, part.options()); }
    void barrier() override {}
    void fail(const std::string&) override {}

  private:
    /// Keeps what is sent until it has arrived.
    struct Sum final : PendingSum {
        Sum(at::Tensor s, at::Tensor r) : sent(std::move(s)), result(std::move(r)) {}
        at::Tensor wait() override {
            sent = at::Tensor();
            return result;
        }
        at::Tensor sent, result;
    };
    int size_;
    std::int64_t busy_;
};

/// Adds up the bytes of the gradients that backward comes to, each parameter's once. Beside the hooks that the optimiser has.
void count_gradients(const std::vector<Parameter>& parameters, std::uint64_t& bytes) {
    for (const Parameter& p : parameters)
        p.tensor.register_hook([&bytes, seen = std::make_shared<bool>(false)](const at::Tensor& gradient) {
            if (gradient.defined()) bytes += std::exchange(*seen, true) ? 0 : gradient.nbytes();
        });
}

}  // namespace

std::unique_ptr<EmbeddingModel> shapes_of(const EmbeddingModel& model) {
    auto shapes = std::make_unique<EmbeddingModel>();
    shapes->folder = model.folder;
    shapes->tokenizer = model.tokenizer;
    shapes->max_length = model.max_length;
    shapes->tasks = model.tasks;
    shapes->routes = model.routes;
    for (const auto& encoder : model.encoders) {
        if (encoder->device().is_meta()) {
            shapes->encoders.push_back(encoder->clone());
            continue;
        }
        shapes->encoders.push_back(std::make_unique<Encoder>(*encoder));  // shares its tensors until it has moved
        shapes->encoders.back()->move_to(c10::kMeta);
    }
    return shapes;
}

MemoryForecast forecast_memory(const EmbeddingModel& model, const ForecastStage& stage, const BatchPlan& plan) {
    TrainingSettings settings = stage.settings;
    settings.accumulate = std::min<std::int64_t>(settings.accumulate, 2);  // the third batch finds what the second has found
    settings.steps = 1;
    const ShapeDevice device;
    MemoryForecast forecast;
    const auto shapes = shapes_of(model);
    const auto objective = stage.objective(*shapes);
    forecast.weights = device.held();
    SameBatch batches(plan);
    ShapeGroup group(stage.ranks, static_cast<std::int64_t>(plan.items.size()));
    Trainer trainer(*shapes, stage.stage, 0, stage.batcher, batches, *objective, settings, EarlyStopping{}, group);
    forecast.moments = device.held() - forecast.weights;
    for (const Parameter& p : trainer.optimizer().parameters()) forecast.parameters += p.tensor.numel();
    std::vector<at::Tensor> best;  // of an evaluation behind an earlier step
    for (const Parameter& p : trainer.optimizer().parameters())
        if (stage.keeps_best) best.push_back(at::empty_like(p.tensor.detach()));
    forecast.weights = device.held() - forecast.moments;
    count_gradients(trainer.optimizer().parameters(), forecast.gradients);
    trainer.train_step();
    forecast.most = device.most();
    return forecast;
}

BatchPlan longest_pairs(const CurriculumContext& context, const PairBatcher& batcher, std::int64_t hidden_dim, bool negatives,
                        std::int64_t count) {
    PairBatcher::Sides sides;
    sides.negatives = negatives;
    BatchPlan longest;
    double most = -1;
    for (const Task& task : context.tasks) {
        std::vector<ExampleReference> examples;
        for (std::size_t s = 0; s < context.sets.size(); ++s)
            if (context.sets[s]->task == task.name)
                for (const ExampleReference& one : examples_of(context, s)) examples.push_back(one);
        const std::vector<double> work = batcher.work_of(examples, sides, hidden_dim);
        std::vector<std::size_t> order(examples.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return work[a] > work[b]; });
        const auto last = order.begin() + std::min(static_cast<std::ptrdiff_t>(order.size()), static_cast<std::ptrdiff_t>(count));
        const double sum = std::accumulate(order.begin(), last, 0.0, [&](double all, auto i) { return all + work[i]; });
        if (order.empty() || sum <= most) continue;
        most = sum;
        longest.task = task.name;
        longest.items.clear();
        for (const std::size_t i : order) longest.items.push_back(examples[i]);
    }
    return longest;
}

std::int64_t largest_batch(std::uint64_t bytes, std::int64_t limit, const std::function<std::uint64_t(std::int64_t pairs)>& bytes_of) {
    std::int64_t fits = 0, beyond = limit + 1;
    for (std::int64_t pairs = 1; pairs < beyond; pairs *= 2) bytes_of(pairs) <= bytes ? fits = pairs : beyond = pairs;
    while (fits + 1 < beyond) {
        const std::int64_t middle = fits + (beyond - fits) / 2;
        bytes_of(middle) <= bytes ? fits = middle : beyond = middle;
    }
    return fits;
}

}  // namespace faceter
