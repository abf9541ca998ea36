#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "checkpoint/relative_position.h"
#include "model/device_attention.h"
#include "model/head_norm.h"
#include "model/ops_common.h"

namespace faceter {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct AttentionShape {
    LayoutPointer layout;
    AttentionForm form;
    DropoutSite dropout;
    std::optional<HeadNorm> norm{};  ///< of queries and keys before they are turned; its weights travel as inputs
    std::int64_t heads() const { return form.heads; }
    /// Heads of queries that read one head of keys.
    std::int64_t group() const { return form.heads / form.key_heads; }
    std::int64_t width(const at::Tensor& qkv) const { return qkv.size(1) / (form.heads + 2 * form.key_heads); }
};

/// Where a head's rows of a sequence begin in the packed q | k | v of the batch.
struct HeadPlace {
    std::int64_t q, k, v;
};
HeadPlace place_of(const AttentionShape& shape, const at::Tensor& qkv, std::int64_t sequence, std::int64_t head) {
    const std::int64_t row = shape.layout->offsets()[static_cast<std::size_t>(sequence)] * qkv.size(1), width = shape.width(qkv),
                       keys = row + (shape.heads() + head / shape.group()) * width;
    return {row + head * width, keys, keys + shape.form.key_heads * width};
}

/// What the heads of a sequence of `length` tokens read of the table of distances, from its first row of the table on.
struct TablePart {
    std::int64_t first = 0, rows = 0;
    const std::int32_t* row = nullptr;  ///< points at distance 0
};
TablePart table_part(const AttentionShape& shape, std::int64_t length) {
    if (!shape.form.relative || length == 0) return {};
    const std::int32_t* row = shape.form.relative->row.data() + shape.form.relative->row.size() / 2;
    return {row[1 - length], row[length - 1] - row[1 - length] + 1, row};
}

/// Where the projected table of this sequence begins, in rows.
std::int64_t table_start(const RelativeTerms& relative, std::int64_t sequence) {
    return relative.table_of.empty() ? 0 : relative.table_of[static_cast<std::size_t>(sequence)] * relative.num_rows;
}

kernels::RelativeRows relative_rows(const AttentionShape& shape, const at::Tensor& table, std::int64_t sequence, std::int64_t head) {
    const TablePart part = table_part(shape, shape.layout->length(sequence));
    if (part.rows == 0) return {};
    const RelativeTerms& relative = *shape.form.relative;
    const std::int64_t width = shape.width(table);
    const float* begin = data(table) + (table_start(relative, sequence) + part.first) * table.size(1) + head * width;
    kernels::RelativeRows rows;
    rows.rows = static_cast<std::size_t>(part.rows);
    if (relative.key_reads) rows.query = begin;
    if (relative.query_reads) rows.key = begin + shape.heads() * width;
    rows.stride = static_cast<std::size_t>(table.size(1));
    rows.row = part.row;
    rows.first = static_cast<std::int32_t>(part.first);
    return rows;
}

/// One head of one sequence; `bias`: the rows of the position bias, or nothing; `table`: of distances, or nothing.
kernels::AttentionHead head_of(const AttentionShape& shape, const at::Tensor& qkv, std::int64_t sequence, std::int64_t head,
                               kernels::Dropout dropout, const at::Tensor& bias, const at::Tensor& table) {
    const HeadPlace place = place_of(shape, qkv, sequence, head);
    const std::int64_t width = shape.width(qkv), length = shape.layout->length(sequence);
    dropout.site = dropout.site * 1024 + static_cast<std::uint32_t>(head);
    kernels::AttentionHead result{data(qkv) + place.q,
                                  data(qkv) + place.k,
                                  data(qkv) + place.v,
                                  static_cast<std::size_t>(qkv.size(1)),
                                  static_cast<std::size_t>(shape.heads() * width),
                                  static_cast<std::size_t>(length),
                                  static_cast<std::size_t>(width),
                                  static_cast<float>(shape.form.scale),
                                  dropout,
                                  shape.layout->keys()[static_cast<std::size_t>(sequence)],
                                  static_cast<std::size_t>(std::min(shape.form.reach.before, length)),
                                  static_cast<std::size_t>(std::min(shape.form.reach.after, length))};
    if (bias.numel() > 0) result.bias = data(bias) + head * bias.size(1) + bias.size(1) / 2;
    result.relative = relative_rows(shape, table, sequence, head);
    return result;
}

/// task(sequence, head) for all sequences and `heads` heads.
template <typename Task>
void over_heads(const AttentionShape& shape, std::int64_t heads, Task task) {
    const auto& order = shape.layout->longest_first();
    parallel_tasks(static_cast<std::int64_t>(order.size()) * heads,
                   [&](std::int64_t i) { task(order[static_cast<std::size_t>(i / heads)], i % heads); });
}

/// Whether the table has a row for each packed token, as where each text turns by its own length, and not for each position.
bool has_row_each(const RotaryTable& table, const PackedLayout& layout) { return table.cosine.size(0) == layout.num_tokens(); }

/// Turns the queries and keys of packed q | k | v in place.
void rotate_packed(const at::Tensor& qkv, const AttentionShape& shape, bool inverse) {
    if (!shape.form.rotary) return;
    const RotaryTable& table = *shape.form.rotary;
    const std::int64_t dim = qkv.size(1), half = table.cosine.size(1);
    constexpr std::int64_t rows_a_task = 64;
    const auto& offsets = shape.layout->offsets();
    const bool by_row = has_row_each(table, *shape.layout);
    std::vector<std::pair<std::int64_t, std::int64_t>> parts;  // sequence, first row within it
    for (std::int64_t s = 0; s < shape.layout->num_sequences(); ++s)
        for (std::int64_t row = 0; row < shape.layout->length(s); row += rows_a_task) parts.emplace_back(s, row);
    parallel_tasks(static_cast<std::int64_t>(parts.size()), [&](std::int64_t i) {
        const auto [s, row] = parts[static_cast<std::size_t>(i)];
        const auto rows = static_cast<std::size_t>(std::min(rows_a_task, shape.layout->length(s) - row));
        const std::int64_t packed = offsets[static_cast<std::size_t>(s)] + row, angle = by_row ? packed : row;
        kernels::kernels().rotate(data(qkv) + packed * dim, rows, static_cast<std::size_t>(dim),
                                  static_cast<std::size_t>(shape.heads() + shape.form.key_heads),
                                  static_cast<std::size_t>(shape.width(qkv)), static_cast<std::size_t>(half),
                                  data(table.cosine) + angle * half, data(table.sine) + angle * half, inverse);
    });
}

/// The gradient of the position bias: each head of each sequence adds up its own distances, then they are summed in a fixed order.
class BiasGradient {
  public:
    BiasGradient(const AttentionShape& shape, const at::Tensor& bias) : shape_(shape), wanted_(bias.numel() > 0) {
        if (!wanted_) return;
        std::int64_t total = 0;
        for (std::int64_t s = 0; s < shape.layout->num_sequences(); ++s) {
            starts_.push_back(total);
            total += shape.heads() * std::max<std::int64_t>(0, 2 * shape.layout->length(s) - 1);  // a text may have no tokens
        }
        parts_.assign(static_cast<std::size_t>(total), 0.0f);
    }
    /// Where distance 0 of this head is, or null.
    float* of(std::int64_t sequence, std::int64_t head) {
        const std::int64_t length = shape_.layout->length(sequence);
        return wanted_ ? parts_.data() + starts_[sequence] + head * (2 * length - 1) + length - 1 : nullptr;
    }
    at::Tensor sum(const at::Tensor& bias) {
        if (!wanted_) return {};
        const at::Tensor total = at::zeros(bias.sizes(), at::kDouble);
        for (std::int64_t s = 0; s < shape_.layout->num_sequences(); ++s)
            for (std::int64_t h = 0; h < shape_.heads(); ++h) {
                const std::int64_t reach = shape_.layout->length(s) - 1;
                double* to = total.data_ptr<double>() + h * bias.size(1) + bias.size(1) / 2;
                const float* from = of(s, h);
                for (std::int64_t distance = -reach; distance <= reach; ++distance) to[distance] += from[distance];
            }
        return total.to(at::kFloat);
    }

