#include "pages/sweeps/sweeps_data.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <limits>

namespace faceter::desktop {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// The mean of all first, then task types, then data sets.
std::vector<SweepsData::Score> allScores(const RunScores& scores) {
    std::vector<SweepsData::Score> all{{"score", QCoreApplication::translate("SweepsData", "mean score").toStdString()}};
    for (const std::string& type : scores.task_types) all.push_back({"type:" + type, type});
    for (const RunScores::Set& set : scores.sets) all.push_back({"set:" + set.name, set.name});
    return all;
}

/// In the same order.
std::vector<double> valuesOf(const RunScores& scores, std::size_t place) {
    std::vector<double> values{none};
    for (const std::string& type : scores.task_types) values.push_back(scores.type_mean(place, type));
    double sum = 0;
    int count = 0;
    for (std::size_t set = 0; set < scores.sets.size(); ++set) {
        values.push_back(scores.at(place, set));
        if (!std::isnan(values.back())) sum += values.back(), ++count;
    }
    if (count > 0) values.front() = sum / count;
    return values;
}

/// Scores that none of the runs has are left out.
void dropUnknown(SweepsData& data) {
    for (std::size_t score = data.scores.size(); score-- > 0;) {
        const auto has = [&](const SweepsData::Run& run) { return !std::isnan(run.scores[score]); };
        if (std::any_of(data.runs.begin(), data.runs.end(), has)) continue;
        data.scores.erase(data.scores.begin() + static_cast<std::ptrdiff_t>(score));
        for (SweepsData::Run& run : data.runs) run.scores.erase(run.scores.begin() + static_cast<std::ptrdiff_t>(score));
    }
}

/// With the method, which is a column of runs and no setting of theirs, and without what changes no run.
SweepSettings settingsOf(const KeySettings& all, const SweepRequest& request) {
    const auto found = all.values.find(request.run);
    SweepSettings own = found == all.values.end() ? SweepSettings() : found->second;
    own.erase("evaluation.baseline");
    if (!request.method.empty()) own["method"] = request.method;
    return own;
}

}  // namespace

SweepsDataPtr loadSweeps(Store& store, const std::vector<SweepRequest>& requests) {
    auto data = std::make_shared<SweepsData>();
    const RunScores scores = store.run_scores();
    const KeySettings settings = store.key_settings();
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < scores.runs.size(); ++i) places.emplace(scores.runs[i], i);
    data->scores = allScores(scores);
    std::map<SweepSettings, std::shared_ptr<const SweepSettings>> shared;
    for (const SweepRequest& request : requests) {
        const SweepSettings own = settingsOf(settings, request);
        auto& held = shared[own];
        if (!held) held = std::make_shared<const SweepSettings>(own);
        const auto place = places.find(request.run);
        data->runs.push_back(
            {request, held, place == places.end() ? std::vector<double>(data->scores.size(), none) : valuesOf(scores, place->second)});
    }
    dropUnknown(*data);
    return data;
}

}  // namespace faceter::desktop
