#include "pages/runs/runs_query.h"

#include <algorithm>

#include "store/series_value.h"

namespace faceter::desktop {
namespace {

/// What has to be read again.
struct News {
    bool runs = false, scores = false, attempts = false, tags = false;
};

News newsOf(const RunsSnapshot& before, const RunsSnapshot& now) {
    News news;
    news.runs = before.runs.size() != now.runs.size();
    for (const RunRow& run : now.runs) {
        const int place = before.find(run.info.id);
        if (place < 0) {
            news.runs = true;
            break;
        }
        const RunRow& old = before.runs[static_cast<std::size_t>(place)];
        if (old.revision > 0 && old.revision == run.revision) continue;
        news.scores = news.scores || run.num_scores > 0 || old.num_scores > 0;
        news.attempts = news.attempts || old.state.attempt != run.state.attempt || old.state.started != run.state.started;
        news.tags = news.tags || old.tags != run.tags;
    }
    if (news.runs) news = {true, true, true, true};
    return news;
}

constexpr std::size_t most_asked = 24;

/// Of the newest runs: to ask ten thousand what all of them have takes too long.
std::vector<std::string> seriesNames(Store& store, const RunsSnapshot& snapshot) {
    std::set<std::string> names;
    const std::size_t count = std::min(most_asked, snapshot.runs.size());
    for (std::size_t i = snapshot.runs.size() - count; i < snapshot.runs.size(); ++i)
        for (std::string& name : store.series_names(snapshot.runs[i].info.id)) names.insert(std::move(name));
    return {names.begin(), names.end()};
}

bool isUnchanged(const RunRow& run, const RunsSnapshot& before) {
    const int place = before.find(run.info.id);
    return place >= 0 && run.revision > 0 && before.runs[static_cast<std::size_t>(place)].revision == run.revision;
}

/// What unchanged runs had is taken over.
std::unordered_map<std::string, double> seriesColumn(Store& store, const std::string& key, const RunsSnapshot& now,
                                                     const RunsData* before) {
    const SeriesValue value = SeriesValue::parse(key).value();
    const auto known = before ? before->series()->values.find(key) : decltype(before->series()->values.end()){};
    const bool wasShown = before && known != before->series()->values.end();
    std::unordered_map<std::string, double> column;
    for (const RunRow& run : now.runs) {
        const bool taken = wasShown && isUnchanged(run, *before->snapshot()) && known->second.contains(run.info.id);
        column[run.info.id] = taken ? known->second.at(run.info.id) : value.of(store, run.info.id);
    }
    return column;
}

std::shared_ptr<const SeriesColumns> seriesColumns(Store& store, const RunsSnapshotPtr& snapshot, const RunsData* before,
                                                   const std::set<std::string>& keys) {
    auto series = std::make_shared<SeriesColumns>();
    series->names = before && before->snapshot() == snapshot ? before->series()->names : seriesNames(store, *snapshot);
    for (const std::string& key : keys) series->values[key] = seriesColumn(store, key, *snapshot, before);
    return series;
}

std::shared_ptr<const SettingColumns> settingColumns(Store& store, const std::set<std::string>& keys) {
    auto columns = std::make_shared<SettingColumns>();
    for (const std::string& key : keys) (*columns)[key] = store.setting(key);
    return columns;
}

}  // namespace

RunsAnswer readRuns(Store& store, const RunsSnapshotPtr& snapshot, const RunsAnswer& before, const Filter& filter, const ColumnKeys& keys) {
    RunsAnswer answer = before;
    answer.keys = keys;
    const bool first = !before.data;
    if (first || before.data->snapshot() != snapshot || before.keys != keys) {
        const News news = first ? News{true, true, true, true} : newsOf(*before.data->snapshot(), *snapshot);
        auto scores = news.scores ? std::make_shared<const RunScores>(store.run_scores()) : before.data->scores();
        auto settings = news.runs ? std::make_shared<const KeySettings>(store.key_settings()) : before.data->settings();
        auto places = news.attempts ? std::make_shared<const Places>(store.hosts()) : before.data->places();
        const bool sameChoice = !news.runs && before.keys.settings == keys.settings;
        auto chosen = sameChoice ? before.data->chosenSettings() : settingColumns(store, keys.settings);
        answer.data = std::make_shared<const RunsData>(snapshot, std::move(scores), std::move(settings), std::move(places),
                                                       seriesColumns(store, snapshot, before.data.get(), keys.series), std::move(chosen));
        if (news.runs || news.scores || news.tags) answer.names = std::make_shared<const FilterNames>(filter_names(store));
    }
    answer.kept.clear();
    if (!filter.empty()) answer.kept = filter.matches(FilterData(store, filter, snapshot->runs));
    return answer;
}

}  // namespace faceter::desktop
