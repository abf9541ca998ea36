#include "experiment/result_names.h"

#include <fmt/format.h>

#include <map>

#include "common/file_name.h"
#include "common/strings.h"
#include "data/entry.h"

namespace faceter {

std::string analysis_result_name(const std::string& method, int time) { return time == 1 ? method : fmt::format("{}-{}", method, time); }

std::vector<ResultOwner> result_owners(const Json& settings) {
    std::vector<ResultOwner> owners;
    const Json evaluation = json_or<Json>(settings, "evaluation", Json::object(), "settings");
    const Json datasets = json_or<Json>(evaluation, "datasets", Json::array(), "evaluation");
    for (std::size_t i = 0; i < datasets.size(); ++i) {
        DataRequest request;
        request.settings = datasets[i];
        owners.push_back({fmt::format("evaluation.datasets[{}]", i), DataEntry(request).set_name()});
    }
    const Json analyses = json_or<Json>(settings, "analyses", Json::array(), "settings");
    std::map<std::string, int> times;
    for (std::size_t i = 0; i < analyses.size(); ++i) {
        const auto method = json_at<std::string>(analyses[i], "method", "analyses");
        owners.push_back({fmt::format("analyses[{}]", i), analysis_result_name(method, ++times[method])});
    }
    owners.push_back({"what is measured of the model", "_model"});
    return owners;
}

std::vector<NameMeeting> meeting_names(const std::vector<ResultOwner>& owners) {
    std::vector<NameMeeting> meetings;
    std::map<std::string, std::size_t> owner_of;
    for (std::size_t i = 0; i < owners.size(); ++i) {
        const std::string file = safe_file_name(owners[i].name) + ".json";
        const auto [at, fresh] = owner_of.emplace(file, i);
        if (fresh) continue;
        const ResultOwner &first = owners[at->second], &second = owners[i];
        meetings.push_back({at->second, i,
                            fmt::format("{} ({}) and {} ({}) would keep their results in one file, {}; give one data set another 'name'",
                                        first.where, faceter::quoted(first.name), second.where, faceter::quoted(second.name), file)});
    }
    return meetings;
}

}  // namespace faceter
