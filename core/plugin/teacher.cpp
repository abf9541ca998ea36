#include "plugin/teacher.h"

#include "eval/comparable_rows.h"
#include "eval/group_embedding.h"
#include "model/task_adapters.h"
#include "plugin/run_model.h"

namespace faceter {
namespace {

/// By the names in use: the folder's prompt for queries or documents, with the adapter that a release has for them; else the prompt that
/// stands in front of every text for which none is named, as an export of one task has it.
Route prompted_route(const EmbeddingModel& model, Role role) {
    static const std::vector<std::string> of_queries = {"query", "search_query", "retrieval.query"},
                                          of_documents = {"document", "passage",           "search_document",
                                                          "corpus",   "retrieval.passage", "retrieval.document"};
    for (const std::string& name : role == Role::document ? of_documents : of_queries) {
        const auto prompt = model.folder.prompts.find(name);
        const auto adapter = model.folder.description ? std::nullopt : find_task_adapter(model, name);
        if (prompt == model.folder.prompts.end() && !adapter) continue;
        Route route;
        if (prompt != model.folder.prompts.end()) route.instruction = prompt->second;
        if (adapter) route.path = Path::of_adapter(static_cast<int>(*adapter));
        return route;
    }
    Route route;
    if (!model.folder.default_prompt.empty()) route.instruction = model.folder.prompt(model.folder.default_prompt);
    return route;
}

std::unique_ptr<EmbeddingModel> opened(const std::string& name, std::size_t max_length) {
    auto model = open_folder_model(resolve_model(name));
    if (max_length > 0) model->max_length = std::min(model->max_length, max_length);
    return model;
}

std::unique_ptr<EmbeddingModel> on_device(std::unique_ptr<EmbeddingModel> model, const c10::Device& device) {
    model->move_to(device);
    return model;
}

}  // namespace

ModelTeacher::ModelTeacher(const std::string& name, std::size_t max_length, const c10::Device& device, ProcessGroup* group,
                           std::size_t max_bytes)
    : ModelTeacher(opened(name, max_length), device, group, max_bytes) {}

ModelTeacher::ModelTeacher(std::unique_ptr<EmbeddingModel> model, const c10::Device& device, ProcessGroup* group, std::size_t max_bytes)
    : own_(on_device(std::move(model), device)), embedder_(*own_, {}, max_bytes), group_(group) {
    if (group_) embedder_.share_work(*group_);
}

ModelTeacher::ModelTeacher(const EmbeddingModel& model, ProcessGroup* group) : embedder_(model), group_(group) {
    if (group_) embedder_.share_work(*group_);
}

void ModelTeacher::serve() {
    if (group_ && group_->rank() != 0) serve_embeddings(embedder_.model(), *group_);
}

void ModelTeacher::let_go() {
    if (group_ && group_->rank() == 0) let_servers_go(*group_);
}

bool ModelTeacher::knows(const std::string& task) const {
    const auto& routes = embedder_.model().routes;
    return routes.contains({task, Role::query}) || routes.contains({task, Role::document});
}

Route ModelTeacher::route(const std::string& task, Role role) const {
    const EmbeddingModel& model = embedder_.model();
    if (const auto own = model.routes.find({task, role}); own != model.routes.end()) return own->second;
    return own_ || task.empty() ? prompted_route(model, role) : model.route(task, role);
}

TeacherEmbedder ModelTeacher::of_task(const std::string& task) {
    return {[this, task](std::span<const std::string_view> texts, Role role) {
                return comparable_rows(embed(texts, route(task, role)), similarity());
            },
            similarity()};
}

}  // namespace faceter
