#pragma once
#include <string>

#include "plugin/teacher.h"
#include "train/objective.h"

namespace faceter {

/// A model by name as guide, on the device of the one that is trained. In float32, whatever that is trained in. Of shapes alone it is one,
/// too (train/memory_forecast.h): its rows are zeros then. A run embeds as those of the trained tasks that it knows; errors (settings):
/// where its instructions for them differ, as a text's task is not told.
class TeacherGuide final : public Guide {
  public:
    TeacherGuide(const std::string& name, const EmbeddingModel& trained);
    at::Tensor embed(std::span<const std::string_view> texts, Role role) const override;
    std::int64_t dim() const override { return teacher_.dim(); }

  private:
    std::shared_ptr<const EmbeddingModel> read_;  ///< what shapes were made of; else null
    ModelTeacher teacher_;
    Route query_, document_;
};

}  // namespace faceter
