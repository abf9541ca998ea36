#include "model/ops.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>

#include "model/device.h"
#include "model/ops_common.h"

namespace faceter {
namespace {

std::optional<OpsForm> forced_form;

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// Of rows `begin` and on of a batch: [N, D] -> [N, D]. `out` may be `in`.
void drop_rows(const at::Tensor& in, const at::Tensor& out, std::int64_t begin, const PackedLayout& layout, const DropoutSite& dropout) {
    const auto mask = dropout.kernel();
    const auto& groups = layout.groups(false);
    const std::int64_t width = in.size(1), end = begin + in.size(0);
    parallel_tasks(static_cast<std::int64_t>(groups.size()), [&](std::int64_t g) {
        for (const RowBlock& b : groups[g].blocks) {
            const std::int64_t first = std::max(b.begin, begin), rows = std::min(b.begin + b.rows, end) - first;
            if (rows > 0)
                kernels::kernels().dropout_rows(data(in) + (first - begin) * width, data(out) + (first - begin) * width,
                                                static_cast<std::size_t>(rows), static_cast<std::size_t>(width),
                                                static_cast<std::size_t>(b.first_row + first - b.begin), b.sequence_key, mask);
        }
    });
}

at::Tensor dropped(const at::Tensor& x, const PackedLayout& layout, const DropoutSite& dropout) {
    const at::Tensor in = x.contiguous(), out = at::empty_like(in);
    drop_rows(in, out, 0, layout, dropout);
    return out;
}

struct PackedDropout : Function<PackedDropout> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const LayoutPointer& layout, const DropoutSite& dropout) {
        context->saved_data["site"] = Carried<std::pair<LayoutPointer, DropoutSite>>::wrap({layout, dropout});
        return dropped(x, *layout, dropout);
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto& [layout, dropout] = Carried<std::pair<LayoutPointer, DropoutSite>>::from(context->saved_data["site"]);
        return {dropped(gradients[0], *layout, dropout), {}, {}};
    }
};

/// The rows of sequence s that count in its mean: none of a text that has no token behind the instruction, as in sentence-transformers.
std::pair<std::int64_t, std::int64_t> pooled_rows(const PackedLayout& layout, const std::vector<std::int64_t>& skip, std::int64_t s) {
    const std::int64_t begin = layout.offsets()[s], length = layout.length(s);
    const std::int64_t skipped = skip.empty() ? 0 : std::min(skip[s], length);
    return {begin + skipped, length - skipped};
}

struct MeanPool : Function<MeanPool> {
    using Shape = std::pair<LayoutPointer, std::vector<std::int64_t>>;
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const LayoutPointer& layout,
                              const std::vector<std::int64_t>& skip) {
        context->saved_data["shape"] = Carried<Shape>::wrap({layout, skip});
        const at::Tensor in = x.contiguous(), out = at::zeros({layout->num_sequences(), x.size(1)}, x.options());
        const std::int64_t width = x.size(1);
        parallel_tasks(layout->num_sequences(), [&, from = data(in), into = data(out)](std::int64_t s) {
            const auto [begin, rows] = pooled_rows(*layout, skip, s);
            float* to = into + s * width;
            for (std::int64_t i = begin; i < begin + rows; ++i)
                for (std::int64_t d = 0; d < width; ++d) to[d] += from[i * width + d];
            for (std::int64_t d = 0; d < width && rows > 0; ++d) to[d] /= static_cast<float>(rows);
        });
        return out;
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto& [layout, skip] = Carried<Shape>::from(context->saved_data["shape"]);
        const at::Tensor dy = gradients[0].contiguous(), dx = at::zeros({layout->num_tokens(), dy.size(1)}, dy.options());
        const std::int64_t width = dy.size(1);
        parallel_tasks(layout->num_sequences(), [&, &layout = layout, &skip = skip, from = data(dy), into = data(dx)](std::int64_t s) {
            const auto [begin, rows] = pooled_rows(*layout, skip, s);
            const float share = 1.0f / static_cast<float>(rows);
            for (std::int64_t i = begin; i < begin + rows; ++i)
                for (std::int64_t d = 0; d < width; ++d) into[i * width + d] = from[s * width + d] * share;
        });
        return {dx, {}, {}};
    }
};

