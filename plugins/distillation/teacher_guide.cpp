#include "teacher_guide.h"

#include <ATen/ATen.h>

#include <map>

#include "common/error.h"
#include "common/strings.h"
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

/// Of the tasks that the teacher knows; the texts of others go the same way.
Route common_route(const ModelTeacher& teacher, const std::string& name, const std::vector<Task>& tasks, Role role) {
    const Task* first = nullptr;
    for (const Task& task : tasks) {
        if (!teacher.knows(task.name)) continue;
        if (!first) first = &task;
        const Route own = teacher.route(task.name, role), other = teacher.route(first->name, role);
        if (own.instruction != other.instruction || own.path != other.path)
            throw settings_error(
                "teacher {}: it embeds texts of task '{}' otherwise than those of '{}', and a loss's guide embeds the texts of all tasks "
                "alike; export one of its tasks (faceter export RUN DIR --task TASK) and name that: its instruction then stands in front "
                "of every text",
                faceter::quoted(name), first->name, task.name);
    }
    return teacher.route(first ? first->name : "", role);
}

}  // namespace

TeacherGuide::TeacherGuide(const std::string& name, const EmbeddingModel& trained)
    : read_(trained.encoders.front()->device().is_meta() ? read_once(resolve_model(name)) : nullptr),
      teacher_(read_ ? shapes_of(*read_) : open_folder_model(resolve_model(name)), trained.encoders.front()->device(), nullptr),
      query_(common_route(teacher_, name, trained.tasks, Role::query)),
      document_(common_route(teacher_, name, trained.tasks, Role::document)) {}

at::Tensor TeacherGuide::embed(std::span<const std::string_view> texts, Role role) const {
    const at::NoGradGuard no_grad;
    const Bf16Products exact(false);
    return teacher_.embed_afresh(texts, role == Role::query ? query_ : document_);
}

}  // namespace faceter
