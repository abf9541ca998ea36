#include "pages/runs/runs_layout.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "common/hash.h"
#include "compare/counted_run.h"
#include "pages/runs/group_text.h"

namespace faceter::desktop {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

struct NamedGroup {
    GroupBy::Kind kind;
    const char* id;
    const char* title;
};
constexpr NamedGroup named_groups[] = {{GroupBy::Kind::none, "none", "none"},
                                       {GroupBy::Kind::seeds, "seeds", "seeds"},
                                       {GroupBy::Kind::experiment, "experiment", "experiment"},
                                       {GroupBy::Kind::variant, "variant", "variant"},
                                       {GroupBy::Kind::method, "method", "method"},
                                       {GroupBy::Kind::state, "state", "state"}};

/// What a line is sorted by: pinned ones first, then the number, then the text; what is missing last whatever the order.
struct SortKey {
    bool pinned = false;
    double number = none;
    std::string text;
};

double better(int direction, double a, double b) { return direction > 0 ? std::fmax(a, b) : std::fmin(a, b); }

/// A line that a column's best is looked for among: what its value is over, and the value.
struct Rival {
    std::uint64_t line, measured;
    int numSets;
    double value;
};

/// Of each experiment (or several that lines are put together from) the best of those that have the most data sets, where several do.
std::set<std::uint64_t> bestOf(const std::map<std::uint64_t, std::vector<Rival>>& fields, int direction) {
    std::set<std::uint64_t> lines;
    for (const auto& [field, rivals] : fields) {
        const Rival& fullest =
            *std::max_element(rivals.begin(), rivals.end(), [](const Rival& a, const Rival& b) { return a.numSets < b.numSets; });
        const auto isEqual = [&](const Rival& rival) { return rival.measured == fullest.measured; };
        if (std::count_if(rivals.begin(), rivals.end(), isEqual) < 2) continue;
        double best = none;
        for (const Rival& rival : rivals)
            if (isEqual(rival)) best = better(direction, best, rival.value);
        for (const Rival& rival : rivals)
            if (isEqual(rival) && rival.value == best) lines.insert(rival.line);
    }
    return lines;
}

bool before(const SortKey& a, const SortKey& b, bool descending) {
    if (a.pinned != b.pinned) return a.pinned;
    if (std::isnan(a.number) != std::isnan(b.number)) return std::isnan(b.number);
    if (!std::isnan(a.number) && a.number != b.number) return (a.number < b.number) != descending;
    if (a.text.empty() != b.text.empty()) return b.text.empty();
    const int compared = a.text.compare(b.text);
    return compared != 0 && (compared < 0) != descending;
}

std::string groupKeyOf(const RunsData& data, int row, const GroupBy& by) {
    const RunRow& run = data.run(row);
    switch (by.kind) {
        case GroupBy::Kind::seeds:
            return run.info.group();
        case GroupBy::Kind::experiment:
            return run.info.experiment;
        case GroupBy::Kind::variant:
            return run.info.variant;
        case GroupBy::Kind::method:
            return run.info.method;
        case GroupBy::Kind::state:
            return std::string(run_phase_name(run.state.phase));
        case GroupBy::Kind::setting:
            return data.setting(row, by.key);
        case GroupBy::Kind::none:
            break;
    }
    return {};
}

QString groupLabel(const RunsData& data, int row, const GroupBy& by, const std::string& key, bool ofAll) {
    if (by.kind == GroupBy::Kind::seeds) return data.label(row, ofAll);
    if (by.kind != GroupBy::Kind::setting || !key.empty()) return qs(key);
    const bool isRead = data.chosenSettings()->contains(by.key);
    return isRead ? QCoreApplication::translate("RunsLayout", "not set") : QCoreApplication::translate("RunsLayout", "as the others");
}

/// Lays the runs of one call out; the steps of layOut() in order.
class Layouter {
  public:
    Layouter(const RunsData& data, const LayoutOptions& options) : m_data(data), m_options(options) {}

    RunsLayout run() {
        choose();
        makeGroups();
        for (RunsGroup& group : m_layout.groups) fillCells(group);
        for (RunsGroup& group : m_layout.groups) sortRows(group.rows);
        orderLines();
        markBest();
        return std::move(m_layout);
    }

  private:
    bool descending() const { return m_options.sort.order == Qt::DescendingOrder; }

