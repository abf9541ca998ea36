#pragma once
#include <QStringList>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/json.h"
#include "store/store.h"

namespace faceter::desktop {

/// A shown group, by its first run that has a model.
struct ExploreRequest {
    std::string run, label;
    int colour = 0;
};

struct ExploreRun {
    ExploreRequest request;
    std::string folder;
    std::vector<std::string> tasks;
    struct Set {
        std::string name, taskType, task;
        std::vector<double> scores;  ///< of single examples; may be empty
    };
    std::vector<Set> sets;
    const Set* find(const std::string& set) const;
};
using ExploreDataPtr = std::shared_ptr<const std::vector<ExploreRun>>;

ExploreDataPtr loadExplore(Store& store, const std::filesystem::path& project, const std::vector<ExploreRequest>& requests);

/// A run under one of its tasks: what a list of neighbours or a map is of.
struct ExploreColumn {
    const ExploreRun* run = nullptr;
    std::string task;
    QString label() const;
    Json toJson() const { return {{"model", run->folder}, {"task", task}}; }
    bool operator==(const ExploreColumn&) const = default;
};

/// Documents and queries of a data set, as the live worker gives them.
struct ExploredCorpus {
    std::size_t total = 0;
    QString part;
    QStringList documents, queries, labelNames;
    std::vector<std::size_t> places;
    std::vector<int> labels;
    /// In the whole set, of which the worker may have read a part.
    std::size_t placeOf(std::size_t document) const { return document < places.size() ? places[document] : document; }
    static std::shared_ptr<const ExploredCorpus> from(const Json& answer);
};
using ExploredCorpusPtr = std::shared_ptr<const ExploredCorpus>;

/// One of the nearest documents.
struct Neighbour {
    int document = -1, rank = 0, rankInFirst = 0;
    double similarity = 0;
    bool isRelevant = false;
};
struct NeighbourList {
    ExploreColumn column;
    QString instruction;
    std::vector<Neighbour> hits;
    std::vector<int> relevantRanks;              ///< ascending
    std::vector<float> similarities;             ///< of all documents, where they were asked for
    std::int64_t numTokens = 0, keptTokens = 0;  ///< of the text that was asked about, and of what this model reads of it; 0: not told
};
/// An answer of the worker; `columns` are those that were asked for. One that has no answer is one of the `problems`, a line each.
std::vector<NeighbourList> neighbourLists(const Json& answer, const std::vector<ExploreColumn>& columns, QStringList& problems);
/// Where a model reads a part of the text alone: how much; empty: all read all of it.
QString readPart(const std::vector<NeighbourList>& lists);

/// A column's corpus in the plane.
struct CorpusMap {
    std::vector<float> x, y, kept;
    std::vector<int> clusters;
    double explained[2] = {0, 0};
    static CorpusMap from(const Json& answer);
};

}  // namespace faceter::desktop
