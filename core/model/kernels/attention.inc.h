// Included by kernels.inc.h alone, inside its anonymous namespace: attention over packed sequences, and rotary positions.

// ---------------------------------------------------------------- attention

constexpr std::size_t block_rows = 64;

/// [rows, width] with rows `stride` apart -> [rows, padded width], zeros behind.
void gather(const float* from, std::size_t stride, std::size_t rows, std::size_t width, std::size_t padded, float* to) {
    for (std::size_t i = 0; i < rows; ++i) {
        std::size_t d = 0;
        for (; d < width; ++d) to[i * padded + d] = from[i * stride + d];
        for (; d < padded; ++d) to[i * padded + d] = 0;
    }
}

/// [rows, width] with rows `stride` apart -> its transpose [width, padded rows], zeros behind.
void gather_transposed(const float* from, std::size_t stride, std::size_t rows, std::size_t width, std::size_t padded, float* to) {
    const std::size_t whole_rows = rows / lanes * lanes, whole_width = width / lanes * lanes;
    for (std::size_t i = 0; i < whole_rows; i += lanes)
        for (std::size_t d = 0; d < whole_width; d += lanes) {
            Vector square[lanes];
            for (std::size_t r = 0; r < lanes; ++r) square[r] = load(from + (i + r) * stride + d);
            transpose(square);
            for (std::size_t r = 0; r < lanes; ++r) store(to + (d + r) * padded + i, square[r]);
        }
    for (std::size_t d = 0; d < width; ++d)
        for (std::size_t i = rows; i < padded; ++i) to[d * padded + i] = 0;
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t d = i < whole_rows ? whole_width : 0; d < width; ++d) to[d * padded + i] = from[i * stride + d];
}

void scatter(const float* from, std::size_t padded, std::size_t rows, std::size_t width, float* to, std::size_t stride) {
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t d = 0; d < width; ++d) to[i * stride + d] = from[i * padded + d];
}

void scatter_sum(const float* from, std::size_t padded, std::size_t rows, std::size_t width, float* to, std::size_t stride) {
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t d = 0; d < width; ++d) to[i * stride + d] += from[i * padded + d];
}

/// What lanes [j, j + lanes) keep of the half-open range [first, last).
inline IntVector inside(std::size_t j, std::size_t first, std::size_t last) {
    IntVector lane;
    for (std::size_t i = 0; i < lanes; ++i) lane[i] = static_cast<std::int32_t>(j + i);
    return (lane >= static_cast<std::int32_t>(first)) & (lane < static_cast<std::int32_t>(last));
}

/// row = exp(scale * row - shift) in [first, last), zeros elsewhere up to `padded`; returns the sum.
inline float exponentials(float* row, std::size_t first, std::size_t last, std::size_t padded, float scale, float shift) {
    Vector total{};
    for (std::size_t j = 0; j < padded; j += lanes) {
        Vector e = exp_vector(load(row + j) * scale - shift);
        if (j < first || j + lanes > last) e = select(inside(j, first, last), e, Vector{});
        store(row + j, e);
        total += e;
    }
    return sum(total);
}

/// row[j] = scale * row[j] + bias[j] in [first, last).
inline void add_bias(float* row, const float* bias, std::size_t first, std::size_t last, float scale) {
    for (std::size_t j = first; j < last; ++j) row[j] = row[j] * scale + bias[j];
}

inline float largest(const float* row, std::size_t length) {
    float best = row[0];
    std::size_t j = 0;
    if (length >= lanes) {
        Vector v = load(row);
        for (j = lanes; j + lanes <= length; j += lanes) {
            const Vector w = load(row + j);
            v = select(w > v, w, v);
        }
        best = v[0];
        for (std::size_t i = 1; i < lanes; ++i) best = v[i] > best ? v[i] : best;
    }
    for (; j < length; ++j) best = row[j] > best ? row[j] : best;
    return best;
}

/// The columns that `rows` rows from `start` see, the first rounded down to whole vectors: relative to it the rest is addressed. From 0
/// where there is dropout, whose masks count from there.
struct Columns {
    std::size_t first, count, padded;
};
inline Columns columns_of(const AttentionHead& head, std::size_t start, std::size_t rows) {
    const std::size_t first = head.dropout.threshold || start <= head.before ? 0 : (start - head.before) / lanes * lanes;
    const std::size_t last = smaller(head.length, start + rows + head.after);
    return {first, last - first, round_up(last - first, lanes)};
}

