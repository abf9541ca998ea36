#include "pages/runs/group_text.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <set>

#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

using Kind = RunColumn::Kind;
constexpr std::size_t most_values = 6;

QString valueText(const RunColumn& column, double value) {
    if (std::isnan(value)) return QStringLiteral("—");
    if (column.isScore()) return scoreText(value);
    if (column.kind == Kind::series) return seriesText(value);
    return column.kind == Kind::loss ? QString::number(value, 'f', 4) : countText(std::llround(value));
}

/// What all have; else the values, or how many there are.
QString commonText(const RunsData& data, const RunsGroup& group, const RunColumn& column) {
    QStringList values;
    for (const int row : group.rows)
        if (const QString text = data.text(row, column); !values.contains(text) && !text.isEmpty()) {
            values << text;
            if (values.size() > static_cast<qsizetype>(most_values)) return QCoreApplication::translate("RunsModel", "several");
        }
    if (values.size() > 1) values.removeAll(QStringLiteral("—"));
    return values.join(QStringLiteral(", "));
}

QString seedsText(const RunsData& data, const RunsGroup& group) {
    std::set<std::uint64_t> seeds;
    for (const int row : group.rows) seeds.insert(data.run(row).info.seed);
    QStringList parts;
    for (const std::uint64_t seed : seeds) {
        if (parts.size() == static_cast<qsizetype>(most_values)) return parts.join(QStringLiteral(", ")) + QStringLiteral(" …");
        parts << QString::number(seed);
    }
    return parts.join(QStringLiteral(", "));
}

qsizetype countIn(const RunsData& data, const RunsGroup& group, RunPhase phase) {
    return std::count_if(group.rows.begin(), group.rows.end(), [&](int row) { return data.run(row).state.phase == phase; });
}

/// The most urgent state, and beside it that a run is at work.
QString stateText(const RunsData& data, const RunsGroup& group) {
    const RunPhase phase = data.run(mostUrgent(data, group)).state.phase;
    const QString name = qs(run_phase_name(phase));
    const qsizetype working = countIn(data, group, RunPhase::running);
    if (phase == RunPhase::running || working == 0) return name;
    return QCoreApplication::translate("RunsModel", "%1 running, %2 %3").arg(working).arg(countIn(data, group, phase)).arg(name);
}

/// Of a group that runs: the longest that is left; of one that is over: what a run took.
QString timeText(const RunsData& data, const RunsGroup& group) {
    const RunRow& urgent = data.run(mostUrgent(data, group));
    if (urgent.state.phase != RunPhase::done) return data.text(mostUrgent(data, group), {Kind::time, {}});
    std::vector<double> times;
    double last = 0;
    for (const int row : group.rows) {
        times.push_back(data.run(row).state.active_s);
        last = std::max(last, data.run(row).state.started);
    }
    return QStringLiteral("⌀ %1 · %2").arg(durationText(aggregate(times).mean), momentText(last));
}

}  // namespace

int mostUrgent(const RunsData& data, const RunsGroup& group) {
    const RunColumn state{Kind::state, {}};
    return *std::min_element(group.rows.begin(), group.rows.end(),
                             [&](int a, int b) { return data.number(a, state) < data.number(b, state); });
}

QString groupText(const RunsData& data, const RunsGroup& group, const RunColumn& column, const Aggregate& cell) {
    switch (column.kind) {
        case Kind::name:
            return group.label;
        case Kind::state:
            return stateText(data, group);
        case Kind::seed:
            return seedsText(data, group);
        case Kind::time:
            return timeText(data, group);
        case Kind::created:
            return data.text(*std::max_element(group.rows.begin(), group.rows.end()), column);
        default:
            return column.isNumber() ? valueText(column, cell.mean) : commonText(data, group, column);
    }
}

QString spreadText(const RunColumn& column, const Aggregate& cell) {
    return std::isnan(cell.spread)
               ? QString()
               : QStringLiteral(" ± ") + (column.isScore() ? scoreText(cell.spread) : QString::number(cell.spread, 'g', 2));
}

QString groupExtra(const RunsData& data, const RunsGroup& group, const RunColumn& column, const Aggregate& cell) {
    const qsizetype all = static_cast<qsizetype>(group.rows.size()), counted = static_cast<qsizetype>(group.counted.size());
    if (column.kind == Kind::name) return QStringLiteral("n = %1").arg(counted);
    if (column.isScore() && cell.n > 0 && cell.n < counted)
        return QCoreApplication::translate("RunsModel", "%1 of %2").arg(cell.n).arg(counted);
    if (column.kind != Kind::state) return {};
    const RunPhase phase = data.run(mostUrgent(data, group)).state.phase;
    const qsizetype count = countIn(data, group, phase), working = countIn(data, group, RunPhase::running);
    if (phase == RunPhase::running || working == 0)
        return count == all ? QString() : QCoreApplication::translate("RunsModel", "%1 of %2").arg(count).arg(all);
    return count + working == all ? QString() : QCoreApplication::translate("RunsModel", "of %1").arg(all);
}

double groupProgress(const RunsData& data, const RunsGroup& group) {
    double sum = 0;
    bool any = false;
    for (const int row : group.rows) {
        const RunState& state = data.run(row).state;
        any = any || state.phase == RunPhase::running;
        if (state.phase == RunPhase::done)
            sum += 1;
        else if (state.total_steps > 0)
            sum += static_cast<double>(state.step) / static_cast<double>(state.total_steps);
    }
    return any ? sum / static_cast<double>(group.rows.size()) : -1;
}

}  // namespace faceter::desktop
