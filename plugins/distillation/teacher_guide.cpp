#include "teacher_guide.h"

#include <ATen/ATen.h>

#include <map>

#include "model/matrix.h"
#include "plugin/run_model.h"
#include "train/memory_forecast.h"

namespace faceter {
namespace {

/// A forecast makes a guide for each batch that it tries: as long as one of them is there the folder is not read again.
std::shared_ptr<const EmbeddingModel> read_once(const fs::path& folder) {
    static std::map<fs::path, std::weak_ptr<const EmbeddingModel>> all;
    std::weak_ptr<const EmbeddingModel>& known = all[folder];
    std::shared_ptr<const EmbeddingModel> model = known.lock();
    if (!model) known = model = open_folder_model(folder);
    return model;
}

}  // namespace

TeacherGuide::TeacherGuide(const std::string& name, const EmbeddingModel& trained)
    : read_(trained.encoders.front()->device().is_meta() ? read_once(resolve_model(name)) : nullptr),
      teacher_(read_ ? shapes_of(*read_) : open_folder_model(resolve_model(name)), trained.encoders.front()->device(), nullptr) {}

at::Tensor TeacherGuide::embed(std::span<const std::string_view> texts, Role role) const {
    const at::NoGradGuard no_grad;
    const Bf16Products exact(false);
    return teacher_.embed_afresh(texts, teacher_.route("", role));
}

}  // namespace faceter
