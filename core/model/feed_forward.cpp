#include <ATen/ATen.h>

#include <utility>

#include "model/activated_rows.h"
#include "model/layout_rule.h"
#include "model/matrix.h"
#include "model/ops_common.h"

namespace faceter {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// Rows that go through both products at a time: the inner activations of a chunk stay in the cache.
constexpr std::int64_t chunk_rows = 2048, kernel_rows = 32;

struct Chunk {
    std::int64_t begin, rows;
};

std::vector<Chunk> chunks_of(const Segment& segment) {
    std::vector<Chunk> chunks;
    for (std::int64_t row = segment.begin; row < segment.end; row += chunk_rows)
        chunks.push_back({row, std::min(chunk_rows, segment.end - row)});
    return chunks;
}

/// Which weights each segment uses. The weights are inputs of the graph: three a segment, or three stacked ones for all.
struct FeedForwardShape {
    std::vector<Segment> segments;
    FeedForwardForm form;
    std::int64_t stacked_experts = 0;  ///< 0: weights are given a segment
    bool has_bias = true;
    std::vector<at::Tensor> down_bias{};  ///< of each segment; empty: none is added here
    LayoutPointer layout{};               ///< where there is dropout
    DropoutSite dropout{};                ///< of what the activation gives

    /// Rows [begin, begin + N) of what it gives, in place.
    void drop(const at::Tensor& rows, std::int64_t begin) const {
        if (dropout.p > 0) drop_rows(rows, begin, *layout, dropout);
    }
    at::Tensor part(at::TensorList weights, std::size_t segment, std::size_t which) const {
        if (stacked_experts == 0) return weights[3 * segment + which];
        const at::Tensor& all = weights[which];
        if (all.numel() == 0) return all;
        const std::int64_t rows = all.size(0) / stacked_experts;
        return all.narrow(0, segments[segment].path.expert * rows, rows);
    }
    kernels::ActivationShape kernel(std::int64_t rows, std::int64_t width) const {
        return {static_cast<kernels::Activation>(form.activation), form.gated, form.gate_second, static_cast<std::size_t>(rows),
                static_cast<std::size_t>(form.gated ? width / 2 : width)};
    }
};

const float* bias_data(const at::Tensor& bias) { return bias.numel() > 0 ? data(bias) : nullptr; }

/// g = f(u + bias): [rows, U] -> [rows, I]. g may be u where it is not gated.
void activate(const FeedForwardShape& shape, const at::Tensor& u, const at::Tensor& bias, const at::Tensor& g) {
    const std::int64_t rows = u.size(0), width = u.size(1), inner = g.size(1);
    parallel_tasks((rows + kernel_rows - 1) / kernel_rows, [&](std::int64_t block) {
        const std::int64_t row = block * kernel_rows;
        kernels::kernels().activation(shape.kernel(std::min(kernel_rows, rows - row), width), data(u) + row * width, bias_data(bias),
                                      data(g) + row * inner);
    });
}

/// g = f(u + bias) again, du = dg f'(u + bias), bias_gradient += column sums of du.
void activate_backward(const FeedForwardShape& shape, const at::Tensor& u, const at::Tensor& bias, const at::Tensor& dg,
                       const at::Tensor& g, const at::Tensor& du, const at::Tensor& bias_gradient) {
    const std::int64_t rows = u.size(0), width = u.size(1), inner = g.size(1), blocks = (rows + kernel_rows - 1) / kernel_rows;
    const at::Tensor sums = bias_gradient.defined() ? at::zeros({blocks, width}, u.options()) : at::Tensor();
    parallel_tasks(blocks, [&](std::int64_t block) {
        const std::int64_t row = block * kernel_rows;
        kernels::kernels().activation_backward(shape.kernel(std::min(kernel_rows, rows - row), width), data(u) + row * width,
                                               bias_data(bias), data(dg) + row * inner, data(g) + row * inner, data(du) + row * width,
                                               sums.defined() ? data(sums) + block * width : nullptr);
    });
    if (sums.defined()) bias_gradient.add_(sums.sum(0));
}

/// Which of its products a segment has laid out.
using Prepared = std::vector<PreparedExpert>;  // one a segment

/// The products of a pass without gradients, laid out for it where nobody did before.
PreparedExpert ready(const FeedForwardShape& shape, at::TensorList weights, const Prepared& prepared, std::size_t segment) {
    PreparedExpert own = prepared.empty() ? PreparedExpert{} : prepared[segment];
    const auto lay_out = [&](ProductPointer& product, std::size_t which) {
        if (!product) product = laid_out_once(shape.part(weights, segment, which));
    };
    lay_out(own.up, 0);
    lay_out(own.down, 2);
    return own;
}

/// Some rows of one segment.
struct RowTask {
    std::size_t segment;
    std::int64_t begin, rows;
};

std::vector<RowTask> row_tasks(const std::vector<Segment>& segments, std::int64_t step) {
    std::vector<RowTask> tasks;
    for (std::size_t s = 0; s < segments.size(); ++s)
        for (std::int64_t row = segments[s].begin; row < segments[s].end; row += step)
            tasks.push_back({s, row, std::min(step, segments[s].end - row)});
    return tasks;
}

/// Both products and the activation between them on one task's rows, whose inner activations never leave the cache.
void run_rows(const FeedForwardShape& shape, const PreparedExpert& products, const at::Tensor& bias, const RowTask& task,
              const at::Tensor& x, const at::Tensor& y) {
    const std::int64_t width = products.up->rows(), inner = products.down->depth(), dim = x.size(1), out = y.size(1);
    const std::size_t scratch = std::max(products.up->scratch(task.rows), products.down->scratch(task.rows));
    float* working = thread_scratch(scratch + static_cast<std::size_t>(task.rows * (width + (shape.form.gated ? inner : 0))));
    float *u = working + scratch, *g = shape.form.gated ? u + task.rows * width : u;
    products.up->multiply(data(x) + task.begin * dim, dim, task.rows, nullptr, u, width, working);
    kernels::kernels().activation(shape.kernel(task.rows, width), u, bias_data(bias), g);
    products.down->multiply(g, inner, task.rows, nullptr, data(y) + task.begin * out, out, working);
}

/// A segment of fewer rows than threads have use for: its columns are shared out instead.
void run_few_rows(const FeedForwardShape& shape, const PreparedExpert& products, const at::Tensor& bias, const at::Tensor& x,
                  const at::Tensor& y) {
    const at::Tensor u = product(x, *products.up);
    const at::Tensor g = shape.form.gated ? at::empty({u.size(0), products.down->depth()}, u.options()) : u;
    activate(shape, u, bias, g);
    multiply_into(g, *products.down, {}, y);
}

at::Tensor forward_only(const at::Tensor& input, const FeedForwardShape& shape, at::TensorList weights, const Prepared& prepared) {
    const at::Tensor x = input.detach().contiguous();
    std::vector<PreparedExpert> products;
    for (std::size_t s = 0; s < shape.segments.size(); ++s) products.push_back(ready(shape, weights, prepared, s));
    const at::Tensor y = at::empty({x.size(0), products.front().down->rows()}, x.options());
    const auto tasks = row_tasks(shape.segments, rows_a_task(x.size(0), products.front().up->rows()));
    const bool measured = std::any_of(products.begin(), products.end(), [](const PreparedExpert& p) { return p.up->is_measured(); });
    if (measured || static_cast<int>(tasks.size()) < at::get_num_threads()) {
        for (std::size_t s = 0; s < shape.segments.size(); ++s) {
            const Segment& segment = shape.segments[s];
            run_few_rows(shape, products[s], shape.part(weights, s, 1), x.narrow(0, segment.begin, segment.rows()),
                         y.narrow(0, segment.begin, segment.rows()));
        }
        return y;
    }
    parallel_tasks(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t i) {
        const RowTask& task = tasks[static_cast<std::size_t>(i)];
        run_rows(shape, products[task.segment], shape.part(weights, task.segment, 1), task, x, y);
    });
    return y;
}