  private:
    const AttentionShape& shape_;
    bool wanted_;
    std::vector<std::int64_t> starts_;
    std::vector<float> parts_;
};

/// The gradient of the projected table of distances, likewise: each head of each sequence has rows of its own, query's and key's.
class TableGradient {
  public:
    TableGradient(const AttentionShape& shape, const at::Tensor& table) : shape_(shape), width_(shape.width(table)) {
        if (!shape.form.relative) return;
        std::int64_t total = 0;
        for (std::int64_t s = 0; s < shape.layout->num_sequences(); ++s) {
            starts_.push_back(total);
            total += 2 * shape.heads() * part_size(s);
        }
        parts_.assign(static_cast<std::size_t>(total), 0.0f);
    }
    void point(kernels::RelativeRows& rows, std::int64_t sequence, std::int64_t head) {
        if (rows.rows == 0) return;
        rows.dquery = part(sequence, head, 0);
        rows.dkey = part(sequence, head, 1);
    }
    at::Tensor sum(const at::Tensor& table) {
        if (!shape_.form.relative) return {};
        const at::Tensor total = at::zeros_like(table);
        parallel_tasks(2 * shape_.heads(), [&](std::int64_t i) {
            const std::int64_t which = i / shape_.heads(), head = i % shape_.heads();
            for (std::int64_t s = 0; s < shape_.layout->num_sequences(); ++s) add(total, s, head, which);
        });
        return total;
    }

