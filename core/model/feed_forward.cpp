#include <ATen/ATen.h>

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
    for (std::int64_t row = segment.begin; row < segment.end; row += chunk_rows) chunks.push_back({row, std::min(chunk_rows, segment.end - row)});
    return chunks;
}

void bias_gelu(const at::Tensor& u, const at::Tensor& bias, const at::Tensor& y) {
    const std::int64_t width = u.size(1), rows = u.size(0);
    parallel_tasks((rows + kernel_rows - 1) / kernel_rows, [&](std::int64_t block) {
        const std::int64_t row = block * kernel_rows;
        kernels::kernels().bias_gelu(data(u) + row * width, data(bias), data(y) + row * width, std::min(kernel_rows, rows - row), width);
    });
}

/// y = GELU(u + bias), dy *= GELU'(u + bias), bias_gradient += column sums of dy.
void bias_gelu_backward(const at::Tensor& u, const at::Tensor& bias, const at::Tensor& y, const at::Tensor& dy, const at::Tensor& bias_gradient) {
    const std::int64_t width = u.size(1), rows = u.size(0), blocks = (rows + kernel_rows - 1) / kernel_rows;
    const at::Tensor sums = at::zeros({blocks, width}, u.options());
    parallel_tasks(blocks, [&](std::int64_t block) {
        const std::int64_t at = block * kernel_rows * width;
        kernels::kernels().bias_gelu_backward(data(u) + at, data(bias), data(y) + at, data(dy) + at, data(sums) + block * width,
                                              std::min(kernel_rows, rows - block * kernel_rows), width);
    });
    bias_gradient.add_(sums.sum(0));
}

/// x w^T. oneDNN sums in another order for few rows than for many, so a batch cut into segments would differ in the last bit from the same batch in one
/// piece: few rows are filled up where that matters (an upcycled mixture equals its dense parent exactly, methods.md section 2).
at::Tensor segment_product(const at::Tensor& x, const at::Tensor& w, bool same_bits) {
    constexpr std::int64_t many_rows = 96;
    if (!same_bits || x.size(0) >= many_rows) return product_transposed(x, w);
    return product_transposed(at::constant_pad_nd(x, {0, 0, 0, many_rows - x.size(0)}), w).narrow(0, 0, x.size(0)).contiguous();
}

/// weights: up, up_bias, down of each segment. Saved: x, the weights, then u = x up^T (before the bias) of each segment.
struct FeedForward : Function<FeedForward> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const std::vector<Segment>& segments, bool keep, at::TensorList weights) {
        const at::Tensor x = input.contiguous(), out = at::empty_like(x);
        const bool same_bits = keep || segments.size() > 1;
        variable_list saved{x};
        saved.insert(saved.end(), weights.begin(), weights.end());
        for (std::size_t s = 0; s < segments.size(); ++s) {
            const at::Tensor *up = &weights[3 * s], *bias = up + 1, *down = up + 2;
            if (keep) saved.push_back(segment_product(x.narrow(0, segments[s].begin, segments[s].rows()), *up, same_bits));
            for (const Chunk& c : chunks_of(segments[s])) {
                const at::Tensor u = keep ? saved.back().narrow(0, c.begin - segments[s].begin, c.rows)
                                          : segment_product(x.narrow(0, c.begin, c.rows), *up, same_bits);
                const at::Tensor g = keep ? at::empty_like(u) : u;
                bias_gelu(u, *bias, g);
                out.narrow(0, c.begin, c.rows).copy_(segment_product(g, *down, same_bits));
            }
        }
        if (keep) {
            context->save_for_backward(std::move(saved));
            context->saved_data["segments"] = Carried<std::vector<Segment>>::wrap(segments);
        }
        return out;
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        const auto& segments = Carried<std::vector<Segment>>::from(context->saved_data["segments"]);
        const std::size_t num_weights = 3 * segments.size();
        const at::Tensor &x = saved[0], dout = gradients[0].contiguous(), dx = at::empty_like(x);
        variable_list result(3 + num_weights);
        result[0] = dx;
        for (std::size_t s = 0; s < segments.size(); ++s) {
            const at::Tensor *up = &saved[1 + 3 * s], *bias = up + 1, *down = up + 2, *u_rows = &saved[1 + num_weights + s];
            at::Tensor *dup = &result[3 + 3 * s], *dbias = dup + 1, *ddown = dup + 2;
            *dbias = at::zeros_like(*bias);
            for (const Chunk& c : chunks_of(segments[s])) {
                const at::Tensor u = u_rows->narrow(0, c.begin - segments[s].begin, c.rows), g = at::empty_like(u);
                const at::Tensor dout_rows = dout.narrow(0, c.begin, c.rows);
                const at::Tensor du = product(dout_rows, *down);  // of g until the next line
                bias_gelu_backward(u, *bias, g, du, *dbias);
                add_to(*ddown, product(dout_rows.t(), g));
                add_to(*dup, product(du.t(), x.narrow(0, c.begin, c.rows)));
                dx.narrow(0, c.begin, c.rows).copy_(product(du, *up));
            }
        }
        return result;
    }

  private:
    static void add_to(at::Tensor& sum, const at::Tensor& part) {
        if (sum.defined())
            sum.add_(part);
        else
            sum = part;
    }
};

at::Tensor composed_feed_forward(const at::Tensor& x, const std::vector<Segment>& segments, const std::vector<FeedForwardWeights>& weights) {
    std::vector<at::Tensor> outputs;
    for (std::size_t s = 0; s < segments.size(); ++s) {
        const at::Tensor rows = x.narrow(0, segments[s].begin, segments[s].rows());
        outputs.push_back(at::linear(at::gelu(at::linear(rows, weights[s].up, weights[s].up_bias)), weights[s].down));
    }
    return outputs.size() == 1 ? outputs[0] : at::cat(outputs);
}

}  // namespace

at::Tensor feed_forward(const at::Tensor& x, const std::vector<Segment>& segments, const std::vector<FeedForwardWeights>& weights) {
    if (!fast_path(x)) return composed_feed_forward(x, segments, weights);
    std::vector<at::Tensor> flat;
    for (const FeedForwardWeights& w : weights) flat.insert(flat.end(), {w.up, w.up_bias, w.down});
    return FeedForward::apply(x, segments, at::GradMode::is_enabled(), at::TensorList(flat));
}

}  // namespace faceter