/// The part of the columns that row i itself sees.
struct Seen {
    std::size_t first, last;
};
inline Seen seen_by(const AttentionHead& head, const Columns& columns, std::size_t i) {
    const std::size_t first = i > head.before ? i - head.before : 0, last = smaller(head.length, i + head.after + 1);
    return {first - columns.first, last - columns.first};
}

/// exp(logits - shift) of row i from its products; the largest logit becomes the shift where `find_shift`. Returns the sum.
inline float softmax_row(const AttentionHead& head, const Columns& columns, std::size_t i, float* row, bool find_shift, float& shift) {
    const Seen seen = seen_by(head, columns, i);
    float scale = head.scale;
    if (head.bias) {
        add_bias(row, head.bias + (static_cast<std::ptrdiff_t>(columns.first) - static_cast<std::ptrdiff_t>(i)), seen.first, seen.last,
                 scale);
        scale = 1;
    }
    if (find_shift) shift = largest(row + seen.first, seen.last - seen.first) * scale;
    return exponentials(row, seen.first, seen.last, columns.padded, scale, shift);
}

#include "model/kernels/relative.inc.h"

void attention_forward(const AttentionHead& head, float* out, float* lse, float* scratch) {
    const std::size_t n = head.length, width = round_up(head.head_dim, lanes), padded = round_up(n, lanes);
    float* keys = scratch;                         // [width, padded], transposed
    float* values = keys + width * padded;         // [padded, width]
    float* queries = values + padded * width;      // [block, width]
    float* scores = queries + block_rows * width;  // [block, padded]
    float* result = scores + block_rows * padded;  // [block, width]
    gather_transposed(head.k, head.qkv_stride, n, head.head_dim, padded, keys);
    gather(head.v, head.qkv_stride, n, head.head_dim, width, values);
    RelativeTerms relative(head, keys, padded, result + block_rows * width);
    for (std::size_t start = 0; start < n; start += block_rows) {
        const std::size_t rows = smaller(block_rows, n - start);
        const Columns columns = columns_of(head, start, rows);
        gather(head.q + start * head.qkv_stride, head.qkv_stride, rows, head.head_dim, width, queries);
        product<false>(rows, columns.padded, head.head_dim, queries, width, 1, keys + columns.first, padded, scores, padded);
        relative.take_queries(rows, queries);
        for (std::size_t i = 0; i < rows; ++i) {
            float* row = scores + i * padded;
            relative.add(row, columns, start, i);
            float peak = 0;
            const float total = softmax_row(head, columns, start + i, row, true, peak);
            const Vector inverse = splat(1.0f / total);
            for (std::size_t j = 0; j < columns.padded; j += lanes) store(row + j, load(row + j) * inverse);
            lse[start + i] = peak + __builtin_logf(total);
            if (head.dropout.threshold) dropout_row(row, row, columns.count, start + i, head.sequence_key, head.dropout);
        }
        product<false>(rows, width, columns.count, scores, padded, 1, values + columns.first * width, width, result, width);
        scatter(result, width, rows, head.head_dim, out + start * head.out_stride, head.out_stride);
    }
}

inline float dot(const float* a, const float* b, std::size_t count) {
    float total = 0;
    for (std::size_t d = 0; d < count; ++d) total += a[d] * b[d];
    return total;
}

/// ds = scale * p o (dp - delta), where dp arrives masked by the dropout of p; p leaves as dropout(p).
void score_gradients(const AttentionHead& head, const Columns& columns, float* p, float* dp, std::size_t row, float delta) {
    if (head.dropout.threshold) dropout_row(dp, dp, columns.count, row, head.sequence_key, head.dropout);
    if (head.dbias) {
        float* dbias = head.dbias + (static_cast<std::ptrdiff_t>(columns.first) - static_cast<std::ptrdiff_t>(row));
        for (std::size_t j = 0; j < columns.count; ++j) dbias[j] += p[j] * (dp[j] - delta);
    }
    for (std::size_t j = 0; j < columns.padded; j += lanes) store(dp + j, load(p + j) * (load(dp + j) - delta) * head.scale);
    if (head.dropout.threshold) dropout_row(p, p, columns.count, row, head.sequence_key, head.dropout);
}