/// Consecutive rows as one tensor; a single part as it is.
at::Tensor joined(const std::vector<at::Tensor>& parts) { return parts.size() == 1 ? parts[0] : at::cat(parts); }

/// Gradients of the weights: written by the first chunk, added to by the others. Stacked ones are zero where no row went.
class WeightGradients {
  public:
    WeightGradients(const FeedForwardShape& shape, at::TensorList weights, const at::TensorOptions& options)
        : shape_(shape), weights_(weights), options_(options), sums_(weights.size()), begun_(3 * owners(), 0) {
        if (shape.stacked_experts == 0) return;
        for (std::size_t which = 0; which < weights.size(); ++which)
            if (weights[which].numel() > 0)
                sums_[which] = which == 1 ? at::zeros_like(weights[which], options) : at::empty(weights[which].sizes(), options);
    }
    at::Tensor bias(std::size_t segment, const at::Tensor& like) {
        if (!shape_.has_bias) return {};
        if (shape_.stacked_experts > 0) return shape_.part(sums_, segment, 1);
        return sums_[3 * segment + 1] = at::zeros_like(like);
    }
    /// The gradient of weights `which` from dy and x, rows of the segment.
    void add(std::size_t segment, std::size_t which, const at::Tensor& dy, const at::Tensor& x) {
        weight_gradient(dy, x, place(segment, which), std::exchange(begun_[3 * owner(segment) + which], char(1)) != 0);
    }
    variable_list finished() {
        for (std::size_t e = 0; shape_.stacked_experts > 0 && e < owners(); ++e)
            for (const std::size_t which : {std::size_t{0}, std::size_t{2}})
                if (!begun_[3 * e + which]) sums_[which].chunk(shape_.stacked_experts, 0)[e].zero_();
        return std::move(sums_);
    }

