#include "model/packed.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/hash.h"
#include "model/device.h"

namespace faceter {
namespace {

constexpr std::int64_t max_block_rows = 64, groups_per_segment = 16;

}  // namespace

PackedLayout::PackedLayout(const std::vector<std::int64_t>& lengths, std::vector<std::uint64_t> keys, const std::vector<Path>& paths)
    : keys_(std::move(keys)) {
    for (std::size_t s = 0; s < lengths.size(); ++s) {
        const std::int64_t begin = offsets_.back();
        offsets_.push_back(begin + lengths[s]);
        max_length_ = std::max(max_length_, lengths[s]);
        min_length_ = s == 0 ? lengths[s] : std::min(min_length_, lengths[s]);
        if (segments_.empty() || segments_.back().path != paths[s])
            segments_.push_back({paths[s], begin, offsets_.back()});
        else
            segments_.back().end = offsets_.back();
    }
    whole_ = {{Path{}, 0, offsets_.back()}};
    longest_first_.resize(lengths.size());
    std::iota(longest_first_.begin(), longest_first_.end(), std::int64_t{0});
    std::stable_sort(longest_first_.begin(), longest_first_.end(), [&](auto a, auto b) { return lengths[a] > lengths[b]; });
    groups_ = split(segments_);
    whole_groups_ = segments_.size() == 1 ? groups_ : split(whole_);
    for (Group& group : whole_groups_) group.segment = 0;
}

std::vector<PackedLayout::Group> PackedLayout::split(const std::vector<Segment>& segments) const {
    std::vector<Group> groups;
    std::size_t sequence = 0;
    for (std::size_t s = 0; s < segments.size(); ++s) {
        const std::int64_t target = std::max<std::int64_t>(segments[s].rows() / groups_per_segment, 2 * max_block_rows);
        std::int64_t filled = target;  // the first block opens a group
        for (; sequence < keys_.size() && offsets_[sequence] < segments[s].end; ++sequence)
            for (std::int64_t row = 0; row < length(static_cast<std::int64_t>(sequence)); row += max_block_rows) {
                if (filled >= target) {
                    groups.push_back({static_cast<int>(s), {}});
                    filled = 0;
                }
                const std::int64_t rows = std::min(max_block_rows, length(static_cast<std::int64_t>(sequence)) - row);
                groups.back().blocks.push_back({offsets_[sequence] + row, rows, row, keys_[sequence]});
                filled += rows;
            }
    }
    return groups;
}

const DeviceLayout& PackedLayout::on(const c10::Device& device) const {
    if (on_device_ && on_device_->offsets.device() == device) return *on_device_;
    const at::Tensor offsets = at::empty({num_sequences() + 1}, at::kInt), sequence = at::empty({num_tokens()}, at::kLong),
                     position = at::empty({num_tokens()}, at::kLong);
    std::copy(offsets_.begin(), offsets_.end(), offsets.data_ptr<std::int32_t>());
    auto *of = sequence.data_ptr<std::int64_t>(), *at = position.data_ptr<std::int64_t>();
    for (std::int64_t s = 0; s < num_sequences(); ++s) {
        std::fill_n(of + offsets_[s], length(s), s);
        std::iota(at + offsets_[s], at + offsets_[s + 1], std::int64_t{0});
    }
    on_device_ =
        std::make_shared<DeviceLayout>(DeviceLayout{to_device(offsets, device), to_device(sequence, device), to_device(position, device)});
    return *on_device_;
}

kernels::Dropout DropoutSite::kernel() const {
    kernels::Dropout dropout;
    dropout.threshold = static_cast<std::uint32_t>(std::lround(p * 65536));
    dropout.scale = static_cast<float>(65536.0 / (65536.0 - dropout.threshold));
    const std::uint64_t key = hash64({reinterpret_cast<const char*>(&step), sizeof step}, seed);
    dropout.key[0] = static_cast<std::uint32_t>(key);
    dropout.key[1] = static_cast<std::uint32_t>(key >> 32);
    dropout.site = site;
    return dropout;
}

}  // namespace faceter