    void choose() {
        for (int row = 0; row < m_data.numRuns(); ++row) {
            const RunRow& run = m_data.run(row);
            if (!m_options.experiment.empty() && run.info.experiment != m_options.experiment) continue;
            m_layout.numArchived += run.archived;
            if (run.archived && !m_options.archived) continue;
            if (m_options.kept && static_cast<std::size_t>(row) < m_options.kept->size() &&
                !(*m_options.kept)[static_cast<std::size_t>(row)])
                continue;
            m_rows.push_back(row);
        }
        m_layout.numRuns = static_cast<int>(m_rows.size());
    }

    void makeGroups() {
        if (m_options.group.kind == GroupBy::Kind::none) {
            m_single = m_rows;
            return;
        }
        std::unordered_map<std::string, std::vector<int>> members;
        std::vector<std::string> keys;
        for (const int row : m_rows) {
            std::string key = groupKeyOf(m_data, row, m_options.group);
            const auto [entry, fresh] = members.try_emplace(std::move(key));
            if (fresh) keys.push_back(entry->first);
            entry->second.push_back(row);
        }
        for (const std::string& key : keys) addGroup(key, std::move(members[key]));
    }

    void addGroup(const std::string& key, std::vector<int> rows) {
        if (rows.size() == 1) {
            m_single.push_back(rows.front());
            return;
        }
        RunsGroup group;
        group.label = groupLabel(m_data, rows.front(), m_options.group, key, m_options.experiment.empty());
        group.identity = hash64("group " + m_options.group.id().toStdString() + '\0' + key);
        group.pinned = std::any_of(rows.begin(), rows.end(), [&](int row) { return m_data.run(row).pinned; });
        group.open = m_options.open && m_options.open->contains(group.identity);
        const auto runOf = [&](int row) -> const RunRow& { return m_data.run(row); };
        group.counted = m_options.group.kind == GroupBy::Kind::seeds ? one_of_each_seed(rows, runOf) : rows;
        group.rows = std::move(rows);
        m_layout.groups.push_back(std::move(group));
    }

    void fillCells(RunsGroup& group) const {
        std::vector<double> values;
        for (const RunColumn& column : m_options.columns) {
            values.clear();
            if (column.isNumber())
                for (const int row : group.counted) values.push_back(m_data.number(row, column));
            group.cells.push_back(aggregate(values));
        }
    }

    SortKey keyOf(int row) const {
        SortKey key{m_data.run(row).pinned, m_data.number(row, m_options.sort.column), {}};
        if (std::isnan(key.number) && !m_options.sort.column.isNumber()) key.text = m_data.sortText(row, m_options.sort.column);
        return key;
    }

    /// Of a group: the mean; of states the one that stands for it; for texts what its first run in the order has.
    SortKey keyOf(const RunsGroup& group) const {
        if (m_options.sort.column.kind == RunColumn::Kind::state)
            return {group.pinned, m_data.number(mostUrgent(m_data, group), m_options.sort.column), {}};
        std::vector<double> values;
        for (const int row : group.counted) values.push_back(m_data.number(row, m_options.sort.column));
        SortKey key{group.pinned, aggregate(values).mean, {}};
        if (!std::isnan(key.number) || m_options.sort.column.isNumber()) return key;
        const bool byLabel = m_options.sort.column.kind == RunColumn::Kind::name && m_options.group.kind != GroupBy::Kind::seeds;
        key.text = byLabel ? group.label.toLower().toStdString() : m_data.sortText(group.rows.front(), m_options.sort.column);
        return key;
    }

    std::vector<int> sorted(const std::vector<SortKey>& keys) const {
        std::vector<int> order(keys.size());
        std::iota(order.begin(), order.end(), 0);
        const bool down = descending();
        std::stable_sort(order.begin(), order.end(),
                         [&](int a, int b) { return before(keys[static_cast<std::size_t>(a)], keys[static_cast<std::size_t>(b)], down); });
        return order;
    }

    void sortRows(std::vector<int>& rows) const {
        std::vector<SortKey> keys;
        keys.reserve(rows.size());
        for (const int row : rows) keys.push_back(keyOf(row));
        std::vector<int> result;
        result.reserve(rows.size());
        for (const int place : sorted(keys)) result.push_back(rows[static_cast<std::size_t>(place)]);
        rows = std::move(result);
    }