  private:
    std::size_t owners() const {
        return shape_.stacked_experts > 0 ? static_cast<std::size_t>(shape_.stacked_experts) : shape_.segments.size();
    }
    std::size_t owner(std::size_t segment) const {
        return shape_.stacked_experts > 0 ? static_cast<std::size_t>(shape_.segments[segment].path.expert) : segment;
    }
    at::Tensor place(std::size_t segment, std::size_t which) {
        if (shape_.stacked_experts > 0) return shape_.part(sums_, segment, which);
        at::Tensor& sum = sums_[3 * segment + which];
        if (!sum.defined()) sum = at::empty(weights_[3 * segment + which].sizes(), options_);
        return sum;
    }

    const FeedForwardShape& shape_;
    at::TensorList weights_;
    at::TensorOptions options_;
    variable_list sums_;
    std::vector<char> begun_;  ///< three an owner: whether its gradient holds a sum
};

/// Saved: x, the weights, then u = x up^T (before the bias) of each segment.
struct FeedForward : Function<FeedForward> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const FeedForwardShape& shape, at::TensorList weights) {
        const at::Tensor x = input.contiguous();
        at::Tensor y;
        variable_list saved{x};
        saved.insert(saved.end(), weights.begin(), weights.end());
        for (std::size_t s = 0; s < shape.segments.size(); ++s) {
            const Segment& segment = shape.segments[s];
            const PreparedExpert products = ready(shape, weights, {}, s);
            if (!y.defined()) y = at::empty({x.size(0), products.down->rows()}, x.options());
            saved.push_back(product(x.narrow(0, segment.begin, segment.rows()), *products.up));
            for (const Chunk& c : chunks_of(segment)) {
                const at::Tensor u = saved.back().narrow(0, c.begin - segment.begin, c.rows);
                const at::Tensor g = at::empty({c.rows, products.down->depth()}, u.options());
                activate(shape, u, shape.part(weights, s, 1), g);
                shape.drop(g, c.begin);
                multiply_into(g, *products.down, {}, y.narrow(0, c.begin, c.rows));
            }
        }
        context->save_for_backward(std::move(saved));
        context->saved_data["shape"] = Carried<FeedForwardShape>::wrap(shape);
        return y;
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        const auto& shape = Carried<FeedForwardShape>::from(context->saved_data["shape"]);
        const std::size_t num_weights = saved.size() - 1 - shape.segments.size();
        const at::TensorList weights(saved.data() + 1, num_weights);
        const bool trained = context->needs_input_grad({torch::autograd::IndexRange(1, 1 + num_weights)});  // frozen under an adapter
        const at::Tensor &x = saved[0], dout = gradients[0].contiguous();
        std::vector<at::Tensor> dx;
        WeightGradients sums(shape, weights, x.options());
        for (std::size_t s = 0; s < shape.segments.size(); ++s) {
            const BackwardWeights up(shape.part(weights, s, 0)), down(shape.part(weights, s, 2));
            const at::Tensor &u_rows = saved[1 + num_weights + s], bias = shape.part(weights, s, 1),
                             dbias = trained ? sums.bias(s, bias) : at::Tensor();
            for (const Chunk& c : chunks_of(shape.segments[s])) {
                const at::Tensor u = u_rows.narrow(0, c.begin - shape.segments[s].begin, c.rows),
                                 dout_rows = dout.narrow(0, c.begin, c.rows);
                const at::Tensor dg = down(dout_rows), g = at::empty_like(dg), du = shape.form.gated ? at::empty_like(u) : dg;
                shape.drop(dg, c.begin);
                activate_backward(shape, u, bias, dg, g, du, dbias);
                if (trained) {
                    shape.drop(g, c.begin);
                    sums.add(s, 2, dout_rows, g);
                    sums.add(s, 0, du, x.narrow(0, c.begin, c.rows));
                }
                dx.push_back(up(du));
            }
        }
        variable_list result{joined(dx), {}};
        const variable_list gradients_of_weights = sums.finished();
        result.insert(result.end(), gradients_of_weights.begin(), gradients_of_weights.end());
        return result;
    }
};

