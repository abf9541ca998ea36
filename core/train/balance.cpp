#include "train/balance.h"

#include <algorithm>
#include <numeric>

#include "train/process_group.h"

namespace faceter {

void balance_shares(BatchPlan& plan, std::span<const double> work, int ranks) {
    const auto count = static_cast<std::int64_t>(plan.items.size());
    std::vector<std::size_t> most_first(plan.items.size());
    std::iota(most_first.begin(), most_first.end(), std::size_t{0});
    std::stable_sort(most_first.begin(), most_first.end(), [&](auto a, auto b) { return work[a] > work[b]; });
    std::vector<double> sums(static_cast<std::size_t>(ranks));
    std::vector<std::vector<std::size_t>> shares(sums.size());
    for (const std::size_t item : most_first) {
        std::size_t least = 0;
        const auto has_room = [&](std::size_t r) {
            return static_cast<std::int64_t>(shares[r].size()) < share_of(count, static_cast<int>(r), ranks).size();
        };
        while (!has_room(least)) ++least;
        for (std::size_t r = least + 1; r < shares.size(); ++r)
            if (has_room(r) && sums[r] < sums[least]) least = r;
        shares[least].push_back(item);
        sums[least] += work[item];
    }
    const BatchPlan before = plan;
    std::size_t place = 0;
    for (std::vector<std::size_t>& share : shares) {
        std::sort(share.begin(), share.end());
        for (const std::size_t item : share) {
            plan.items[place] = before.items[item];
            if (!plan.keep.empty()) plan.keep[place] = before.keep[item];
            ++place;
        }
    }
}

}  // namespace faceter
