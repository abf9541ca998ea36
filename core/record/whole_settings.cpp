#include "record/whole_settings.h"

#include "common/error.h"

namespace faceter {
namespace {

void need(const Json& object, const char* member, Json::value_t kind, const std::string& name) {
    if (json_at<Json>(object, member, name).type() != kind) throw_json_member(name, member, "has the wrong type");
}

}  // namespace

const Json& whole_settings(const RunDirectory& run) {
    const Json& settings = run.settings();
    const std::string name = (run.folder() / "run.json").string() + ": settings";
    need(settings, "model", Json::value_t::string, name);
    for (const char* member : {"variant", "tasks", "training", "evaluation"}) need(settings, member, Json::value_t::object, name);
    need(settings["variant"], "method", Json::value_t::string, name + ": variant");
    need(settings["evaluation"], "datasets", Json::value_t::array, name + ": evaluation");
    for (const auto& [task, of_task] : settings["tasks"].items())
        if (!of_task.is_object()) throw_json_member(name + ": tasks", task, "has the wrong type");
    if (!run.info().is_baseline())
        for (const char* member : {"objective", "curriculum"}) need(settings, member, Json::value_t::object, name);
    return settings;
}

}  // namespace faceter