at::Tensor plain_feed_forward(const at::Tensor& x, const FeedForwardShape& shape, at::TensorList weights) {
    const bool dropping = shape.dropout.p > 0;
    const auto down = [&](std::size_t s, const at::Tensor& g) {
        return at::linear(g, shape.part(weights, s, 2).to(x.scalar_type()),
                          shape.down_bias.empty() ? std::nullopt : std::optional(shape.down_bias[s]));
    };
    std::vector<at::Tensor> parts = rows_by_segment(x, shape.segments);
    for (std::size_t s = 0; s < shape.segments.size(); ++s) {
        const at::Tensor bias = shape.part(weights, s, 1);
        const at::Tensor up = shape.part(weights, s, 0).to(x.scalar_type());
        const at::Tensor u = at::linear(parts[s], up, bias.numel() > 0 ? std::optional<at::Tensor>(bias) : std::nullopt);
        const at::Tensor g = faceter::activate(u, shape.form);
        parts[s] = dropping ? g : down(s, g);
    }
    if (!dropping) return joined(parts);
    parts = rows_by_segment(packed_dropout(joined(parts), shape.layout, shape.dropout), shape.segments);
    for (std::size_t s = 0; s < shape.segments.size(); ++s) parts[s] = down(s, parts[s]);
    return joined(parts);
}

bool wants_gradients(const at::Tensor& x, at::TensorList weights) {
    return at::GradMode::is_enabled() &&
           (x.requires_grad() || std::any_of(weights.begin(), weights.end(), [](const at::Tensor& w) { return w.requires_grad(); }));
}

at::Tensor run(const at::Tensor& x, const FeedForwardShape& shape, const std::vector<at::Tensor>& weights, const Prepared& prepared) {
    if (!fast_path(x)) return plain_feed_forward(x, shape, weights);
    if (!wants_gradients(x, weights) && shape.dropout.p == 0) return forward_only(x, shape, weights, prepared);
    return FeedForward::apply(x, shape, at::TensorList(weights));
}

}  // namespace

at::Tensor activated_rows(const at::Tensor& u, const FeedForwardForm& form) {
    const at::Tensor in = u.detach().contiguous(), g = at::empty({in.size(0), form.gated ? in.size(1) / 2 : in.size(1)}, in.options());
    activate(FeedForwardShape{{}, form, 0, false}, in, at::empty({0}, in.options()), g);
    return g;
}

std::pair<at::Tensor, at::Tensor> activated_rows_again(const at::Tensor& u, const at::Tensor& dg, const FeedForwardForm& form) {
    const at::Tensor g = at::empty_like(dg), du = at::empty_like(u);
    activate_backward(FeedForwardShape{{}, form, 0, false}, u, at::empty({0}, u.options()), dg, g, du, {});
    return {g, du};
}

at::Tensor activate(const at::Tensor& u, const FeedForwardForm& form) {
    if (fast_path(u) && !wants_gradients(u, {})) return activated_rows(u, form);
    const std::vector<at::Tensor> halves = form.gated ? u.split_with_sizes({u.size(1) / 2, u.size(1) / 2}, 1) : std::vector<at::Tensor>{u};
    const at::Tensor& a = form.gated && form.gate_second ? halves[1] : halves[0];
    at::Tensor value;
    switch (form.activation) {
        case Activation::gelu:
            value = at::gelu(a);
            break;
        case Activation::gelu_tanh:
            value = at::gelu(a, "tanh");
            break;
        case Activation::relu:
            value = at::relu(a);
            break;
        case Activation::silu:
            value = at::silu(a);
            break;
    }
    return form.gated ? value * halves[form.gate_second ? 0 : 1] : value;
}

at::Tensor feed_forward(const at::Tensor& x, const std::vector<Segment>& segments, const std::vector<FeedForwardWeights>& weights,
                        const FeedForwardForm& form, const LayoutPointer& layout, const DropoutSite& dropout) {
    const bool has_bias = weights[0].up_bias.defined();
    const at::Tensor nothing = has_bias ? at::Tensor() : at::empty({0}, x.options());
    std::vector<at::Tensor> flat;
    Prepared prepared;
    std::vector<at::Tensor> down_bias;
    for (const FeedForwardWeights& w : weights) {
        if (w.down_bias.defined()) down_bias.push_back(w.down_bias);
        flat.insert(flat.end(), {w.up, has_bias ? w.up_bias : nothing, w.down});
        prepared.push_back({w.prepared_up, w.prepared_down});
    }
    return run(x, {segments, form, 0, has_bias, down_bias, layout, dropout}, flat, prepared);
}

at::Tensor stacked_feed_forward(const at::Tensor& x, const std::vector<Segment>& segments, const FeedForwardWeights& stacked,
                                std::int64_t num_experts, const FeedForwardForm& form, const std::vector<PreparedExpert>& prepared) {
    const bool has_bias = stacked.up_bias.defined();
    Prepared by_segment;
    for (const Segment& segment : segments)
        if (!prepared.empty()) by_segment.push_back(prepared[static_cast<std::size_t>(segment.path.expert)]);
    return run(x, {segments, form, num_experts, has_bias},
               {stacked.up, has_bias ? stacked.up_bias : at::empty({0}, x.options()), stacked.down}, by_segment);
}

}  // namespace faceter
