#include "plugin/onnx_int8.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/compute.h"
#include "model/equalising.h"
#include "model/product_weights.h"
#include "onnx/encoder_graph.h"
#include "plugin/export_check.h"
#include "plugin/onnx_run.h"

namespace faceter {
namespace {

constexpr std::size_t longest = 64;  ///< tokens of a sample's text

/// The sample and the texts that an export is held against (other scripts, code, nothing), as one padded batch.
class Sample {
  public:
    Sample(const ModelFolder& folder, const EmbeddingModel& model) {
        std::vector<std::string> prompts{""};
        if (!folder.prompts.empty()) prompts.clear();
        for (const auto& [name, prompt] : folder.prompts) prompts.push_back(prompt);
        std::vector<std::string_view> texts(compute_sample().begin(), compute_sample().end());
        texts.insert(texts.end(), export_check_texts().begin(), export_check_texts().end());
        const auto rows = static_cast<std::int64_t>(texts.size());
        const std::size_t columns = std::min(model.max_length, longest);
        ids_ = at::zeros({rows, static_cast<std::int64_t>(columns)}, at::kLong);
        mask_ = at::zeros_like(ids_);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            std::vector<std::int32_t> ids;
            model.tokenizer->encode(prompts[i % prompts.size()] + std::string(texts[i]), columns, ids);
            std::copy(ids.begin(), ids.end(), ids_.data_ptr<std::int64_t>() + i * columns);
            std::fill_n(mask_.data_ptr<std::int64_t>() + i * columns, ids.size(), 1);
        }
    }
    /// Of each text its embedding and its hidden states (where it has tokens), in one row each: an export is held against both.
    std::vector<at::Tensor> results(const OnnxRun& run, const OnnxRun::Look& look = {}) const {
        const auto outputs = run({{"input_ids", ids_}, {"attention_mask", mask_}}, look);
        std::vector<at::Tensor> rows;
        for (std::int64_t i = 0; i < ids_.size(0); ++i) {
            rows.push_back(outputs.at("sentence_embedding")[i]);
            if (const auto tokens = mask_[i].sum().item<std::int64_t>(); tokens > 0)
                rows.push_back(outputs.at("last_hidden_state")[i].narrow(0, 0, tokens).flatten());
        }
        return rows;
    }
    /// [B, L, D] -> [T, D], the rows of tokens.
    at::Tensor tokens_of(const at::Tensor& x) const { return x.flatten(0, 1).index_select(0, mask_.flatten().nonzero().flatten()); }

  private:
    at::Tensor ids_, mask_;  ///< [B, L]
};

/// What is left of weights in integers by the largest along `axis`, as core/onnx/graph_linear writes them.
at::Tensor lowered_weights(const at::Tensor& values, std::int64_t axis) {
    at::Tensor scale = values.abs().amax(axis, true) / 127;
    scale = at::where(scale > 0, scale, at::ones_like(scale));
    return (values / scale).round() * scale;
}

/// The same of a product's rows, each by its own range.
at::Tensor lowered_rows(const at::Tensor& x) {
    const at::Tensor low = x.amin(-1, true).clamp_max(0), high = x.amax(-1, true).clamp_min(0);
    const at::Tensor scale = ((high - low) / 255).clamp_min(1e-30), zero = -(low / scale).round();
    return (((x / scale).round() + zero).clamp(0, 255) - zero) * scale;
}

/// How far what a weight gives as integers is from float32.
struct Loss : ProductError {
    bool is_table = false;  ///< of words: as large as all products together in small models
};

/// A graph in float32 run on the sample, and what its weights lose as integers.
class Measuring {
  public:
    Measuring(const OnnxGraph& exact, const OnnxGraph& lowered, const Sample& sample) : run_(exact), sample_(sample) {
        std::set<std::string> integers;
        for (const OnnxTensor& weight : lowered.weights) integers.insert(weight.name);
        for (const OnnxTensor& weight : exact.weights)
            if (integers.contains(quantised_name(weight.name))) losses_[weight.name];
        even_out();
    }
    const std::map<std::string, at::Tensor>& steps() const { return steps_; }
    const std::map<std::string, Loss>& losses() const { return losses_; }

    /// Passes the sample; returns its results in float32.
    std::vector<at::Tensor> results() {
        return sample_.results(run_, [&](const OnnxNode& node, const std::vector<at::Tensor>& in, const at::Tensor& out) {
            if (is_product(node)) {
                const at::Tensor& step = steps_.at(node.inputs[1]);
                take(node.inputs[1], sample_.tokens_of(out),
                     at::matmul(lowered_rows(sample_.tokens_of(in[0]) / step), lowered_weights(in[1] * step.unsqueeze(1), 0)));
            }
            if (node.op != "Gather" || !losses_.contains(node.inputs[0])) return;
            losses_[node.inputs[0]].is_table = true;
            take(node.inputs[0], sample_.tokens_of(out), lowered_weights(sample_.tokens_of(out), 1));
        });
    }

