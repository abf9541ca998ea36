#include "train/objective_data.h"

#include <algorithm>

#include "common/error.h"

namespace faceter {
namespace {

template <typename Lacks>
std::size_t count_lacking(const TrainingSet& set, const Lacks& lacks) {
    return static_cast<std::size_t>(std::count_if(set.examples.begin(), set.examples.end(), lacks));
}

std::size_t count_unscored(const TrainingSet& set) {
    return count_lacking(set, [&](const Example& example) { return scores_of(set, example).empty(); });
}

}  // namespace

void require_negatives(const TrainingSet& set, std::string_view objective) {
    const std::size_t lacking = count_lacking(set, [](const Example& example) { return example.num_negatives == 0; });
    if (lacking == 0) return;
    throw data_error(
        "objective {} compares each positive with hard negatives, and {} of the {} examples of data set '{}' have none; give them "
        "'negatives', have them mined (faceter data mine, or mine in stages; with a larger depth or margin where that found none), leave "
        "these examples out, or use infonce",
        objective, lacking, set.examples.size(), set.name);
}

void require_scores(const TrainingSet& set, std::string_view objective) {
    const std::size_t lacking = count_unscored(set);
    if (lacking == 0) return;
    throw data_error(
        "objective {} learns from scores, and {} of the {} examples of data set '{}' lack one for the positive or a negative; give them "
        "'scores', the positive's first, or have a teacher write them: faceter data score",
        objective, lacking, set.examples.size(), set.name);
}

void require_order(const TrainingSet& set, std::string_view objective) {
    const std::size_t unscored = count_unscored(set);
    if (unscored == 0) return;
    if (unscored < set.examples.size())
        throw data_error(
            "objective {}: {} of the {} examples of data set '{}' have scores and the others none, so that their pairs have no order; "
            "score all of them (faceter data score) or none",
            objective, set.examples.size() - unscored, set.examples.size(), set.name);
    if (set.negatives.empty())
        throw data_error(
            "objective {} learns an order of pairs, but those of data set '{}' have neither scores nor negatives; give them 'score' or "
            "'negatives', or have a teacher score them: faceter data score",
            objective, set.name);
}

}  // namespace faceter