  private:
    std::int64_t part_size(std::int64_t s) const { return table_part(shape_, shape_.layout->length(s)).rows * width_; }
    float* part(std::int64_t s, std::int64_t head, std::int64_t which) {
        return parts_.data() + starts_[static_cast<std::size_t>(s)] + (2 * head + which) * part_size(s);
    }
    void add(const at::Tensor& total, std::int64_t s, std::int64_t head, std::int64_t which) {
        const TablePart rows = table_part(shape_, shape_.layout->length(s));
        const float* from = part(s, head, which);
        float* to =
            data(total) + (table_start(*shape_.form.relative, s) + rows.first) * total.size(1) + (which * shape_.heads() + head) * width_;
        for (std::int64_t r = 0; r < rows.rows; ++r)
            for (std::int64_t d = 0; d < width_; ++d) to[r * total.size(1) + d] += from[r * width_ + d];
    }

    const AttentionShape& shape_;
    std::int64_t width_;
    std::vector<std::int64_t> starts_;
    std::vector<float> parts_;
};

std::size_t scratch_of(const AttentionShape& shape, std::int64_t width) {
    const std::int64_t length = shape.layout->max_length();
    return kernels::attention_scratch(static_cast<std::size_t>(length), static_cast<std::size_t>(width),
                                      static_cast<std::size_t>(table_part(shape, length).rows));
}

/// The norms of heads among the inputs of the graph.
std::optional<HeadNorm> head_norm(const AttentionShape& shape, const at::Tensor& query_gamma, const at::Tensor& key_gamma) {
    if (!shape.norm) return std::nullopt;
    return HeadNorm{query_gamma, key_gamma, shape.norm->heads, shape.norm->key_heads, shape.norm->form};
}

/// Queries and keys as the products take them, in the place of qkv where they are not normed; and the moments of the norms.
std::pair<at::Tensor, at::Tensor> turned(const at::Tensor& qkv, const std::optional<HeadNorm>& norm, const AttentionShape& shape) {
    auto result = norm ? norm->normed(qkv) : std::pair(qkv, at::Tensor());
    rotate_packed(result.first, shape, false);
    return result;
}

/// Saved: queries, keys and values as they are multiplied, or as they come before their norms, which are taken again in backward.
struct PackedAttention : Function<PackedAttention> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& packed, const at::Tensor& bias, const at::Tensor& given_table,
                              const at::Tensor& query_gamma, const at::Tensor& key_gamma, const AttentionShape& shape) {
        const at::Tensor given = packed.detach().contiguous(), table = given_table.detach().contiguous();
        const at::Tensor qkv = turned(given, head_norm(shape, query_gamma, key_gamma), shape).first;
        const std::int64_t tokens = qkv.size(0), width = shape.width(qkv), dim = shape.heads() * width;
        const at::Tensor out = at::empty({tokens, dim}, qkv.options());
        const at::Tensor lse = at::empty({shape.heads(), tokens}, qkv.options());
        const std::size_t scratch = scratch_of(shape, width);
        const auto dropout = shape.dropout.kernel();
        over_heads(shape, shape.heads(), [&](std::int64_t s, std::int64_t h) {
            const std::int64_t row = shape.layout->offsets()[static_cast<std::size_t>(s)];
            kernels::kernels().attention_forward(head_of(shape, qkv, s, h, dropout, bias, table), data(out) + row * dim + h * width,
                                                 data(lse) + h * tokens + row, thread_scratch(scratch));
        });
        context->save_for_backward({given, out, lse, bias, table, query_gamma, key_gamma});
        context->saved_data["shape"] = Carried<AttentionShape>::wrap(shape);
        return out;
    }

    /// The heads that read the same keys follow each other in one task, which adds up the gradients of those keys.
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        const auto& shape = Carried<AttentionShape>::from(context->saved_data["shape"]);
        const auto norm = head_norm(shape, saved[5], saved[6]);
        const auto [qkv, moments] = norm ? turned(saved[0], norm, shape) : std::pair(saved[0], at::Tensor());
        const at::Tensor &out = saved[1], &lse = saved[2], &bias = saved[3], &table = saved[4], dout = gradients[0].contiguous();
        const std::int64_t tokens = qkv.size(0), width = shape.width(qkv), dim = shape.heads() * width, group = shape.group();
        const at::Tensor dqkv = at::empty_like(qkv);
        const std::size_t scratch = scratch_of(shape, width);
        const auto dropout = shape.dropout.kernel();
        BiasGradient dbias(shape, bias);
        TableGradient dtable(shape, table);
        over_heads(shape, shape.form.key_heads, [&, &qkv = qkv](std::int64_t s, std::int64_t key_head) {
            const std::int64_t row = shape.layout->offsets()[static_cast<std::size_t>(s)];
            for (std::int64_t h = key_head * group; h < (key_head + 1) * group; ++h) {
                const HeadPlace place = place_of(shape, dqkv, s, h);
                auto head = head_of(shape, qkv, s, h, dropout, bias, table);
                head.dbias = dbias.of(s, h);
                dtable.point(head.relative, s, h);
                head.add_to_keys = h > key_head * group;
                kernels::kernels().attention_backward(head, data(out) + row * dim + h * width, data(dout) + row * dim + h * width,
                                                      data(lse) + h * tokens + row, data(dqkv) + place.q, data(dqkv) + place.k,
                                                      data(dqkv) + place.v, thread_scratch(scratch));
            }
        });
        rotate_packed(dqkv, shape, true);
        if (!norm) return {dqkv, dbias.sum(bias), dtable.sum(table), {}, {}, {}};
        const auto [dgiven, dquery, dkey] = norm->backward(saved[0], moments, dqkv);
        return {dgiven, dbias.sum(bias), dtable.sum(table), dquery, dkey, {}};
    }
};

