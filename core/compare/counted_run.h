#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/store.h"

namespace faceter {

/// Of two runs of one configuration and seed, as one that failed and its successor, whether `a` counts rather than `b` wherever one of
/// them must: what has scores before what has none; of these what is done, then what goes on, then the others, which may lack scores.
/// Where it is true of neither, the earlier one counts.
bool counts_before(const RunRow& a, const RunRow& b);

/// Runs of one configuration, oldest first: sorted so that of those of each seed the one that counts comes first.
std::vector<const RunRow*> counting_first(std::vector<const RunRow*> runs);

/// Of runs of one configuration, oldest first, the one of each seed that counts, by seed. `run_of`: an item's RunRow.
template <typename Item, typename RunOf>
std::vector<Item> one_of_each_seed(const std::vector<Item>& items, RunOf run_of) {
    std::map<std::uint64_t, Item> counted;
    for (const Item& item : items) {
        const auto [place, fresh] = counted.try_emplace(run_of(item).info.seed, item);
        if (!fresh && counts_before(run_of(item), run_of(place->second))) place->second = item;
    }
    std::vector<Item> kept;
    for (const auto& [seed, item] : counted) kept.push_back(item);
    return kept;
}

/// What a table or figure says of a run that does not count.
std::string repeat_note(const std::string& run, const std::string& counted);

}  // namespace faceter
