#include "model/length_buckets.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>

#include "model/device.h"

namespace faceter {
namespace {

at::Tensor there(const std::vector<std::int64_t>& values, const c10::Device& device) {
    return to_device(at::tensor(at::ArrayRef<std::int64_t>(values), at::kLong), device);
}

LengthBucket bucket_of(const PackedLayout& layout, std::vector<std::int64_t> sequences, const c10::Device& device) {
    std::vector<std::int64_t> lengths, places;
    std::int64_t longest = 0;
    for (const std::int64_t s : sequences) longest = std::max(longest, layout.length(s));
    for (const std::int64_t s : sequences) {
        const auto first = static_cast<std::int64_t>(lengths.size()) * longest;
        for (std::int64_t i = 0; i < layout.length(s); ++i) places.push_back(first + i);
        lengths.push_back(layout.length(s));
    }
    const auto count = static_cast<std::int64_t>(sequences.size()), rows = static_cast<std::int64_t>(places.size());
    return {longest, count, rows, std::move(sequences), there(lengths, device), there(places, device)};
}

/// [num_sequences, heads, longest, longest] of one bucket.
at::Tensor bias_of(const LengthBucket& bucket, const at::Tensor& bias) {
    const at::Tensor index = at::arange(bucket.longest, bucket.lengths.options()),
                     distance = index.unsqueeze(0) - index.unsqueeze(1);  // key - query
    // A row beyond its text sees itself, also where a window keeps all of the text from it.
    const at::Tensor absent = (index.unsqueeze(0) >= bucket.lengths.unsqueeze(1)).view({-1, 1, 1, bucket.longest}) & (distance != 0);
    return bias.index_select(1, (distance + bias.size(1) / 2).flatten())
        .view({1, -1, bucket.longest, bucket.longest})
        .masked_fill(absent, -std::numeric_limits<double>::infinity());
}

/// Behind so many numbers in the joined biases, so many are left out: CUDA's attention reads several at once from where a bucket's begin,
/// and asks for no copy where that cannot be.
std::int64_t gap_behind(std::int64_t numbers) { return -numbers & 15; }

}  // namespace

LengthBuckets::LengthBuckets(const PackedLayout& layout, const c10::Device& device) {
    std::map<std::uint64_t, std::vector<std::int64_t>> by_power;
    for (std::int64_t s = 0; s < layout.num_sequences(); ++s)
        if (layout.length(s) > 0) by_power[std::bit_ceil(static_cast<std::uint64_t>(layout.length(s)))].push_back(s);
    std::vector<std::int64_t> order;
    for (auto& [power, sequences] : by_power) {
        for (const std::int64_t s : sequences)
            for (std::int64_t i = 0; i < layout.length(s); ++i) order.push_back(layout.offsets()[static_cast<std::size_t>(s)] + i);
        all.push_back(bucket_of(layout, std::move(sequences), device));
    }
    if (all.size() < 2) return;
    std::vector<std::int64_t> inverse(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    rows = there(order, device);
    back = there(inverse, device);
}

const LengthBuckets& PassBuckets::of(const PackedLayout& layout, const c10::Device& device) {
    if (!made_) made_.emplace(layout, device);
    return *made_;
}

at::Tensor bias_by_buckets(const at::Tensor& bias, const LengthBuckets& buckets) {
    std::vector<at::Tensor> parts;
    for (const LengthBucket& bucket : buckets.all) {
        parts.push_back(bias_of(bucket, bias).flatten());
        parts.push_back(at::zeros({gap_behind(parts.back().numel())}, bias.options()));
    }
    return buckets.all.size() == 1 ? parts.front() : at::cat(parts);
}

std::vector<at::Tensor> split_by_buckets(const at::Tensor& biases, const LengthBuckets& buckets, std::int64_t heads) {
    std::vector<std::int64_t> sizes;
    for (const LengthBucket& b : buckets.all) {
        sizes.push_back(heads * b.num_sequences * b.longest * b.longest);
        sizes.push_back(gap_behind(sizes.back()));
    }
    if (buckets.all.size() == 1) sizes.back() = 0;
    const std::vector<at::Tensor> split = biases.split_with_sizes(sizes);
    std::vector<at::Tensor> parts;
    for (const LengthBucket& b : buckets.all) parts.push_back(split[2 * parts.size()].view({b.num_sequences, heads, b.longest, b.longest}));
    return parts;
}

}  // namespace faceter