/// The dropout mask of one sequence's probabilities, [heads, L, L], from the same random words as the kernels draw.
at::Tensor probability_mask(const AttentionShape& shape, std::int64_t s, const at::Tensor& like) {
    const std::int64_t length = shape.layout->length(s), heads = shape.heads();
    const at::Tensor ones = at::ones({length, length}, at::kFloat), mask = at::empty({heads, length, length}, at::kFloat);
    for (std::int64_t h = 0; h < heads; ++h) {
        auto dropout = shape.dropout.kernel();
        dropout.site = dropout.site * 1024 + static_cast<std::uint32_t>(h);
        kernels::kernels().dropout_rows(data(ones), data(mask) + h * length * length, static_cast<std::size_t>(length),
                                        static_cast<std::size_t>(length), 0, shape.layout->keys()[static_cast<std::size_t>(s)], dropout);
    }
    return mask.to(like.options());
}

/// x [heads, L, width] turned by its positions, whose angles begin at row `first`.
at::Tensor rotated(const at::Tensor& x, const RotaryTable& table, std::int64_t first) {
    const std::int64_t half = table.cosine.size(1), length = x.size(1);
    const at::Tensor c = table.cosine.narrow(0, first, length).to(x.options()), s = table.sine.narrow(0, first, length).to(x.options());
    const at::Tensor a = x.narrow(2, 0, half), b = x.narrow(2, half, half);
    return at::cat({a * c - b * s, b * c + a * s, x.narrow(2, 2 * half, x.size(2) - 2 * half)}, 2);
}

