#include "train/blocked_infonce.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>

#include "model/matrix.h"
#include "model/ops.h"

namespace faceter {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// x w^T in full precision whatever the encoder's products are.
at::Tensor exact_product(const at::Tensor& x, const at::Tensor& w) {
    const Bf16Products exact(false);
    return fast_path(x) ? product_transposed(x, w) : at::mm(x, w.t());
}

struct Rows {
    std::int64_t first, count;
};

/// Below every logit, and finite: a column whose rows are all left out so far has this peak and a sum of 0.
constexpr double lowest_peak = -1e30;

/// Everything that one view gathers while blocks of rows pass.
class View {
  public:
    View(const ScoredRows& rows, const at::Tensor& weights, double temperature, bool symmetric)
        : rows_(rows), weights_(weights), temperature_(temperature), share_(symmetric ? 0.5 : 1.0) {
        const auto options = rows.queries.options();
        loss_ = at::zeros({}, options);
        if (symmetric) {
            peak_ = at::full({batch()}, lowest_peak, options);
            sum_ = at::zeros({batch()}, options);
        }
    }
    void want_gradients(bool of_queries, bool of_documents) {
        if (of_queries) dqueries_ = at::empty_like(rows_.queries);
        if (of_documents) ddocuments_ = at::zeros_like(rows_.documents);
    }

    /// log sum exp of every column over the rows that have passed (documents against queries).
    void gather_columns(const Rows& block, const at::Tensor& mask) {
        const at::Tensor logits = logits_of(block, mask).narrow(1, 0, batch());
        const at::Tensor peak = at::maximum(peak_, std::get<0>(logits.max(0)));
        sum_ = sum_ * (peak_ - peak).exp_() + (logits - peak.unsqueeze(0)).exp_().sum(0);
        peak_ = peak;
    }

    /// The rows' cross entropy and, where wanted, what the logits' gradients make of queries and documents.
    void add(const Rows& block, const at::Tensor& mask) {
        const at::Tensor logits = logits_of(block, mask), weights = weights_.narrow(0, block.first, block.count);
        const at::Tensor own = logits.narrow(1, block.first, block.count).diagonal().clone(), lse = logits.logsumexp(1);
        loss_ += (weights * (lse - own)).sum() * share_;
        const at::Tensor of_columns = peak_.defined() ? peak_ + sum_.log() : at::Tensor();
        if (of_columns.defined()) loss_ += (weights * (of_columns.narrow(0, block.first, block.count) - own)).sum() * share_;
        if (dqueries_.defined() || ddocuments_.defined()) add_gradients(block, logits, lse, of_columns);
    }

    const at::Tensor& loss() const { return loss_; }
    const at::Tensor& dqueries() const { return dqueries_; }
    const at::Tensor& ddocuments() const { return ddocuments_; }

  private:
    std::int64_t batch() const { return rows_.queries.size(0); }

    at::Tensor logits_of(const Rows& block, const at::Tensor& mask) const {
        at::Tensor logits = exact_product(rows_.queries.narrow(0, block.first, block.count), rows_.documents).div_(temperature_);
        if (mask.defined()) logits.masked_fill_(mask, -std::numeric_limits<double>::infinity());
        return logits;
    }

    /// d loss / d logit = w_i (p_ij - [i = j]), and of the columns w_j (p'_ij - [i = j]); `logits` is consumed.
    void add_gradients(const Rows& block, const at::Tensor& logits, const at::Tensor& lse, const at::Tensor& of_columns) {
        const at::Tensor weights = weights_.narrow(0, block.first, block.count);
        const at::Tensor back = of_columns.defined()
                                    ? (logits.narrow(1, 0, batch()) - of_columns.unsqueeze(0)).exp_().mul_(weights_.unsqueeze(0))
                                    : at::Tensor();
        const at::Tensor gradient = logits.sub_(lse.unsqueeze(1)).exp_().mul_(weights.unsqueeze(1));
        if (back.defined()) gradient.narrow(1, 0, batch()).add_(back);
        gradient.narrow(1, block.first, block.count).diagonal().sub_(weights * (back.defined() ? 2.0 : 1.0));
        gradient.mul_(share_ / temperature_);
        if (dqueries_.defined()) dqueries_.narrow(0, block.first, block.count).copy_(exact_product(gradient, rows_.documents.t()));
        if (ddocuments_.defined()) ddocuments_.add_(exact_product(gradient.t(), rows_.queries.narrow(0, block.first, block.count).t()));
    }

    ScoredRows rows_;
    at::Tensor weights_;
    double temperature_, share_;
    at::Tensor loss_, peak_, sum_, dqueries_, ddocuments_;
};

struct BlockedInfoNce : Function<BlockedInfoNce> {
    /// `rows`: queries and documents of each view. `graph`: whether their gradients may be asked for.
    static variable_list forward(AutogradContext* context, const PairMasks& masks, const at::Tensor& weights, double temperature,
                                 bool symmetric, std::int64_t block_rows, bool graph, at::TensorList rows) {
        const std::int64_t batch = rows[0].size(0);
        std::vector<View> views;
        for (std::size_t i = 0; i < rows.size(); i += 2) {
            views.emplace_back(ScoredRows{rows[i].detach().contiguous(), rows[i + 1].detach().contiguous()}, weights, temperature,
                               symmetric);
            if (graph) views.back().want_gradients(rows[i].requires_grad(), rows[i + 1].requires_grad());
        }
        at::Tensor masked = at::zeros({}, weights.options().dtype(at::kDouble));
        const auto over_blocks = [&](const auto& visit) {
            for (std::int64_t first = 0; first < batch; first += block_rows) {
                const Rows block{first, std::min(block_rows, batch - first)};
                visit(block, masks.any() ? masks.block(block.first, block.count) : at::Tensor());
            }
        };
        if (symmetric)
            over_blocks([&](const Rows& block, const at::Tensor& mask) {
                for (View& view : views) view.gather_columns(block, mask);
            });
        over_blocks([&](const Rows& block, const at::Tensor& mask) {
            if (mask.defined()) masked += masks.false_negatives(mask, block.first);
            for (View& view : views) view.add(block, mask);
        });
        std::vector<at::Tensor> losses, gradients;
        for (const View& view : views) {
            losses.push_back(view.loss());
            gradients.insert(gradients.end(), {view.dqueries(), view.ddocuments()});
        }
        context->save_for_backward(std::move(gradients));
        context->mark_non_differentiable({masked});
        return {at::stack(losses), masked};
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        variable_list result(6);
        for (std::size_t i = 0; i < saved.size(); ++i)
            result.push_back(saved[i].defined() ? saved[i] * gradients[0].select(0, static_cast<std::int64_t>(i / 2)) : at::Tensor());
        return result;
    }
};

}  // namespace

BlockedLoss blocked_infonce(const std::vector<ScoredRows>& views, const PairMasks& masks, const at::Tensor& weights, double temperature,
                            bool symmetric, std::int64_t block_rows) {
    std::vector<at::Tensor> rows;
    for (const ScoredRows& view : views) rows.insert(rows.end(), {view.queries, view.documents});
    const variable_list result =
        BlockedInfoNce::apply(masks, weights, temperature, symmetric, block_rows, at::GradMode::is_enabled(), at::TensorList(rows));
    return {result[0], result[1]};
}

}  // namespace faceter
