#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <ATen/core/Tensor.h>

#include "plan_file.h"
#include "train/curriculum.h"

namespace faceter::data_cube {

/// The pre-learned model that difficulties and task vectors are measured with.
class Teacher {
  public:
    virtual ~Teacher() = default;
    /// [N, D]: embeddings of texts with the instruction in front.
    virtual at::Tensor embed(std::span<const std::string_view> texts, const std::string& instruction) = 0;
    virtual std::string fingerprint() const = 0;
};
/// Opens the teacher of these settings; called only where something has to be measured.
using OpenTeacher = std::function<std::unique_ptr<Teacher>()>;

/// The settings of the curriculum (settings.cpp), read.
TourSettings tour_settings(const Json& settings, std::uint64_t seed);
PlanSettings plan_settings(const Json& settings, std::int64_t batch_size, std::uint64_t seed);

/// RUN/curriculum/STAGE.plan
fs::path plan_path(const fs::path& folder, const std::string& stage);

/// Data-CUBE. Difficulties are kept in `cache` by data, instruction and teacher, so that the runs of an ablation measure them once; the
/// plan is kept in context.folder.
std::unique_ptr<Curriculum> make_data_cube(const CurriculumContext& context, const OpenTeacher& open, const fs::path& cache);

}  // namespace faceter::data_cube
