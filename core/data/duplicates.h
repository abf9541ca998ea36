#pragma once
#include <functional>
#include <string>
#include <vector>

#include "data/example_rows.h"

namespace faceter {

/// Examples of a set that say the same, compared by overlap_form() of their texts (hard negatives left out) within a
/// subset, or a set of a clustering.
struct Duplicates {
    struct Group {
        std::vector<std::size_t> rows;  ///< its first ones, ascending; ten at most
        std::size_t copies = 0;         ///< all of them
        std::string text;               ///< of the first: its texts, " | " between them
        bool labels_differ = false;
    };
    std::size_t examples = 0;
    std::size_t repeated = 0;    ///< those that stood before in the set
    std::size_t num_groups = 0;  ///< texts that stand more than once
    std::size_t num_differ = 0;  ///< of these groups: those whose labels differ
    std::vector<Group> groups;   ///< most copies first, then in the order of the set; 200 at most
};

/// `progress` is told how many examples were looked at, now and then; it may throw to end it.
Duplicates find_duplicates(const ExampleRows& rows, const std::function<void(std::size_t)>& progress = {});
/// {"examples", "repeated", "groups", "labels_differ", "first": [{"rows", "copies", "text", "labels_differ"}]}.
Json to_json(const Duplicates& duplicates);

}  // namespace faceter
