#pragma once
#include <string>

#include "plugin/teacher.h"
#include "train/objective.h"

namespace faceter {

/// A model by name as guide, on the device of the one that is trained. In float32, whatever that is trained in.
class TeacherGuide final : public Guide {
  public:
    TeacherGuide(const std::string& name, const EmbeddingModel& trained);
    at::Tensor embed(std::span<const std::string_view> texts, Role role) const override;
    std::int64_t dim() const override { return teacher_.dim(); }

  private:
    ModelTeacher teacher_;
};

}  // namespace faceter
