#pragma once
#include <functional>
#include <memory>
#include <string>

#include "plan_file.h"
#include "plugin/teacher.h"
#include "train/curriculum.h"

namespace faceter::data_cube {

/// Opens the pre-learned model that difficulties and task vectors are measured with; called only where something has to be measured, then
/// on every rank.
using OpenTeacher = std::function<std::unique_ptr<Teacher>()>;

/// All settings of the curriculum (settings.cpp), read.
TourSettings tour_settings(const Json& settings, std::uint64_t seed);
PlanSettings plan_settings(const Json& settings, std::int64_t batch_size, std::uint64_t seed);
/// As it was made, whichever version stored it.
Plan plan_of_record(const PlanRecord& record, const Json& settings, std::int64_t batch_size, std::uint64_t seed);

/// RUN/curriculum/STAGE.plan
fs::path plan_path(const fs::path& folder, const std::string& stage);

/// Data-CUBE. Difficulties are kept in `cache` by data, instruction and teacher, so that the runs of an ablation measure them once; the
/// plan is kept in context.folder.
std::unique_ptr<Curriculum> make_data_cube(const CurriculumContext& context, const OpenTeacher& open, const fs::path& cache);

}  // namespace faceter::data_cube
