#include "pages/sweeps/sweeps_data.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace faceter::desktop {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Scores of the runs of one request; means only over what all runs with a score have: else the run that lacks the hardest set is the best.
class SweepScores {
  public:
    SweepScores(const RunScores& scores, const std::vector<SweepRequest>& requests) : m_scores(scores) {
        std::unordered_map<std::string_view, std::size_t> places;
        for (std::size_t i = 0; i < scores.runs.size(); ++i) places.emplace(scores.runs[i], i);
        for (const SweepRequest& request : requests) {
            const auto place = places.find(request.run);
            m_places.push_back(place == places.end() ? nowhere : place->second);
        }
        for (std::size_t run = 0; run < m_places.size(); ++run) m_numScored += countOf(run) > 0;
        for (std::size_t set = 0; set < scores.sets.size(); ++set) {
            m_had.push_back(countIn(set) > 0);
            m_common.push_back(m_had.back() && countIn(set) == m_numScored);
        }
    }

    void describe(SweepsData& data) const {
        data.numSets = static_cast<int>(std::count(m_had.begin(), m_had.end(), true));
        data.numCommon = static_cast<int>(std::count(m_common.begin(), m_common.end(), true));
        data.numUnscored = static_cast<int>(m_places.size() - m_numScored);
        for (std::size_t run = 0; run < m_places.size(); ++run)
            if (const int own = countOf(run); own > 0 && own < data.numSets) data.lacking.push_back(data.runs[run].request.name);
        const auto mean = QCoreApplication::translate("SweepsData", "mean score").toStdString();
        data.scores = {{"score", mean + partOf({})}};
        for (const std::string& type : m_scores.task_types) data.scores.push_back({"type:" + type, type + partOf(type)});
        for (const RunScores::Set& set : m_scores.sets) data.scores.push_back({"set:" + set.name, set.name});
    }

    /// In the order of describe()'s scores.
    std::vector<double> of(std::size_t run) const {
        std::vector<double> values{mean(run, {})};
        for (const std::string& type : m_scores.task_types) values.push_back(mean(run, type));
        for (std::size_t set = 0; set < m_scores.sets.size(); ++set) values.push_back(at(run, set));
        return values;
    }

  private:
    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

    double at(std::size_t run, std::size_t set) const { return m_places[run] == nowhere ? none : m_scores.at(m_places[run], set); }

    int countOf(std::size_t run) const {
        int count = 0;
        for (std::size_t set = 0; set < m_scores.sets.size(); ++set) count += !std::isnan(at(run, set));
        return count;
    }

    std::size_t countIn(std::size_t set) const {
        std::size_t count = 0;
        for (std::size_t run = 0; run < m_places.size(); ++run) count += !std::isnan(at(run, set));
        return count;
    }

    bool isOf(std::size_t set, std::string_view type) const { return type.empty() || m_scores.sets[set].task_type == type; }

    double mean(std::size_t run, std::string_view type) const {
        double sum = 0;
        int count = 0;
        for (std::size_t set = 0; set < m_scores.sets.size(); ++set)
            if (m_common[set] && isOf(set, type) && !std::isnan(at(run, set))) sum += at(run, set), ++count;
        return count > 0 ? sum / count : none;
    }

    /// " (2 of 8 data sets)" where a mean leaves some out.
    std::string partOf(std::string_view type) const {
        int common = 0, all = 0;
        for (std::size_t set = 0; set < m_scores.sets.size(); ++set)
            if (isOf(set, type)) common += m_common[set], all += m_had[set];
        if (common == all) return {};
        return QCoreApplication::translate("SweepsData", " (%1 of %2 data sets)").arg(common).arg(all).toStdString();
    }

    const RunScores& m_scores;
    std::vector<std::size_t> m_places;  // run of the request -> row of the scores
    std::size_t m_numScored = 0;
    std::vector<bool> m_had, m_common;  // a set: some run has it; all that have a score do
};

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

KeySettings settingsThatDiffer(Store& store, const std::vector<SweepRequest>& requests) {
    std::vector<std::string> runs;
    for (const SweepRequest& request : requests) runs.push_back(request.run);
    return store.key_settings(runs);
}

}  // namespace

SweepsDataPtr loadSweeps(Store& store, const std::vector<SweepRequest>& requests) {
    auto data = std::make_shared<SweepsData>();
    const RunScores all = store.run_scores();
    const SweepScores scores(all, requests);
    const KeySettings settings = settingsThatDiffer(store, requests);
    std::map<SweepSettings, std::shared_ptr<const SweepSettings>> shared;
    for (std::size_t run = 0; run < requests.size(); ++run) {
        const SweepSettings own = settingsOf(settings, requests[run]);
        auto& held = shared[own];
        if (!held) held = std::make_shared<const SweepSettings>(own);
        data->runs.push_back({requests[run], held, scores.of(run)});
    }
    scores.describe(*data);
    dropUnknown(*data);
    return data;
}

}  // namespace faceter::desktop