  private:
    bool is_product(const OnnxNode& node) const { return node.op == "MatMul" && losses_.contains(node.inputs[1]); }

    /// Products of the same rows have the same steps.
    void even_out() {
        struct Rows {
            at::Tensor sizes;                 ///< [K]
            std::vector<at::Tensor> largest;  ///< [K], of the weights of each product
            std::vector<std::string> products;
        };
        std::map<std::string, Rows> all;
        sample_.results(run_, [&](const OnnxNode& node, const std::vector<at::Tensor>& in, const at::Tensor&) {
            if (!is_product(node)) return;
            Rows& rows = all[node.inputs[0]];
            rows.sizes = sample_.tokens_of(in[0]).square().mean(0).sqrt();
            rows.largest.push_back(in[1].abs().amax(1));
            rows.products.push_back(node.inputs[1]);
        });
        for (const auto& [x, rows] : all)
            for (const std::string& product : rows.products) steps_[product] = equalising(at::stack(rows.largest), rows.sizes).contiguous();
    }

    void take(const std::string& name, const at::Tensor& wanted, const at::Tensor& found) {
        losses_[name].squared_error += (found - wanted).square().sum(at::kDouble).item<double>();
        losses_[name].squared_size += wanted.square().sum(at::kDouble).item<double>();
    }

    OnnxRun run_;
    const Sample& sample_;
    std::map<std::string, at::Tensor> steps_;
    std::map<std::string, Loss> losses_;
};

/// Products by what they lose, the worst first; the table of words where nothing else helps.
std::vector<std::string> in_order(const std::map<std::string, Loss>& losses) {
    std::vector<std::string> names;
    for (const auto& [name, loss] : losses) names.push_back(name);
    std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) {
        const Loss &x = losses.at(a), &y = losses.at(b);
        return x.is_table != y.is_table ? y.is_table : x.relative() > y.relative();
    });
    return names;
}

double smallest_cosine(const std::vector<at::Tensor>& expected, const std::vector<at::Tensor>& found) {
    ExportDifference difference;
    for (std::size_t i = 0; i < expected.size(); ++i) difference.compare(expected[i], found[i], "");
    return difference.smallest_cosine;
}

}  // namespace

Json OnnxInt8::to_json() const {
    return {{"weights", num_weights},
            {"kept_in_float32", kept},
            {"sample_wanted_cosine", wanted_cosine},
            {"sample_smallest_cosine", smallest_cosine}};
}

std::string OnnxInt8::sentence() const {
    if (kept.empty()) return "";
    if (kept.size() == num_weights) return fmt::format("all {} weights stay in float32, for with less it loses too much", num_weights);
    return fmt::format("{} of {} weights stay in float32, as they lose most: {}", kept.size(), num_weights, fmt::join(kept, ", "));
}

OnnxInt8 choose_int8(const ModelFolder& folder, const EmbeddingModel& model, double wanted_cosine) {
    const at::NoGradGuard no_gradients;
    const Sample sample(folder, model);
    Measuring measuring(encoder_graph(folder, OnnxForm::float32), encoder_graph(folder, OnnxForm::int8), sample);
    const std::vector<at::Tensor> expected = measuring.results();
    const std::vector<std::string> worst_first = in_order(measuring.losses());
    OnnxInt8 choice{{}, {}, worst_first.size(), wanted_cosine, 0};
    for (const auto& [name, step] : measuring.steps())
        choice.plan.steps[name].assign(step.data_ptr<float>(), step.data_ptr<float>() + step.numel());
    for (const std::size_t step = worst_first.size() / 16 + 1;;) {
        const OnnxRun lowered(encoder_graph(folder, OnnxForm::int8, choice.plan));
        choice.smallest_cosine = smallest_cosine(expected, sample.results(lowered));
        if (choice.smallest_cosine >= wanted_cosine || choice.kept.size() == worst_first.size()) return choice;
        const std::size_t kept = std::min(worst_first.size(), choice.kept.size() + step);
        choice.kept.assign(worst_first.begin(), worst_first.begin() + static_cast<std::ptrdiff_t>(kept));
        choice.plan.exact.insert(choice.kept.begin(), choice.kept.end());
    }
}

}  // namespace faceter
