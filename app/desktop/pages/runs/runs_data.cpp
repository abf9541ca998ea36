#include "pages/runs/runs_data.h"

#include <QStringList>
#include <algorithm>
#include <cmath>
#include <limits>

#include "common/hash.h"
#include "common/strings.h"
#include "store/series_value.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

using Kind = RunColumn::Kind;
constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t most_default_scores = 3;  // what a window of 1024 has room for beside the other columns

/// Phases in the order in which a person wants to see them.
int rankOf(RunPhase phase) {
    switch (phase) {
        case RunPhase::failed:
            return 0;
        case RunPhase::dead:
            return 1;
        case RunPhase::silent:
            return 2;
        case RunPhase::stopped:
            return 3;
        case RunPhase::running:
            return 4;
        case RunPhase::queued:
            return 5;
        case RunPhase::done:
            return 6;
    }
    return 7;
}

QString timeText(const RunRow& run, const QString& place) {
    QStringList parts{progressText(run.state)};
    if (run.state.phase == RunPhase::queued)
        parts << QStringLiteral("made ") + momentText(run.info.created);
    else if (run.state.started > 0)
        parts << momentText(run.state.started);
    if (!place.isEmpty()) parts << place;
    parts.removeAll(QString());
    return parts.join(QStringLiteral(" · "));
}

QString stepText(const RunState& state) {
    if (state.step <= 0 && state.total_steps <= 0) return QStringLiteral("—");
    return state.total_steps > 0 ? QStringLiteral("%1 / %2").arg(countText(state.step), countText(state.total_steps))
                                 : countText(state.step);
}

QString numberText(const RunColumn& column, double value) {
    if (!std::isfinite(value)) return QStringLiteral("—");
    if (column.isScore()) return scoreText(value);
    if (column.kind == Kind::series) return seriesText(value);
    return column.kind == Kind::loss ? QString::number(value, 'f', 4) : countText(static_cast<std::int64_t>(value));
}

QString orDash(const std::string& text) { return text.empty() ? QStringLiteral("—") : qs(text); }

}  // namespace

RunsData::RunsData()
    : RunsData(std::make_shared<RunsSnapshot>(), std::make_shared<RunScores>(), std::make_shared<KeySettings>(),
               std::make_shared<Places>()) {}

RunsData::RunsData(RunsSnapshotPtr snapshot, std::shared_ptr<const RunScores> scores, std::shared_ptr<const KeySettings> settings,
                   std::shared_ptr<const Places> places, std::shared_ptr<const SeriesColumns> series,
                   std::shared_ptr<const SettingColumns> chosen)
    : m_snapshot(std::move(snapshot)),
      m_scores(std::move(scores)),
      m_settings(std::move(settings)),
      m_places(std::move(places)),
      m_series(std::move(series)),
      m_chosen(std::move(chosen)) {
    m_scoreRows.assign(m_snapshot->runs.size(), -1);
    for (std::size_t i = 0; i < m_scores->runs.size(); ++i)
        if (const int row = m_snapshot->find(m_scores->runs[i]); row >= 0) m_scoreRows[static_cast<std::size_t>(row)] = static_cast<int>(i);
    m_identities.reserve(m_snapshot->runs.size());
    for (const RunRow& run : m_snapshot->runs) m_identities.push_back(hash64(run.info.id));
    m_typeMeans.reserve(m_scores->runs.size() * m_scores->task_types.size());
    for (std::size_t i = 0; i < m_scores->runs.size(); ++i)
        for (const std::string& type : m_scores->task_types) m_typeMeans.push_back(m_scores->type_mean(i, type));
}

double RunsData::typeMean(int row, const std::string& type) const {
    const int place = m_scoreRows[static_cast<std::size_t>(row)];
    const auto& types = m_scores->task_types;
    const auto found = std::lower_bound(types.begin(), types.end(), type);
    if (place < 0 || found == types.end() || *found != type) return none;
    return m_typeMeans[static_cast<std::size_t>(place) * types.size() + static_cast<std::size_t>(found - types.begin())];
}

double RunsData::setScore(int row, const std::string& set) const {
    const int place = m_scoreRows[static_cast<std::size_t>(row)];
    if (place < 0) return none;
    for (std::size_t i = 0; i < m_scores->sets.size(); ++i)
        if (m_scores->sets[i].name == set)
            if (const double score = m_scores->at(static_cast<std::size_t>(place), i); !std::isnan(score)) return score;
    return none;
}

std::pair<std::uint64_t, int> RunsData::measuredOn(int row, const RunColumn& column) const {
    const int place = m_scoreRows[static_cast<std::size_t>(row)];
    if (place < 0 || (column.kind != Kind::score && column.kind != Kind::task_type)) return {0, 0};
    std::pair<std::uint64_t, int> measured{0, 0};
    for (std::size_t i = 0; i < m_scores->sets.size(); ++i) {
        if (column.kind == Kind::task_type && m_scores->sets[i].task_type != column.key) continue;
        if (std::isnan(m_scores->at(static_cast<std::size_t>(place), i))) continue;
        measured = {hash64(m_scores->sets[i].name, measured.first), measured.second + 1};
    }
    return measured;
}

double RunsData::seriesNumber(int row, const std::string& key) const {
    const auto values = m_series->values.find(key);
    if (values == m_series->values.end()) return none;
    const auto value = values->second.find(run(row).info.id);
    return value == values->second.end() ? none : value->second;
}