/// The products with the table of distances that each pair of tokens of a sequence reads: q, k [heads, L, width] -> [heads, L, L].
at::Tensor relative_products(const at::Tensor& q, const at::Tensor& k, const AttentionShape& shape, std::int64_t sequence,
                             const at::Tensor& backwards) {
    const RelativeTerms& relative = *shape.form.relative;
    const std::int64_t heads = shape.heads(), width = q.size(2), length = q.size(1);
    const at::Tensor table = relative.table.narrow(0, table_start(relative, sequence), relative.num_rows);
    const auto by_head = [&](std::int64_t first) {
        return table.narrow(1, first, heads * width).reshape({-1, heads, width}).permute({1, 2, 0});  // [heads, width, R]
    };
    const at::Tensor row = relative.row_there.index_select(0, (backwards + relative.row_there.size(0) / 2).flatten())
                               .view({1, length, length})
                               .expand({heads, length, length});
    at::Tensor sum = at::zeros({heads, length, length}, q.options());
    if (relative.query_reads) sum = sum + at::matmul(q, by_head(heads * width)).gather(2, row);
    if (relative.key_reads) sum = sum + at::matmul(k, by_head(0)).gather(2, row.transpose(1, 2)).transpose(1, 2);
    return sum;
}

/// One sequence at a time, the equation as it stands.
at::Tensor plain_attention(const at::Tensor& qkv, const AttentionShape& shape) {
    const AttentionForm& form = shape.form;
    const std::int64_t width = shape.width(qkv), dim = form.heads * width, key_dim = form.key_heads * width;
    std::vector<at::Tensor> outputs;
    for (std::int64_t s = 0; s < shape.layout->num_sequences(); ++s) {
        const std::int64_t length = shape.layout->length(s);
        const at::Tensor rows = qkv.narrow(0, shape.layout->offsets()[static_cast<std::size_t>(s)], length);
        const auto by_head = [&](std::int64_t first, std::int64_t columns) {
            return rows.narrow(1, first, columns).reshape({length, columns / width, width}).transpose(0, 1);  // [heads, L, width]
        };
        at::Tensor q = by_head(0, dim), k = by_head(dim, key_dim), v = by_head(dim + key_dim, key_dim);
        if (form.rotary) {
            const std::int64_t angles =
                has_row_each(*form.rotary, *shape.layout) ? shape.layout->offsets()[static_cast<std::size_t>(s)] : 0;
            q = rotated(q, *form.rotary, angles), k = rotated(k, *form.rotary, angles);
        }
        k = k.repeat_interleave(shape.group(), 0), v = v.repeat_interleave(shape.group(), 0);
        const at::Tensor index = at::arange(length, qkv.options().dtype(at::kLong));
        const at::Tensor distance = index.unsqueeze(0) - index.unsqueeze(1);  // key - query
        at::Tensor products = at::matmul(q, k.transpose(1, 2));               // [heads, L, L]
        if (form.relative) products = products + relative_products(q, k, shape, s, -distance);
        at::Tensor logits = products * form.scale;
        if (form.position_bias.defined())
            logits = logits + form.position_bias.index_select(1, (distance + form.position_bias.size(1) / 2).flatten())
                                  .view({form.heads, length, length});
        if (form.reach.is_limited())
            logits = logits.masked_fill((distance > form.reach.after) | (distance < -form.reach.before),
                                        -std::numeric_limits<double>::infinity());
        at::Tensor p = logits.softmax(-1);
        if (shape.dropout.p > 0) p = p * probability_mask(shape, s, p);
        outputs.push_back(at::matmul(p, v).transpose(0, 1).reshape({length, dim}));
    }
    return at::cat(outputs);
}

}  // namespace