/// How many rows of each sequence the mean leaves out, and over how many it is: [S] each.
std::pair<at::Tensor, at::Tensor> pooled_counts(const PackedLayout& layout, const std::vector<std::int64_t>& skip) {
    const at::Tensor skipped = at::empty({layout.num_sequences()}, at::kLong), counts = at::empty({layout.num_sequences()}, at::kFloat);
    for (std::int64_t s = 0; s < layout.num_sequences(); ++s) {
        const auto [begin, rows] = pooled_rows(layout, skip, s);
        skipped.data_ptr<std::int64_t>()[s] = begin - layout.offsets()[s];
        counts.data_ptr<float>()[s] = static_cast<float>(std::max<std::int64_t>(1, rows));
    }
    return {skipped, counts};
}

at::Tensor device_mean(const at::Tensor& x, const PackedLayout& layout, const std::vector<std::int64_t>& skip) {
    const DeviceLayout& there = layout.on(x.device());
    const auto [skipped, counts] = pooled_counts(layout, skip);
    at::Tensor rows = x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);  // a mean over many rows is not for bf16
    if (!skip.empty()) {
        const at::Tensor counted = there.position >= to_device(skipped, x.device()).index_select(0, there.sequence);
        rows = rows * counted.unsqueeze(1).to(rows.scalar_type());
    }
    const at::Tensor sums = at::segment_reduce(rows, "sum", {}, {}, there.offsets, 0, /*unsafe=*/true, 0);
    return sums / to_device(counts, x.device()).to(rows.scalar_type()).unsqueeze(1);
}

/// What `reduce` makes of the rows of each sequence, [N, D] -> [D]; zeros of none.
at::Tensor each_reduced(const at::Tensor& x, const PackedLayout& layout, const std::vector<std::int64_t>& skip,
                        const std::function<at::Tensor(const at::Tensor& rows)>& reduce) {
    std::vector<at::Tensor> reduced;
    for (std::int64_t s = 0; s < layout.num_sequences(); ++s) {
        const auto [begin, rows] = pooled_rows(layout, skip, s);
        reduced.push_back(rows > 0 ? reduce(x.narrow(0, begin, rows)) : at::zeros({x.size(1)}, x.options()));
    }
    return at::stack(reduced);
}

/// The first row that counts or the last row of each sequence. One without rows takes some other's and is multiplied by zero; the first row
/// of one with nothing behind the instruction is the instruction's (sentence-transformers' too).
at::Tensor pool_one_row(const at::Tensor& x, const PackedLayout& layout, Pooling pooling, const std::vector<std::int64_t>& skip) {
    const at::Tensor rows = at::empty({layout.num_sequences()}, at::kLong), any = at::ones({layout.num_sequences(), 1}, at::kFloat);
    bool all = true;
    for (std::int64_t s = 0; s < layout.num_sequences(); ++s) {
        const auto [begin, count] = pooled_rows(layout, skip, s);
        const bool first = pooling == Pooling::cls && layout.length(s) > 0;
        const std::int64_t row = first && count > 0 ? begin : first ? layout.offsets()[s] : begin + count - 1;
        const bool none = !first && count == 0;
        rows.data_ptr<std::int64_t>()[s] = none ? 0 : row;
        if (none) any.data_ptr<float>()[s] = 0;
        all &= !none;
    }
    const at::Tensor chosen = x.index_select(0, to_device(rows, x.device()));
    return all ? chosen : chosen * to_device(any.to(x.scalar_type()), x.device());
}

/// A number of each sequence, like x: [S, 1].
at::Tensor a_sequence(const at::Tensor& x, const PackedLayout& layout, const std::function<double(std::int64_t s)>& number) {
    const at::Tensor numbers = at::empty({layout.num_sequences(), 1}, at::kDouble);
    for (std::int64_t s = 0; s < layout.num_sequences(); ++s) numbers.data_ptr<double>()[s] = number(s);
    return to_device(numbers.to(x.scalar_type()), x.device());
}

/// The rows counted from 1 in their sequence, those that are skipped, too: [T, 1].
at::Tensor places_of_rows(const at::Tensor& x, const PackedLayout& layout) {
    const at::Tensor places = at::empty({layout.num_tokens(), 1}, at::kFloat);
    for (std::int64_t s = 0; s < layout.num_sequences(); ++s)
        for (std::int64_t i = 0; i < layout.length(s); ++i) places.data_ptr<float>()[layout.offsets()[s] + i] = static_cast<float>(i + 1);
    return to_device(places.to(x.scalar_type()), x.device());
}

