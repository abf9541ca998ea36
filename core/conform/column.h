#pragma once
#include <string>
#include <vector>

#include "experiment/catalogue.h"

namespace faceter::conform {

/// A variant with the settings that change what is computed.
struct Column {
    std::string name;  ///< "mote", "mote placement: every"; what stands before the first blank groups columns in tables
    std::string method;
    Json settings = Json::object();
    /// Trained by this objective in place of infonce, on scored triplets of one task; its `teacher`, where it has one, is the start model.
    Json objective = Json::object();
    bool unscored = false;  ///< the triplets have no scores: the objective's would be 1 and 0 alone
};

/// Each variant of the catalogue (of `methods`, variants or objectives, where that is not empty) with its defaults, and once for every
/// other value of each of its choices and switches; an objective trains the first variant. Usage error: a method that is neither.
std::vector<Column> columns_of(const Catalogue& catalogue, const std::vector<std::string>& methods);

}  // namespace faceter::conform
