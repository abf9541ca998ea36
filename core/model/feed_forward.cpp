#include <ATen/ATen.h>

#include "model/ops_common.h"

namespace faceter {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// Rows that go through both products at a time: the inner activations of a chunk stay in the cache.
constexpr std::int64_t chunk_rows = 1024, kernel_rows = 32;

struct Chunk {
    std::size_t segment;
    std::int64_t begin, rows;
};

std::vector<Chunk> chunks_of(const std::vector<Segment>& segments) {
    std::vector<Chunk> chunks;
    for (std::size_t s = 0; s < segments.size(); ++s)
        for (std::int64_t row = segments[s].begin; row < segments[s].end; row += chunk_rows)
            chunks.push_back({s, row, std::min(chunk_rows, segments[s].end - row)});
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

/// weights: up, up_bias, down of each segment.
struct FeedForward : Function<FeedForward> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const std::vector<Segment>& segments, bool keep, at::TensorList weights) {
        const at::Tensor x = input.contiguous(), out = at::empty_like(x);
        const std::int64_t inner = weights[0].size(0);
        const at::Tensor u = at::empty({keep ? x.size(0) : std::min(chunk_rows, x.size(0)), inner}, x.options());  // before the bias
        const at::Tensor g = keep ? at::empty({std::min(chunk_rows, x.size(0)), inner}, x.options()) : u;
        for (const Chunk& c : chunks_of(segments)) {
            const at::Tensor *up = &weights[3 * c.segment], *bias = up + 1, *down = up + 2;
            at::Tensor u_rows = u.narrow(0, keep ? c.begin : 0, c.rows), g_rows = g.narrow(0, 0, c.rows), out_rows = out.narrow(0, c.begin, c.rows);
            at::mm_out(u_rows, x.narrow(0, c.begin, c.rows), up->t());
            bias_gelu(u_rows, *bias, g_rows);
            at::mm_out(out_rows, g_rows, down->t());
        }
        if (keep) {
            variable_list saved{x, u};
            saved.insert(saved.end(), weights.begin(), weights.end());
            context->save_for_backward(std::move(saved));
            context->saved_data["segments"] = Carried<std::vector<Segment>>::wrap(segments);
        }
        return out;
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        const at::TensorList weights(saved.data() + 2, saved.size() - 2);
        const auto& segments = Carried<std::vector<Segment>>::from(context->saved_data["segments"]);
        const at::Tensor &x = saved[0], &u = saved[1], dout = gradients[0].contiguous(), dx = at::empty_like(x);
        variable_list result(3 + weights.size());
        result[0] = dx;
        const std::int64_t most = std::min(chunk_rows, x.size(0));
        const at::Tensor g_buffer = at::empty({most, u.size(1)}, u.options()), du_buffer = at::empty_like(g_buffer);
        for (const Chunk& c : chunks_of(segments)) {
            const std::size_t w = 3 * c.segment;
            const bool first = !result[3 + w].defined();
            for (std::size_t i = w; first && i < w + 3; ++i) result[3 + i] = at::zeros_like(weights[i]);
            at::Tensor du = du_buffer.narrow(0, 0, c.rows), g = g_buffer.narrow(0, 0, c.rows), dx_rows = dx.narrow(0, c.begin, c.rows);
            const at::Tensor dout_rows = dout.narrow(0, c.begin, c.rows), x_rows = x.narrow(0, c.begin, c.rows);
            at::mm_out(du, dout_rows, weights[w + 2]);
            bias_gelu_backward(u.narrow(0, c.begin, c.rows), weights[w + 1], g, du, result[3 + w + 1]);
            result[3 + w + 2].addmm_(dout_rows.t(), g, first ? 0 : 1);
            result[3 + w].addmm_(du.t(), x_rows, first ? 0 : 1);
            at::mm_out(dx_rows, du, weights[w]);
        }
        return result;
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
