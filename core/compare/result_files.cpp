#include "compare/result_files.h"

namespace faceter {

std::map<std::string, Json> scored_results(const RunDirectory& run) {
    std::map<std::string, Json> results;
    for (auto& [stem, json] : run.read_all(run.results(), [](const std::string&, const std::string&) {}))
        if (json.is_object() && json.contains("task_type") && json.contains("score") && !json["score"].is_null())
            results[json_at<std::string>(json, "name", stem)] = json;
    return results;
}

}  // namespace faceter
