// Included by kernels.inc.h alone, inside its anonymous namespace: attention over packed sequences, and rotary positions.

// ---------------------------------------------------------------- attention

/// Keys that a block of queries meets at a time: their products stay in the cache however long the text is.
constexpr std::size_t block_keys = 512;

/// Keys transposed, a block of [width, step] after the other. Rows are an odd number of vectors apart: else they compete for the same lines
/// of the cache.
struct KeyBlocks {
    float* begin;
    std::size_t width, step, stride;

    /// Masks of dropout and rows of a table are of all keys at once.
    KeyBlocks(const AttentionHead& head, float* scratch)
        : begin(scratch), width(round_up(head.head_dim, lanes)), step(round_up(head.length + (head.length == 0), lanes)) {
        if (!head.dropout.threshold && head.relative.rows == 0) step = smaller(step, block_keys);
        stride = step / lanes % 2 ? step : step + lanes;
        for (std::size_t j = 0; j < head.length; j += step)
            gather_transposed(head.k + j * head.qkv_stride, head.qkv_stride, smaller(step, head.length - j), head.head_dim, stride, at(j));
    }
    float* at(std::size_t key) const { return begin + key / step * width * stride + key % step; }
    float* end(std::size_t keys) const { return begin + (keys + step - 1) / step * width * stride; }
    /// The columns from `key` on that stand in its block.
    Columns part(const Columns& columns, std::size_t key) const {
        const std::size_t next = smaller((key / step + 1) * step, columns.first + columns.padded);
        return {key, smaller(next, columns.first + columns.count) - key, next - key};
    }
};

/// What a block of queries has gathered, key block after key block (online softmax; Milakov and Gimelshein, 2018): the largest logit of
/// each row so far, the sum of its exponentials above that, and the sum of values times these.
struct Gathered {
    float peak[block_rows], total[block_rows];
    float* values;  ///< [block, width]
    std::size_t width;

    void begin(std::size_t rows) {
        for (std::size_t i = 0; i < rows; ++i) peak[i] = -__builtin_inff(), total[i] = 0;
    }
    /// Row i has met more keys: its peak was `before`, their exponentials sum to `more`.
    void add(std::size_t i, float before, float more, bool is_first) {
        if (!is_first && peak[i] != before) {
            const float factor = exp_vector(splat(before - peak[i]))[0];
            total[i] *= factor;
            for (std::size_t d = 0; d < width; d += lanes) store(values + i * width + d, load(values + i * width + d) * factor);
        }
        total[i] += more;
    }
    void finish(std::size_t rows, std::size_t head_dim, float* out, std::size_t out_stride, float* lse) {
        for (std::size_t i = 0; i < rows; ++i) {
            lse[i] = peak[i] + __builtin_logf(total[i]);
            total[i] = 1.0f / total[i];
        }
        scatter_scaled(values, width, rows, head_dim, total, out, out_stride);
    }
};

void attention_forward(const AttentionHead& head, float* out, float* lse, float* scratch) {
    const std::size_t n = head.length, width = round_up(head.head_dim, lanes);
    const KeyBlocks keys(head, scratch);
    float* values = keys.end(n);                           // [padded, width]
    float* queries = values + round_up(n, lanes) * width;  // [block, width]
    float* scores = queries + block_rows * width;          // [block, keys.stride]
    float* result = scores + block_rows * keys.stride;     // [block, width]
    gather(head.v, head.qkv_stride, n, head.head_dim, width, values);
    RelativeTerms relative(head, keys.begin, keys.stride, result + block_rows * width);
    Gathered gathered{{}, {}, result, width};
    for (std::size_t start = 0; start < n; start += block_rows) {
        const std::size_t rows = smaller(block_rows, n - start);
        const Columns columns = columns_of(head, start, rows);
        gather(head.q + start * head.qkv_stride, head.qkv_stride, rows, head.head_dim, width, queries);
        relative.take_queries(rows, queries);
        gathered.begin(rows);
        for (std::size_t k = columns.first; k < columns.first + columns.padded;) {
            const Columns part = keys.part(columns, k);
            const bool is_first = k == columns.first;
            product<false>(rows, part.padded, head.head_dim, queries, width, 1, keys.at(k), keys.stride, scores, keys.stride);
            for (std::size_t i = 0; i < rows; ++i) {
                float* row = scores + i * keys.stride;
                relative.add(row, part, start, i);
                const float before = gathered.peak[i];
                gathered.add(i, before, softmax_row(head, part, start + i, row, true, gathered.peak[i]), is_first);
                if (head.dropout.threshold) dropout_row(row, row, part.count, start + i, head.sequence_key, head.dropout);
            }
            if (is_first)
                product<false>(rows, width, part.count, scores, keys.stride, 1, values + k * width, width, result, width);
            else
                product<true>(rows, width, part.count, scores, keys.stride, 1, values + k * width, width, result, width);
            k += part.padded;
        }
        gathered.finish(rows, head.head_dim, out + start * head.out_stride, head.out_stride, lse + start);
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