RotaryTable rotary_table(std::int64_t length, std::int64_t rotary_dim, const Rotary& rotary) {
    const std::int64_t half = rotary_dim / 2;
    RotaryTable table{at::empty({length, half}, at::kFloat), at::empty({length, half}, at::kFloat)};
    for (std::int64_t i = 0; i < half; ++i) {
        const float frequency = rotary_frequency(i, rotary_dim, rotary);  // and angles in float32, as the released code has them
        for (std::int64_t p = 0; p < length; ++p) {
            const float angle = static_cast<float>(p) * frequency;
            data(table.cosine)[p * half + i] = rotary.amplitude * std::cos(angle);
            data(table.sine)[p * half + i] = rotary.amplitude * std::sin(angle);
        }
    }
    return table;
}

namespace {

at::Tensor kernel_attention(const at::Tensor& qkv, AttentionShape shape, const at::Tensor& query_gamma, const at::Tensor& key_gamma) {
    const AttentionForm form = shape.form;
    const at::Tensor bias = form.position_bias.defined() ? form.position_bias.contiguous() : at::empty({0}, qkv.options());
    at::Tensor table = at::empty({0, qkv.size(1)}, qkv.options());
    shape.form.position_bias = at::Tensor();  // travels as an input, for its gradient, and so does the table
    if (form.relative) {
        table = form.relative->table;
        RelativeTerms terms = *form.relative;
        terms.table = at::Tensor();
        shape.form.relative = std::make_shared<RelativeTerms>(std::move(terms));
    }
    return PackedAttention::apply(qkv, bias, table, query_gamma, key_gamma, shape);
}

}  // namespace

at::Tensor packed_attention(const at::Tensor& qkv, const LayoutPointer& layout, const AttentionForm& form, const DropoutSite& dropout) {
    const AttentionShape shape{layout, form, dropout};
    switch (ops_form(qkv)) {
        case OpsForm::kernels:
            break;
        case OpsForm::device:
            return device_attention(qkv, *layout, form, dropout.p);
        case OpsForm::plain:
            return plain_attention(qkv, shape);
    }
    const at::Tensor nothing = at::empty({0}, qkv.options());
    return kernel_attention(qkv, shape, nothing, nothing);
}

at::Tensor normed_attention(const at::Tensor& qkv, const HeadNorm& norm, const LayoutPointer& layout, const AttentionForm& form,
                            const DropoutSite& dropout) {
    if (!fast_path(qkv)) return packed_attention(norm_heads(qkv, norm), layout, form, dropout);
    return kernel_attention(qkv, {layout, form, dropout, HeadNorm{{}, {}, norm.heads, norm.key_heads, norm.form}}, norm.query_gamma,
                            norm.key_gamma);
}

}  // namespace faceter