double RunsData::number(int row, const RunColumn& column) const {
    const RunRow& run = this->run(row);
    switch (column.kind) {
        case Kind::score:
            return run.num_scores > 0 ? run.mean_score : none;
        case Kind::task_type:
            return typeMean(row, column.key);
        case Kind::set:
            return setScore(row, column.key);
        case Kind::series:
            return seriesNumber(row, column.key);
        case Kind::loss:
            return run.state.step > 0 ? run.state.loss : none;
        case Kind::step:
            return static_cast<double>(run.state.step);
        case Kind::attempts:
            return run.state.attempts;
        case Kind::seed:
            return static_cast<double>(run.info.seed);
        case Kind::state:
            return rankOf(run.state.phase);
        case Kind::time:
            return run.state.active_s;
        case Kind::setting:
            return parse_double(setting(row, column.key)).value_or(none);
        default:
            return none;
    }
}

QString RunsData::text(int row, const RunColumn& column) const {
    const RunRow& run = this->run(row);
    switch (column.kind) {
        case Kind::name:
            return label(row, false);
        case Kind::state:
            return qs(run_phase_name(run.state.phase));
        case Kind::experiment:
            return qs(run.info.experiment);
        case Kind::variant:
            return qs(run.info.variant);
        case Kind::method:
            return qs(run.info.method);
        case Kind::point:
            return orDash(run.info.point);
        case Kind::key_settings:
            return keySettings(row);
        case Kind::seed:
            return QString::number(run.info.seed);
        case Kind::setting:
            return orDash(setting(row, column.key));
        case Kind::step:
            return stepText(run.state);
        case Kind::time:
            return timeText(run, place(row));
        case Kind::created:
            return momentText(run.info.created);
        case Kind::tags:
            return qs(join(run.tags, ", "));
        case Kind::note:
            return qs(run.note).simplified();
        default:
            return numberText(column, number(row, column));
    }
}

QString RunsData::label(int row, bool ofAll) const {
    const RunInfo& info = run(row).info;
    QStringList parts{qs(info.variant)};
    if (ofAll) parts.prepend(qs(info.experiment));
    if (!info.point.empty()) parts << qs(info.point);
    return parts.join(QStringLiteral(" · "));
}

std::string RunsData::sortText(int row, const RunColumn& column) const {
    if (column.kind == Kind::created) return run(row).info.created;
    if (column.kind == Kind::name) return lowercase_ascii(run(row).info.variant) + '\0' + run(row).info.point;
    return text(row, column).toLower().toStdString();
}

const std::string& RunsData::setting(int row, const std::string& key) const {
    static const std::string nothing;
    const auto in = [](const auto& values, const std::string& one) -> const std::string& {
        const auto value = values.find(one);
        return value == values.end() ? nothing : value->second;
    };
    const std::string& id = run(row).info.id;
    if (const auto chosen = m_chosen->find(key); chosen != m_chosen->end()) return in(chosen->second, id);
    const auto differing = m_settings->values.find(id);
    return differing == m_settings->values.end() ? nothing : in(differing->second, key);
}

QString RunsData::keySettings(int row) const {
    const auto values = m_settings->values.find(run(row).info.id);
    QStringList parts;
    if (values != m_settings->values.end())
        for (const auto& [key, value] : values->second) parts << RunColumn{Kind::setting, key}.title() + QLatin1Char(' ') + qs(value);
    return parts.isEmpty() ? QStringLiteral("—") : parts.join(QStringLiteral(" · "));
}

QString RunsData::place(int row) const {
    const auto found = m_places->find(run(row).info.id);
    return found == m_places->end() ? QString() : qs(found->second);
}

std::vector<RunColumn> RunsData::allColumns() const {
    std::vector<RunColumn> columns;
    for (const Kind kind :
         {Kind::name, Kind::state, Kind::experiment, Kind::variant, Kind::method, Kind::point, Kind::key_settings, Kind::seed, Kind::score,
          Kind::loss, Kind::step, Kind::time, Kind::created, Kind::attempts, Kind::tags, Kind::note})
        columns.push_back({kind, {}});
    for (const std::string& type : m_scores->task_types) columns.push_back({Kind::task_type, type});
    for (const RunScores::Set& set : m_scores->sets)
        if (const RunColumn column{Kind::set, set.name}; std::find(columns.begin(), columns.end(), column) == columns.end())
            columns.push_back(column);
    for (const std::string& key : m_settings->keys) columns.push_back({Kind::setting, key});
    for (const std::string& name : m_series->names)
        for (const auto which : {SeriesValue::Which::last, SeriesValue::Which::best, SeriesValue::Which::min, SeriesValue::Which::max})
            if (which != SeriesValue::Which::best || SeriesValue::direction(name) != 0)
                columns.push_back({Kind::series, SeriesValue{name, which}.text()});
    return columns;
}

std::vector<RunColumn> RunsData::defaultColumns() const {
    std::vector<RunColumn> columns{{Kind::name, {}}, {Kind::state, {}}, {Kind::key_settings, {}}, {Kind::seed, {}}};
    // Retrieval first where it is evaluated: what most embeddings are for.
    std::vector<std::string> types = m_scores->task_types;
    std::stable_partition(types.begin(), types.end(), [](const std::string& type) { return type == "retrieval"; });
    const bool withMean = types.empty() || types.size() > most_default_scores;
    if (withMean) columns.push_back({Kind::score, {}});
    for (std::size_t i = 0; i < std::min(types.size(), most_default_scores - withMean); ++i) columns.push_back({Kind::task_type, types[i]});
    columns.push_back({Kind::time, {}});
    return columns;
}

}  // namespace faceter::desktop