    void orderLines() {
        std::vector<SortKey> keys;
        keys.reserve(m_layout.groups.size() + m_single.size());
        for (const RunsGroup& group : m_layout.groups) keys.push_back(keyOf(group));
        for (const int row : m_single) keys.push_back(keyOf(row));
        const int numGroups = static_cast<int>(m_layout.groups.size());
        for (const int place : sorted(keys)) {
            if (place >= numGroups) {
                const int row = m_single[static_cast<std::size_t>(place - numGroups)];
                m_layout.lines.push_back({m_data.identity(row), row, -1});
                continue;
            }
            const RunsGroup& group = m_layout.groups[static_cast<std::size_t>(place)];
            m_layout.lines.push_back({group.identity, -1, place});
            if (group.open)
                for (const int row : group.rows) m_layout.lines.push_back({m_data.identity(row), row, place});
        }
    }

    void markBest() {
        const std::size_t count = m_options.columns.size();
        m_layout.best.assign(count, {});
        m_layout.spreads.assign(count, false);
        for (std::size_t column = 0; column < count; ++column) {
            const RunColumn& what = m_options.columns[column];
            if (!what.isNumber()) continue;
            for (const RunsGroup& group : m_layout.groups)
                m_layout.spreads[column] = m_layout.spreads[column] || !std::isnan(group.cells[column].spread);
            if (what.direction() != 0) m_layout.best[column] = bestOf(rivalsIn(column), what.direction());
        }
    }

    std::map<std::uint64_t, std::vector<Rival>> rivalsIn(std::size_t column) const {
        std::map<std::uint64_t, std::vector<Rival>> rivals;
        for (const RunsGroup& group : m_layout.groups)
            addRival(rivals, group.identity, group.counted, m_options.columns[column], group.cells[column].mean);
        for (const int row : m_single)
            addRival(rivals, m_data.identity(row), {row}, m_options.columns[column], m_data.number(row, m_options.columns[column]));
        return rivals;
    }

    /// A mean over runs that were measured on different data sets is nobody's rival.
    void addRival(std::map<std::uint64_t, std::vector<Rival>>& rivals, std::uint64_t line, const std::vector<int>& rows,
                  const RunColumn& column, double value) const {
        std::set<std::pair<std::uint64_t, int>> measured;
        std::set<std::string> experiments;
        for (const int row : rows) {
            if (std::isnan(m_data.number(row, column))) continue;
            measured.insert(m_data.measuredOn(row, column));
            experiments.insert(m_data.run(row).info.experiment);
        }
        if (measured.size() != 1) return;
        std::uint64_t field = 0;
        for (const std::string& experiment : experiments) field = hash64(experiment, field);
        rivals[field].push_back({line, measured.begin()->first, measured.begin()->second, value});
    }

    const RunsData& m_data;
    const LayoutOptions& m_options;
    RunsLayout m_layout;
    std::vector<int> m_rows, m_single;
};

}  // namespace

QString GroupBy::id() const {
    if (kind == Kind::setting) return QStringLiteral("setting:") + qs(key);
    for (const NamedGroup& one : named_groups)
        if (one.kind == kind) return QLatin1String(one.id);
    return {};
}

GroupBy GroupBy::fromId(const QString& id) {
    if (id.startsWith(QLatin1String("setting:"))) return {Kind::setting, id.mid(8).toStdString()};
    for (const NamedGroup& one : named_groups)
        if (id == QLatin1String(one.id)) return {one.kind, {}};
    return {};
}

QString GroupBy::title() const {
    if (kind == Kind::setting) return RunColumn{RunColumn::Kind::setting, key}.title();
    for (const NamedGroup& one : named_groups)
        if (one.kind == kind) return QCoreApplication::translate("RunsLayout", one.title);
    return {};
}

Aggregate aggregate(const std::vector<double>& values) {
    Aggregate result{none, none, 0};
    double sum = 0;
    for (const double value : values)
        if (!std::isnan(value)) sum += value, ++result.n;
    if (result.n == 0) return result;
    result.mean = sum / result.n;
    if (result.n < 2) return result;
    double squares = 0;
    for (const double value : values)
        if (!std::isnan(value)) squares += (value - result.mean) * (value - result.mean);
    result.spread = std::sqrt(squares / (result.n - 1));
    return result;
}

RunsLayout layOut(const RunsData& data, const LayoutOptions& options) { return Layouter(data, options).run(); }

}  // namespace faceter::desktop
