#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/json.h"

namespace faceter {

/// Which side of a pair a text stands on: the query (anchor), or the document (positive and negatives).
enum class Role { query, document };
std::string_view role_name(Role role);

/// A task of the experiment's task tree, as the resolved settings say it.
struct Task {
    std::string name;
    std::string type;  ///< retrieval, classification, clustering ...
    std::string query_instruction, document_instruction;
    double temperature = 0.05;        ///< of InfoNCE, for batches of this task
    double weight = 1;                ///< share of batches
    bool homogeneous = true;          ///< a batch comes from one data set (TA-CL), else from all of the task's
    Json train = Json::array();       ///< data entries
    Json validation = Json::array();  ///< data entries that a stage of this task alone watches

    const std::string& instruction(Role role) const { return role == Role::query ? query_instruction : document_instruction; }
};

/// settings.tasks, in the file's order.
std::vector<Task> read_tasks(const Json& tasks);

/// The task that texts of an evaluation of `task_type` are embedded under: the named one, else the first of that type, else the seen type
/// that stands in for it (MoTE, section 5.3: reranking as retrieval; pair classification, STS and summarisation as classification). Null
/// where there is none.
const Task* find_task(const std::vector<Task>& tasks, const std::string& name, const std::string& task_type);

}  // namespace faceter
