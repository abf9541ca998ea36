#pragma once
#include <optional>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/json.h"
#include "plan.h"

namespace faceter::data_cube {

/// What a plan is made of and takes long to compute: difficulties, similarities, the tour. Kept in RUN/curriculum/STAGE.plan, so that a
/// resumed run, the other ranks and the report have the same.
struct PlanRecord {
    std::string key;        ///< hash of everything it was computed from: data, teacher, settings
    std::string plan_hash;  ///< Plan::hash() of the plan made of it
    std::vector<TaskDifficulty> tasks;
    Similarities similarities{0};
    TourResult tour;
    bool drops_masked = true;       ///< PlanSettings::drop_masked of the plan
    Json details = Json::object();  ///< teacher, settings, seconds, warnings
};

/// Written so that it is there whole or not at all.
void write_plan(const fs::path& file, const PlanRecord& record);
/// Errors (data): a file that is cut, damaged or no plan.
PlanRecord read_plan(const fs::path& file);

}  // namespace faceter::data_cube
