#pragma once
#include <string>

#include "plugin/teacher.h"
#include "train/objective.h"

namespace faceter {

/// A model by name as guide, on the device of the one that is trained. In float32, whatever that is trained in. Of shapes alone it is one,
/// too (train/memory_forecast.h): its rows are zeros then.
class TeacherGuide final : public Guide {
  public:
    TeacherGuide(const std::string& name, const EmbeddingModel& trained);
    at::Tensor embed(std::span<const std::string_view> texts, Role role) const override;
    std::int64_t dim() const override { return teacher_.dim(); }

  private:
    std::shared_ptr<const EmbeddingModel> read_;  ///< what shapes were made of; else null
    ModelTeacher teacher_;
};

}  // namespace faceter
