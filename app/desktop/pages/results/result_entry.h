#pragma once
#include <string>
#include <variant>
#include <vector>

#include "experiment/catalogue.h"
#include "figure/figure.h"
#include "figure/table.h"
#include "store/store.h"

namespace faceter::desktop {

/// A run whose documents are shown.
struct ResultRun {
    std::string id, label, plugin;
    int colour = 0;      ///< place in the palette
    std::string name{};  ///< its variant, as titles of figures have it
};

/// A figure or table of one run; `error` says why it is neither.
struct ResultDocument {
    ResultRun run;
    std::variant<std::monostate, Figure, Table> content;
    std::string error{};
    bool hasValues() const;
};

/// The same figure or table of several runs.
struct ResultEntry {
    enum class Kind { figure, table };
    Kind kind = Kind::figure;
    std::string plugin, analysis, name;
    std::string title;  ///< what all documents are called, without the names of their runs; else the name
    std::vector<ResultDocument> documents{};
    std::string key() const;
    /// Whether a document of it has something to show.
    bool hasValues() const;
};

/// Every stored figure and table of the runs, by plugin, analysis and name. A document that cannot be read costs itself only.
std::vector<ResultEntry> collectResults(Store& store, const std::vector<ResultRun>& runs, const Catalogue& catalogue);

/// Lines or densities over the same axes in several runs: a figure for each series' name, with one series a run in the run's colour. Empty
/// where fewer than two figures can be laid over each other.
std::vector<Figure> overlays(const ResultEntry& entry);

}  // namespace faceter::desktop
