#include "plugin/merged_variant.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "common/error.h"
#include "common/strings.h"
#include "eval/tasks.h"
#include "model/model_shape.h"
#include "plugin/run_model.h"
#include "record/merged_run.h"
#include "record/start_fingerprint.h"

namespace faceter {
namespace {

/// float64 copies of all weights, in the order of tensors_of().
using Values = std::vector<at::Tensor>;

/// As the model computes with them: named_tensors() are those of a checkpoint, some of which are turned copies.
std::vector<at::Tensor> tensors_of(const EmbeddingModel& model) {
    std::vector<at::Tensor> all;
    for (const auto& encoder : model.encoders) {
        for (const Parameter& p : encoder->parameters()) all.push_back(p.tensor.detach());
        for (const Block& block : encoder->blocks())
            if (block.dense)
                for (const at::Tensor& t : block.dense->tensors()) all.push_back(t.detach());
    }
    return all;
}

Values values_of(const EmbeddingModel& model) {
    Values values;
    for (const at::Tensor& t : tensors_of(model)) values.push_back(t.to(at::kCPU, at::kDouble, /*non_blocking=*/false, /*copy=*/true));
    return values;
}

bool have_one_shape(const EmbeddingModel& one, const EmbeddingModel& other) {
    const auto own = one.named_tensors(), wanted = other.named_tensors();
    bool same = own.size() == wanted.size();
    for (std::size_t i = 0; same && i < own.size(); ++i)
        same = own[i].name == wanted[i].name && own[i].tensor.sizes() == wanted[i].tensor.sizes();
    return same;
}

void require_same_shape(const EmbeddingModel& model, const EmbeddingModel& first, const std::string& name) {
    if (!have_one_shape(model, first))
        throw data_error("{}: its model has other tensors than the first run's; only models of one shape can be merged", name);
}

void set_values(EmbeddingModel& model, const Values& values) {
    const at::NoGradGuard no_grad;
    const auto tensors = tensors_of(model);
    for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].copy_(values[i]);
}

/// Adds `weight` times `other`.
void add(Values& sum, const Values& other, double weight) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i].add_(other[i], weight);
}

Values mean_of(const std::vector<Values>& members) {
    Values sum;
    for (const at::Tensor& t : members.front()) sum.push_back(t / static_cast<double>(members.size()));
    for (std::size_t i = 1; i < members.size(); ++i) add(sum, members[i], 1.0 / static_cast<double>(members.size()));
    return sum;
}

/// What a run has learned is its difference to what it began from, not to what lies in that place now.
void require_same_start(const RunDirectory& run, const EmbeddingModel& start) {
    if (const std::string noted = began_from(run); !noted.empty() && noted != start.fingerprint())
        throw data_error(
            "{}: the model in {} is not as it was when the run began (its tokenizer, pooling, configuration or weights differ), and the "
            "run's differences are taken to that; put it back, or use --how mean",
            run.info().shown_name(), start.folder.folder.string());
}

class Merged final : public Variant {
  public:
    explicit Merged(const Json& settings)
        : runs_(json_at<std::vector<std::string>>(settings, "runs", "variant")),
          how_(json_at<std::string>(settings, "how", "variant")),
          weight_(json_at<double>(settings, "weight", "variant")),
          fold_experts_(json_at<bool>(settings, "fold_experts", "variant")) {
        if (runs_.empty()) throw settings_error("variant.runs is empty; name the finished runs that are merged");
    }

    /// The first run's model, whose weights wait for finish().
    void prepare(EmbeddingModel& model) const override {
        auto first = open_run_model(RunDirectory(runs_.front()));
        first->widen();
        model.encoders = std::move(first->encoders);
        model.routes = std::move(first->routes);
    }

    std::vector<Stage> stages(const EmbeddingModel&) const override { return {}; }

    void finish(EmbeddingModel& model, const FinishContext& context) const override {
        std::vector<Values> members;
        for (const std::string& run : runs_) {
            if (context.phase) context.phase("read " + fs::path(run).filename().string());
            members.push_back(weights_of(run, model));
        }
        Json record = {{"how", how_}, {"parents", runs_}};
        if (how_ == "soup")
            greedy_soup(model, members, context, record);
        else
            set_values(model, how_ == "mean" ? mean_of(members) : arithmetic(members, model));
        if (fold_experts_) fold(model);
        if (context.event) context.event("merged", record);
    }

