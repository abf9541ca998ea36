#include "teacher_guide.h"

#include <ATen/ATen.h>

#include "model/matrix.h"

namespace faceter {

TeacherGuide::TeacherGuide(const std::string& name, const EmbeddingModel& trained)
    : teacher_(name, 0, trained.encoders.front()->device(), nullptr) {}

at::Tensor TeacherGuide::embed(std::span<const std::string_view> texts, Role role) const {
    const at::NoGradGuard no_grad;
    const Bf16Products exact(false);
    return teacher_.embed_afresh(texts, teacher_.route("", role));
}

}  // namespace faceter
