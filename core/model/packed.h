#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "model/kernels/kernels.h"
#include "model/path.h"

namespace faceter {

/// Rows [begin, end) of a packed batch whose texts go the same way.
struct Segment {
    Path path;
    std::int64_t begin = 0, end = 0;
    std::int64_t rows() const { return end - begin; }
};

/// Some rows of one sequence: what a row-wise kernel works on at a time.
struct RowBlock {
    std::int64_t begin, rows;  ///< packed rows
    std::int64_t first_row;    ///< within the sequence
    std::uint64_t sequence_key;
};

/// What an accelerator's operations need of a layout, on the device.
struct DeviceLayout {
    at::Tensor offsets;             ///< int32 [S + 1]
    at::Tensor sequence, position;  ///< int64 [T]: which sequence a row belongs to, and its place in it
};

/// The shape of a packed batch: sequences end to end, no padding, those of one path next to each other.
class PackedLayout {
  public:
    /// `lengths`, `keys` and `paths` per sequence; equal paths must be neighbours. Keys are what dropout masks depend on.
    PackedLayout(const std::vector<std::int64_t>& lengths, std::vector<std::uint64_t> keys, const std::vector<Path>& paths);

    std::int64_t num_sequences() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }
    std::int64_t num_tokens() const { return offsets_.back(); }
    std::int64_t max_length() const { return max_length_; }
    std::int64_t min_length() const { return min_length_; }
    std::int64_t length(std::int64_t sequence) const { return offsets_[sequence + 1] - offsets_[sequence]; }
    const std::vector<std::int64_t>& offsets() const { return offsets_; }
    const std::vector<std::uint64_t>& keys() const { return keys_; }
    const std::vector<Segment>& segments() const { return segments_; }
    /// One segment over all rows: what a block without experts uses.
    const std::vector<Segment>& whole() const { return whole_; }
    /// Sequences, longest first: the order that keeps threads busy to the end.
    const std::vector<std::int64_t>& longest_first() const { return longest_first_; }

    /// Groups of row blocks, each within one of `segments`. The split depends on the layout alone, never on the number of threads, so
    /// that sums over groups have the same bits everywhere.
    struct Group {
        int segment;
        std::vector<RowBlock> blocks;
    };
    const std::vector<Group>& groups(bool by_expert) const { return by_expert ? groups_ : whole_groups_; }

    /// Copied there when first asked for; one thread at a time.
    const DeviceLayout& on(const c10::Device& device) const;

  private:
    std::vector<Group> split(const std::vector<Segment>& segments) const;
    std::vector<std::int64_t> offsets_{0};
    std::vector<std::uint64_t> keys_;
    std::vector<Segment> segments_, whole_;
    std::vector<std::int64_t> longest_first_;
    std::vector<Group> groups_, whole_groups_;
    std::int64_t max_length_ = 0, min_length_ = 0;
    mutable std::shared_ptr<const DeviceLayout> on_device_;
};
using LayoutPointer = std::shared_ptr<const PackedLayout>;

/// Where dropout happens and by which random words. p = 0: none.
struct DropoutSite {
    double p = 0;
    std::uint64_t seed = 0;
    std::int64_t step = 0;
    std::uint32_t site = 0;
    kernels::Dropout kernel() const;
};

}  // namespace faceter