at::Tensor pool_mean(const at::Tensor& x, const LayoutPointer& layout, const std::vector<std::int64_t>& skip) {
    switch (ops_form(x)) {
        case OpsForm::kernels:
            return MeanPool::apply(x, layout, skip);
        case OpsForm::device:
            return device_mean(x, *layout, skip);
        case OpsForm::plain:
            break;
    }
    return each_reduced(x, *layout, skip, [](const at::Tensor& rows) { return rows.mean(0); });
}

at::Tensor pool_mean_sqrt_length(const at::Tensor& x, const LayoutPointer& layout, const std::vector<std::int64_t>& skip) {
    const at::Tensor mean = pool_mean(x, layout, skip);
    return mean *
           a_sequence(mean, *layout, [&](std::int64_t s) { return std::sqrt(static_cast<double>(pooled_rows(*layout, skip, s).second)); });
}

at::Tensor pool_weighted_mean(const at::Tensor& x, const LayoutPointer& layout, const std::vector<std::int64_t>& skip) {
    const at::Tensor wide = x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
    const at::Tensor mean = pool_mean(wide * places_of_rows(wide, *layout), layout, skip);
    return mean * a_sequence(mean, *layout, [&](std::int64_t s) {  // rows over the sum of their places: 2 over first and last
               const std::int64_t rows = pooled_rows(*layout, skip, s).second, length = layout->length(s);
               return rows == 0 ? 0 : 2.0 / static_cast<double>(2 * length - rows + 1);
           });
}

}  // namespace

void force_ops(std::optional<OpsForm> form) { forced_form = form; }

OpsForm ops_form(const at::Tensor& x) {
    if (forced_form) return *forced_form;
    if (!x.device().is_cpu()) return OpsForm::device;
    return x.scalar_type() == at::kFloat ? OpsForm::kernels : OpsForm::plain;
}

float* thread_scratch(std::size_t count) {
    struct Free {
        void operator()(float* at) const { std::free(at); }
    };
    thread_local std::unique_ptr<float[], Free> buffer;
    thread_local std::size_t size = 0;
    if (size >= count) return buffer.get();
    size = 0;
    buffer.reset();
    buffer.reset(static_cast<float*>(std::calloc(count, sizeof(float))));  // pages that nobody writes to take no memory
    if (!buffer) throw std::bad_alloc();
    size = count;
    return buffer.get();
}

std::vector<at::Tensor> rows_by_segment(const at::Tensor& x, const std::vector<Segment>& segments) {
    if (segments.size() == 1) return {x};
    std::vector<std::int64_t> sizes;
    for (const Segment& segment : segments) sizes.push_back(segment.rows());
    return x.split_with_sizes(sizes);
}

void drop_rows(const at::Tensor& rows, std::int64_t begin, const PackedLayout& layout, const DropoutSite& dropout) {
    drop_rows(rows, rows, begin, layout, dropout);
}

at::Tensor dropout_mask(const at::Tensor& like, std::int64_t columns, const PackedLayout& layout, const DropoutSite& dropout) {
    return dropped(at::ones({layout.num_tokens(), columns}, at::kFloat), layout, dropout).to(like.options());
}

at::Tensor packed_dropout(const at::Tensor& x, const LayoutPointer& layout, const DropoutSite& dropout) {
    if (dropout.p == 0) return x;
    switch (ops_form(x)) {
        case OpsForm::kernels:
            return PackedDropout::apply(x, layout, dropout);
        case OpsForm::device:
            return at::dropout(x, dropout.p, true);
        case OpsForm::plain:
            break;
    }
    return x * dropout_mask(x, x.size(1), *layout, dropout);
}

at::Tensor pool(const at::Tensor& x, const LayoutPointer& layout, Pooling pooling, const std::vector<std::int64_t>& skip) {
    switch (pooling) {
        case Pooling::mean:
            return pool_mean(x, layout, skip);
        case Pooling::mean_sqrt_length:
            return pool_mean_sqrt_length(x, layout, skip);
        case Pooling::weighted_mean:
            return pool_weighted_mean(x, layout, skip);
        case Pooling::max:
            return each_reduced(x, *layout, skip, [](const at::Tensor& rows) { return std::get<0>(rows.max(0)); });
        case Pooling::cls:
        case Pooling::last_token:
            break;
    }
    return pool_one_row(x, *layout, pooling, skip);
}

at::Tensor normalize_rows(const at::Tensor& x) { return x / x.norm(2, -1, true).clamp_min(1e-12); }

}  // namespace faceter
