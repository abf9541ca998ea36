// Included by kernels.inc.h alone, inside its anonymous namespace: the terms of disentangled attention (DeBERTa; He et al., 2021, equation
// 4) of one head.

/// The two terms of disentangled attention of one head: products of every query and of every key with the rows of the table, which the
/// logits then pick from by distance.
class RelativeTerms {
  public:
    /// keys: element d of key j at keys[d * key_stride + j]. The memory behind `scratch` is used up to end().
    RelativeTerms(const AttentionHead& head, const float* keys, std::size_t key_stride, float* scratch)
        : head_(head), table_(head.relative), padded_(round_up(table_.rows, lanes)), width_(round_up(head.head_dim, lanes)) {
        if (table_.rows == 0) {
            end_ = scratch;
            return;
        }
        key_ = scratch;                                 // [width, padded]
        query_ = key_ + width_ * padded_;               // [width, padded]
        of_queries_ = query_ + width_ * padded_;        // [block, padded]
        of_keys_ = of_queries_ + block_rows * padded_;  // [length, padded]
        end_ = of_keys_ + round_up(head.length, lanes) * padded_;
        if (table_.key) gather_transposed(table_.key, table_.stride, table_.rows, head.head_dim, padded_, key_);
        if (!table_.query) return;
        gather_transposed(table_.query, table_.stride, table_.rows, head.head_dim, padded_, query_);
        product<false>(head.length, padded_, head.head_dim, keys, 1, key_stride, query_, padded_, of_keys_, padded_);
    }

    float* end() const { return end_; }
    std::size_t padded() const { return padded_; }
    std::size_t width() const { return width_; }

    /// Of a block of queries, [rows, width].
    void take_queries(std::size_t rows, const float* queries) {
        if (table_.rows > 0 && table_.key)
            product<false>(rows, padded_, head_.head_dim, queries, width_, 1, key_, padded_, of_queries_, padded_);
    }
    /// Adds to the products of row `start` + i of the text, the i-th of the block.
    void add(float* row, const Columns& columns, std::size_t start, std::size_t i) const {
        if (table_.rows == 0) return;
        const float* of_query = of_queries_ + i * padded_;
        for (std::size_t j = 0; j < columns.count; ++j) {
            const std::size_t key = columns.first + j, r = place(start + i, key);
            if (table_.key) row[j] += of_query[r];
            if (table_.query) row[j] += of_keys_[key * padded_ + r];
        }
    }
    /// The row of the table that query `i` and key `j` of the text read.
    std::size_t place(std::size_t i, std::size_t j) const {
        return static_cast<std::size_t>(table_.row[static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(j)] - table_.first);
    }

  private:
    const AttentionHead& head_;
    const RelativeRows& table_;
    std::size_t padded_, width_;
    float *key_ = nullptr, *query_ = nullptr, *of_queries_ = nullptr, *of_keys_ = nullptr, *end_ = nullptr;
};

/// The gradients of those terms.
class RelativeGradients {
  public:
    RelativeGradients(const AttentionHead& head, const RelativeTerms& terms)
        : head_(head), table_(head.relative), terms_(terms), padded_(terms.padded()), width_(terms.width()) {
        if (table_.rows == 0) return;
        key_ = terms.end();  // [padded, width] each
        query_ = key_ + padded_ * width_;
        dkey_ = query_ + padded_ * width_;
        dquery_ = dkey_ + padded_ * width_;
        of_queries_ = dquery_ + padded_ * width_;       // [block, padded]
        of_keys_ = of_queries_ + block_rows * padded_;  // [length, padded]
        __builtin_memset(dkey_, 0, 2 * padded_ * width_ * sizeof(float));
        if (table_.key) gather(table_.key, table_.stride, table_.rows, head.head_dim, width_, key_);
        if (!table_.query) return;
        gather(table_.query, table_.stride, table_.rows, head.head_dim, width_, query_);
        __builtin_memset(of_keys_, 0, head.length * padded_ * sizeof(float));
    }

    /// Of a block of rows from `start`: their part of dqueries [rows, width] is added, from the gradients of their products, [rows,
    /// `stride`], and queries [rows, width].
    void add_block(const Columns& columns, std::size_t start, std::size_t rows, const float* products, std::size_t stride,
                   const float* queries, float* dqueries) {
        if (table_.rows == 0) return;
        __builtin_memset(of_queries_, 0, rows * padded_ * sizeof(float));
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < columns.count; ++j) {
                const std::size_t key = columns.first + j, r = terms_.place(start + i, key);
                const float gradient = products[i * stride + j];
                if (table_.key) of_queries_[i * padded_ + r] += gradient;
                if (table_.query) of_keys_[key * padded_ + r] += gradient;
            }
        if (!table_.key) return;
        product<true>(rows, width_, table_.rows, of_queries_, padded_, 1, key_, width_, dqueries, width_);
        product<true>(table_.rows, width_, rows, of_queries_, 1, padded_, queries, width_, dkey_, width_);
    }
    /// When every block was there: the part of dkeys [length, width] is added, and what the table's rows get, from keys [length, width].
    void finish(const float* keys, float* dkeys) {
        if (table_.rows == 0) return;
        if (table_.query) {
            product<true>(head_.length, width_, table_.rows, of_keys_, padded_, 1, query_, width_, dkeys, width_);
            product<true>(table_.rows, width_, head_.length, of_keys_, 1, padded_, keys, width_, dquery_, width_);
            scatter_sum(dquery_, width_, table_.rows, head_.head_dim, table_.dquery, head_.head_dim);
        }
        if (table_.key) scatter_sum(dkey_, width_, table_.rows, head_.head_dim, table_.dkey, head_.head_dim);
    }

  private:
    const AttentionHead& head_;
    const RelativeRows& table_;
    const RelativeTerms& terms_;
    std::size_t padded_, width_;
    float *key_ = nullptr, *query_ = nullptr, *dkey_ = nullptr, *dquery_ = nullptr, *of_queries_ = nullptr, *of_keys_ = nullptr;
};
