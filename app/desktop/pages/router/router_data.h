#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pages/trained_run.h"
#include "widgets/report_cards.h"

namespace faceter::desktop {

struct RouterRun {
    TrainedRun request;
    std::string folder;
    std::vector<std::string> tasks;
    Report report;
};
/// Runs with a study of their router, or of the method whose models have one.
using RouterDataPtr = std::shared_ptr<const std::vector<RouterRun>>;

RouterDataPtr loadRouters(Store& store, const std::filesystem::path& project, const std::vector<TrainedRun>& requests);

/// Names of the study's documents, by the view that shows them.
struct RouterDocuments {
    std::vector<std::string> figures, tables;
};
const RouterDocuments& gateDocuments();
const RouterDocuments& scoreDocuments();
const RouterDocuments& mapDocuments();

/// What the live worker says of a text (session method "route").
struct RouteAnswer {
    struct Value {
        std::string name;
        double value = 0;
    };
    struct Pilot {
        std::string gate, domain;
        int instances = 0;
        double similarity = 0, x = 0, y = 0;
    };
    std::string gate, nextGate, instruction;
    std::vector<Value> values;                   ///< of the gates, the highest first
    std::vector<Pilot> pilots;                   ///< the nearest first
    double x = 0, y = 0;                         ///< of the text, among the pilots
    std::int64_t numTokens = 0, keptTokens = 0;  ///< of the whole text, and of what the model reads of it; 0: not told
    static RouteAnswer from(const Json& answer);
    /// Pilots by gate and the text in their plane.
    Figure map() const;
    Table valueTable() const;
    Table pilotTable() const;
};

}  // namespace faceter::desktop
