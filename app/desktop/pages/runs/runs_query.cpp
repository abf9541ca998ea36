#include "pages/runs/runs_query.h"

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

}  // namespace

RunsAnswer readRuns(Store& store, const RunsSnapshotPtr& snapshot, const RunsAnswer& before, const Filter& filter) {
    RunsAnswer answer = before;
    const bool first = !before.data;
    if (first || before.data->snapshot() != snapshot) {
        const News news = first ? News{true, true, true, true} : newsOf(*before.data->snapshot(), *snapshot);
        auto scores = news.scores ? std::make_shared<const RunScores>(store.run_scores()) : before.data->scores();
        auto settings = news.runs ? std::make_shared<const KeySettings>(store.key_settings()) : before.data->settings();
        auto places = news.attempts ? std::make_shared<const Places>(store.hosts()) : before.data->places();
        answer.data = std::make_shared<const RunsData>(snapshot, std::move(scores), std::move(settings), std::move(places));
        if (news.runs || news.scores || news.tags) answer.names = std::make_shared<const FilterNames>(filter_names(store));
    }
    answer.kept.clear();
    if (!filter.empty()) answer.kept = filter.matches(FilterData(store, filter, snapshot->runs));
    return answer;
}

}  // namespace faceter::desktop
