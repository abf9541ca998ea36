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

bool alike(const Route& a, const Route& b) {
    return a.instruction == b.instruction && a.encoder == b.encoder && a.path == b.path && a.routed == b.routed;
}

/// Texts that a model embeds the same way, by their numbers.
struct Company {
    Route route;
    std::vector<std::string_view> texts;
    std::vector<std::int64_t> rows;
};

std::vector<std::string> known_tasks(const ModelTeacher& teacher, const std::vector<Task>& tasks) {
    std::vector<std::string> known;
    for (const Task& task : tasks)
        if (teacher.knows(task.name)) known.push_back(task.name);
    return known;
}

}  // namespace

TeacherGuide::TeacherGuide(const std::string& name, const EmbeddingModel& trained)
    : read_(trained.encoders.front()->device().is_meta() ? read_once(resolve_model(name)) : nullptr),
      teacher_(read_ ? shapes_of(*read_) : open_folder_model(resolve_model(name)), trained.encoders.front()->device(), nullptr),
      name_(name),
      known_(known_tasks(teacher_, trained.tasks)) {}

Route TeacherGuide::route(const std::string& task, Role role) const {
    if (known_.empty()) return teacher_.route("", role);
    if (teacher_.knows(task)) return teacher_.route(task, role);
    Route way = teacher_.route(known_.front(), role);
    for (const std::string& other : known_)
        if (!alike(teacher_.route(other, role), way))
            throw settings_error(
                "teacher {}: it embeds texts of task '{}' otherwise than those of '{}', and knows nothing of '{}', whose texts a loss asks "
                "it for; give that task the name of one that it knows, or export one of its tasks (faceter export RUN DIR --task TASK) "
                "and name that",
                faceter::quoted(name_), known_.front(), other, task);
    return way;
}

at::Tensor TeacherGuide::embed(std::span<const std::string_view> texts, std::span<const std::string_view> tasks, Role role) const {
    std::vector<Company> companies;
    std::map<std::string_view, std::size_t> company_of;  // of a task
    for (std::size_t i = 0; i < texts.size(); ++i) {
        auto found = company_of.find(tasks[i]);
        if (found == company_of.end()) {
            Route way = route(std::string(tasks[i]), role);
            std::size_t at = 0;
            while (at < companies.size() && !alike(companies[at].route, way)) ++at;
            if (at == companies.size()) companies.push_back({std::move(way), {}, {}});
            found = company_of.emplace(tasks[i], at).first;
        }
        companies[found->second].texts.push_back(texts[i]);
        companies[found->second].rows.push_back(static_cast<std::int64_t>(i));
    }
    const at::NoGradGuard no_grad;
    const Bf16Products exact(false);
    at::Tensor all = at::empty({static_cast<std::int64_t>(texts.size()), dim()}, at::kFloat);
    for (const Company& company : companies)
        all.index_copy_(0, at::tensor(company.rows, at::kLong), teacher_.embed_afresh(company.texts, company.route));
    return all;
}

}  // namespace faceter
