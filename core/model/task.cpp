#include "model/task.h"

#include "common/error.h"
#include "settings/check.h"
#include "settings/core_settings.h"

namespace faceter {

std::string_view role_name(Role role) { return role == Role::query ? "query" : "document"; }

std::vector<Task> read_tasks(const Json& tasks) {
    std::vector<Task> all;
    const Schema schema = task_schema();
    for (const auto& [name, given] : tasks.items()) {
        const Json settings = filled_in(schema, given);
        Task task;
        task.name = name;
        task.type = json_or<std::string>(settings, "type", name, name);
        const Json& instructions = settings.at("instructions");
        task.query_instruction = json_or<std::string>(instructions, "query", "", name);
        task.document_instruction = json_or<std::string>(instructions, "document", "", name);
        task.temperature = json_or<double>(settings, "temperature", task.temperature, name);
        task.weight = json_at<double>(settings, "weight", name);
        task.homogeneous = json_or<std::string>(settings, "batching", "homogeneous", name) == "homogeneous";
        task.train = json_or<Json>(settings, "train", Json::array(), name);
        task.validation = json_or<Json>(settings, "validation", Json::array(), name);
        all.push_back(std::move(task));
    }
    return all;
}

const Task* find_task(const std::vector<Task>& tasks, const std::string& name, const std::string& task_type) {
    for (const Task& task : tasks)
        if (!name.empty() && task.name == name) return &task;
    const auto first_of = [&](std::string_view type) -> const Task* {
        for (const Task& task : tasks)
            if (task.type == type) return &task;
        return nullptr;
    };
    if (const Task* own = first_of(task_type)) return own;
    return first_of(task_type == "reranking" ? "retrieval" : "classification");
}

}  // namespace faceter
