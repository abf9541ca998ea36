#include "pages/sweeps/sweeps_data.h"

#include <QCoreApplication>
#include <cmath>

namespace faceter::desktop {
namespace {

const char* const meanScore = "score";
std::string typeId(const std::string& type) { return "type:" + type; }
std::string setId(const std::string& set) { return "set:" + set; }

void addScores(const RunScores& scores, std::size_t place, SweepsData::Run& run) {
    double sum = 0;
    int count = 0;
    for (std::size_t set = 0; set < scores.sets.size(); ++set) {
        const double score = scores.at(place, set);
        if (std::isnan(score)) continue;
        run.scores[setId(scores.sets[set].name)] = score;
        sum += score;
        ++count;
    }
    if (count > 0) run.scores[meanScore] = sum / count;
    for (const std::string& type : scores.task_types)
        if (const double score = scores.type_mean(place, type); !std::isnan(score)) run.scores[typeId(type)] = score;
}

/// Those that some run has.
std::vector<SweepsData::Score> scoresOf(const RunScores& scores, const std::vector<SweepsData::Run>& runs) {
    const auto known = [&](const std::string& id) {
        return std::any_of(runs.begin(), runs.end(), [&](const SweepsData::Run& run) { return run.scores.contains(id); });
    };
    std::vector<SweepsData::Score> found;
    const auto offer = [&](const std::string& id, const std::string& name) {
        if (known(id)) found.push_back({id, name});
    };
    offer(meanScore, QCoreApplication::translate("SweepsData", "mean score").toStdString());
    for (const std::string& type : scores.task_types) offer(typeId(type), type);
    for (const RunScores::Set& set : scores.sets) offer(setId(set.name), set.name);
    return found;
}

}  // namespace

SweepsDataPtr loadSweeps(Store& store, const std::vector<SweepRequest>& requests) {
    auto data = std::make_shared<SweepsData>();
    const RunScores scores = store.run_scores();
    const KeySettings settings = store.key_settings();
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < scores.runs.size(); ++i) places.emplace(scores.runs[i], i);
    for (const SweepRequest& request : requests) {
        SweepsData::Run run{request, {}, {}};
        if (const auto own = settings.values.find(request.run); own != settings.values.end()) run.settings = own->second;
        if (const auto place = places.find(request.run); place != places.end()) addScores(scores, place->second, run);
        data->runs.push_back(std::move(run));
    }
    data->scores = scoresOf(scores, data->runs);
    return data;
}

}  // namespace faceter::desktop
