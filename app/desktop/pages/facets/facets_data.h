#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compare/similarity_figures.h"
#include "store/store.h"

namespace faceter::desktop {

/// A group of the navigator whose runs are asked for.
struct FacetRequest {
    std::string key, label;
    int colour = 0;
    bool isStart = false;              ///< the untrained model: not what a comparison begins with
    std::vector<std::string> runs;     ///< in order of counting_first; empty once they are read
    std::vector<std::string> names;    ///< of the runs, as messages call them
    std::vector<std::uint64_t> seeds;  ///< of the runs: of those of one seed the first counts, as in comparisons
};

/// What the runs of a group stored for one list of texts: each text's mean over them. What each run stored is not kept: of two thousand
/// runs that is 75 MB.
struct FacetSet {
    std::string texts;  ///< key of the texts: their fingerprint, else their label
    SimilaritySet set;
    std::size_t num_runs = 0;
    std::vector<std::string> notes;  ///< runs that are left out of the mean
    std::optional<Figure> plane;     ///< of the first run that has one: the texts under each task in two dimensions
};

struct FacetGroup {
    FacetRequest request;
    std::vector<FacetSet> sets;
    const FacetSet* find(const std::string& texts) const;
    bool has(const std::string& texts) const;
};

struct FacetTexts {
    std::string key, label;
};

/// All that the shown runs stored of inter-task similarity.
struct FacetsData {
    std::vector<FacetGroup> groups;     ///< those that have anything
    std::vector<FacetTexts> texts;      ///< the lists of texts, in the order in which runs have them
    std::vector<std::string> problems;  ///< what cannot be read, one sentence each
    const FacetGroup* find(const std::string& key) const;
};
using FacetsDataPtr = std::shared_ptr<const FacetsData>;

FacetsData loadFacets(Store& store, const std::vector<FacetRequest>& requests);

/// What the page is asked to show. Empty members are filled by `complete`.
struct FacetsChoice {
    std::string texts, baseline;
    std::vector<std::string> compared;
};
/// Leaves what the data has not, and chooses what is missing: the first texts; as the baseline the first group that was trained, and
/// against it the two that follow; the start model where nothing else is there.
FacetsChoice complete(const FacetsData& data, FacetsChoice choice);

struct FacetsPicture {
    std::vector<SimilarityGroup> groups;            ///< baseline first; seeds averaged text by text
    std::vector<std::optional<Figure>> planes;      ///< of each group's first run that has one
    std::vector<SimilarityComparison> comparisons;  ///< of each other group with the baseline
    std::vector<Figure> densities;                  ///< one a pair
    std::vector<std::string> notes;
};
/// `choice` must be complete. Groups that have no pair of tasks in common with the baseline are a note.
FacetsPicture drawFacets(const FacetsData& data, const FacetsChoice& choice);

}  // namespace faceter::desktop