void attention_backward(const AttentionHead& head, const float* out, const float* dout, const float* lse, float* dq, float* dk, float* dv,
                        float* scratch) {
    const std::size_t n = head.length, dim = head.head_dim, width = round_up(dim, lanes), padded = round_up(n, lanes);
    float* keys_t = scratch;                      // [width, padded]
    float* values_t = keys_t + width * padded;    // [width, padded]
    float* keys = values_t + width * padded;      // [padded, width]
    float* dkeys = keys + padded * width;         // [padded, width]
    float* dvalues = dkeys + padded * width;      // [padded, width]
    float* queries = dvalues + padded * width;    // [block, width]
    float* douts = queries + block_rows * width;  // [block, width]
    float* dqueries = douts + block_rows * width;
    float* p = dqueries + block_rows * width;  // [block, padded]
    float* dp = p + block_rows * padded;       // [block, padded]
    gather_transposed(head.k, head.qkv_stride, n, dim, padded, keys_t);
    gather_transposed(head.v, head.qkv_stride, n, dim, padded, values_t);
    gather(head.k, head.qkv_stride, n, dim, width, keys);
    __builtin_memset(dkeys, 0, 2 * padded * width * sizeof(float));
    RelativeTerms relative(head, keys_t, padded, dp + block_rows * padded);
    RelativeGradients relative_gradients(head, relative);
    for (std::size_t start = 0; start < n; start += block_rows) {
        const std::size_t rows = smaller(block_rows, n - start);
        const Columns columns = columns_of(head, start, rows);
        gather(head.q + start * head.qkv_stride, head.qkv_stride, rows, dim, width, queries);
        gather(dout + start * head.out_stride, head.out_stride, rows, dim, width, douts);
        product<false>(rows, columns.padded, dim, queries, width, 1, keys_t + columns.first, padded, p, padded);
        product<false>(rows, columns.padded, dim, douts, width, 1, values_t + columns.first, padded, dp, padded);
        relative.take_queries(rows, queries);
        for (std::size_t i = 0; i < rows; ++i) {
            float shift = lse[start + i];
            relative.add(p + i * padded, columns, start, i);
            softmax_row(head, columns, start + i, p + i * padded, false, shift);
            const float delta = dot(douts + i * width, out + (start + i) * head.out_stride, dim);
            score_gradients(head, columns, p + i * padded, dp + i * padded, start + i, delta);
        }
        product<true>(columns.count, width, rows, p, 1, padded, douts, width, dvalues + columns.first * width, width);
        product<true>(columns.count, width, rows, dp, 1, padded, queries, width, dkeys + columns.first * width, width);
        product<false>(rows, width, columns.count, dp, padded, 1, keys + columns.first * width, width, dqueries, width);
        relative_gradients.add_block(columns, start, rows, dp, padded, queries, dqueries);
        scatter(dqueries, width, rows, dim, dq + start * head.qkv_stride, head.qkv_stride);
    }
    relative_gradients.finish(keys, dkeys);
    const auto leave = head.add_to_keys ? scatter_sum : scatter;
    leave(dkeys, width, n, dim, dk, head.qkv_stride);
    leave(dvalues, width, n, dim, dv, head.qkv_stride);
}

void rotate(float* x, std::size_t rows, std::size_t stride, std::size_t heads, std::size_t head_dim, std::size_t half, const float* cosine,
            const float* sine, bool inverse) {
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t h = 0; h < heads; ++h) {
            float *first = x + i * stride + h * head_dim, *second = first + half;
            const float *c = cosine + i * half, *s = sine + i * half;
            const float sign = inverse ? -1.0f : 1.0f;
            for (std::size_t d = 0; d < half; ++d) {
                const float a = first[d], b = second[d], turn = sign * s[d];
                first[d] = a * c[d] - b * turn;
                second[d] = b * c[d] + a * turn;
            }
        }
}