  private:
    static Values weights_of(const std::string& run, const EmbeddingModel& first) {
        const auto model = open_run_model(RunDirectory(run));
        require_same_shape(*model, first, run);
        return values_of(*model);
    }

    /// What the run's variant began from, in the form of what it left: for task experts, copies of the dense blocks; for a merged run that
    /// has these, what its parents began from.
    static std::unique_ptr<EmbeddingModel> start_model_of(const RunDirectory& run) {
        const Json settings = run.settings();
        auto start = open_start_model(settings);
        require_same_start(run, *start);
        if (settings.at("variant").at("method") == "merged") {
            if (have_one_shape(*start, *open_run_model(run))) return start;
            const Merged merged(settings.at("variant"));
            start = start_model_of(RunDirectory(first_parent_of(run)));
            if (merged.fold_experts_) fold(*start);
            return start;
        }
        const auto variant = variant_of(settings);
        variant->prepare(*start);
        if (!have_one_shape(*start, *open_run_model(run))) variant->finish(*start, unheard());  // averaged, though untrained
        return start;
    }

    static FinishContext unheard() {
        FinishContext context;
        context.phase = [](const std::string&) {};
        context.event = [](const std::string&, const Json&) {};
        return context;
    }

    static Values start_of(const std::string& run, const EmbeddingModel& first) {
        const auto start = start_model_of(RunDirectory(run));
        require_same_shape(*start, first, "the start model of " + run);
        return values_of(*start);
    }

    Values arithmetic(const std::vector<Values>& members, const EmbeddingModel& model) const {
        Values result = start_of(runs_.front(), model);
        for (std::size_t i = 0; i < members.size(); ++i) {
            add(result, members[i], weight_);
            add(result, start_of(runs_[i], model), -weight_);
        }
        return result;
    }

    static double score(EmbeddingModel& model, const Values& values, const FinishContext& context) {
        set_values(model, values);
        CachedEmbedder embedder(model);
        double sum = 0;
        for (const EvaluationSet& set : context.validation) sum += evaluate_set(embedder, set, routes_for(model, set, "")).score;
        return sum / static_cast<double>(context.validation.size());
    }

    /// By falling validation score, each is kept whose mean with those kept does not lower it.
    void greedy_soup(EmbeddingModel& model, const std::vector<Values>& members, const FinishContext& context, Json& record) const {
        if (context.validation.empty())
            throw data_error(
                "a greedy soup chooses by validation data, and no task has any here; give tasks.*.validation, or merge by mean");
        std::vector<double> alone;
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (context.phase) context.phase(fmt::format("validate {} of {}", i + 1, members.size()));
            alone.push_back(score(model, members[i], context));
        }
        std::vector<std::size_t> order(members.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return alone[a] > alone[b]; });
        std::vector<Values> kept{members[order.front()]};
        record["kept"] = {runs_[order.front()]};
        double best = alone[order.front()];
        for (std::size_t i = 1; i < order.size(); ++i) {
            if (context.phase) context.phase(fmt::format("try {} of {} in the soup", i, order.size() - 1));
            kept.push_back(members[order[i]]);
            const double with = score(model, mean_of(kept), context);
            if (with < best) {
                kept.pop_back();
                continue;
            }
            best = with;
            record["kept"].push_back(runs_[order[i]]);
        }
        record["validation"] = {{"alone", alone}, {"soup", best}};
        set_values(model, mean_of(kept));
    }

    static void fold(EmbeddingModel& model) {
        for (const auto& encoder : model.encoders)
            for (Block& block : encoder->blocks()) fold_task_experts(block);
        for (auto& [key, route] : model.routes) route.path = Path{};
    }

    std::vector<std::string> runs_;
    std::string how_;
    double weight_;
    bool fold_experts_;
};

}  // namespace

std::unique_ptr<Variant> make_merged_variant(const Json& settings) { return std::make_unique<Merged>(settings); }

}  // namespace faceter
