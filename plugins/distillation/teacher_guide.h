#pragma once
#include <string>
#include <vector>

#include "plugin/teacher.h"
#include "train/objective.h"

namespace faceter {

/// A model by name as guide, on the device of the one that is trained. In float32, whatever that is trained in. Of shapes alone it is one,
/// too (train/memory_forecast.h): its rows are zeros then. A run embeds the texts of each task that it knows as it was trained to, those of
/// others as those that it knows of the trained ones; errors (settings): where these go different ways.
class TeacherGuide final : public Guide {
  public:
    TeacherGuide(const std::string& name, const EmbeddingModel& trained);
    at::Tensor embed(std::span<const std::string_view> texts, std::span<const std::string_view> tasks, Role role) const override;
    std::int64_t dim() const override { return teacher_.dim(); }

  private:
    Route route(const std::string& task, Role role) const;
    std::shared_ptr<const EmbeddingModel> read_;  ///< what shapes were made of; else null
    ModelTeacher teacher_;
    std::string name_;
    std::vector<std::string> known_;  ///< of the trained tasks
};

}  // namespace faceter
