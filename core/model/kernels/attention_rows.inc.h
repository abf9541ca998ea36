// Included by kernels.inc.h alone, inside its anonymous namespace: blocks of rows that attention gathers, and the softmax of one of them.

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

/// The same, row i times factors[i].
void scatter_scaled(const float* from, std::size_t padded, std::size_t rows, std::size_t width, const float* factors, float* to,
                    std::size_t stride) {
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t d = 0; d < width; ++d) to[i * stride + d] = from[i * padded + d] * factors[i];
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
    const IntVector lane = Lanes::counted() + static_cast<std::int32_t>(j);
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

/// The largest of row[first, last), whose whole vectors can be read.
inline float largest_in(const float* row, std::size_t first, std::size_t last) {
    const Vector least = splat(-__builtin_inff());
    Vector best = least;
    for (std::size_t j = first / lanes * lanes; j < last; j += lanes) {
        Vector v = load(row + j);
        if (j < first || j + lanes > last) v = select(inside(j, first, last), v, least);
        best = select(v > best, v, best);
    }
    return largest(best);
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
    const std::size_t begin = i > head.before ? i - head.before : 0, end = smaller(head.length, i + head.after + 1);
    const std::size_t first = begin > columns.first ? begin : columns.first, last = smaller(end, columns.first + columns.count);
    if (first >= last) return {0, 0};
    return {first - columns.first, last - columns.first};
}

/// exp(logits - shift) of row i from its products; the shift becomes the largest logit, if that is larger, where `find_shift`. Returns the
/// sum.
inline float softmax_row(const AttentionHead& head, const Columns& columns, std::size_t i, float* row, bool find_shift, float& shift) {
    const Seen seen = seen_by(head, columns, i);
    float scale = head.scale;
    if (head.bias) {
        add_bias(row, head.bias + (static_cast<std::ptrdiff_t>(columns.first) - static_cast<std::ptrdiff_t>(i)), seen.first, seen.last,
                 scale);
        scale = 1;
    }
    if (find_shift) {
        const float peak = largest_in(row, seen.first, seen.last) * scale;
        shift = peak > shift ? peak : shift;
    }
    return exponentials(row, seen.first, seen.last, columns.padded, scale, shift);
}
