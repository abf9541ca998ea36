#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "pages/runs/runs_model.h"

namespace faceter::desktop {
namespace {

using Lines = std::vector<RunsLine>;
using LinePlaces = std::unordered_map<std::uint64_t, int>;

LinePlaces placesOf(const Lines& lines) {
    LinePlaces places;
    places.reserve(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) places.emplace(lines[i].identity, static_cast<int>(i));
    return places;
}

bool sameOrder(const Lines& a, const Lines& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const RunsLine& left, const RunsLine& right) { return left.identity == right.identity; });
}

bool isIdle(const std::vector<int>& order) {
    for (std::size_t i = 0; i < order.size(); ++i)
        if (order[i] != static_cast<int>(i)) return false;
    return true;
}

/// The places whose flag is set, as [first, last]; nothing where they are not side by side.
std::pair<int, int> block(const std::vector<bool>& flags) {
    const auto first = std::find(flags.begin(), flags.end(), true);
    if (first == flags.end()) return {0, -1};
    const auto after = std::find(first, flags.end(), false);
    if (std::find(after, flags.end(), true) != flags.end()) return {-1, -1};
    return {static_cast<int>(first - flags.begin()), static_cast<int>(after - flags.begin()) - 1};
}

/// Whether a run looks as it did. Rows of equal revision are equal; a revision of 0 tells nothing.
bool sameRun(const RunsData& before, int was, const RunsData& now, int is) {
    const RunRow& a = before.run(was);
    const RunRow& b = now.run(is);
    return a.revision > 0 && a.revision == b.revision && before.place(was) == now.place(is);
}

bool sameLine(const RunsData& before, const RunsLayout& was, const RunsLine& a, const RunsData& now, const RunsLayout& is,
              const RunsLine& b) {
    if (a.isGroup() != b.isGroup() || a.isMember() != b.isMember()) return false;
    if (!a.isGroup()) return sameRun(before, a.row, now, b.row);
    const RunsGroup& left = was.groups[static_cast<std::size_t>(a.group)];
    const RunsGroup& right = is.groups[static_cast<std::size_t>(b.group)];
    if (left.open != right.open) return false;
    return std::equal(left.rows.begin(), left.rows.end(), right.rows.begin(), right.rows.end(),
                      [&](int x, int y) { return before.identity(x) == now.identity(y) && sameRun(before, x, now, y); });
}

std::vector<std::uint64_t> changedLines(const RunsData& before, const RunsLayout& was, const RunsData& now, const RunsLayout& is) {
    std::vector<std::uint64_t> changed;
    const LinePlaces places = placesOf(was.lines);
    for (const RunsLine& line : is.lines)
        if (const auto place = places.find(line.identity); place != places.end())
            if (!sameLine(before, was, was.lines[static_cast<std::size_t>(place->second)], now, is, line)) changed.push_back(line.identity);
    return changed;
}

}  // namespace

void RunsModel::show(RunsDataPtr data, std::vector<RunColumn> columns, RunsLayout layout) {
    m_groupTexts.clear();
    if (columns != m_columns) {
        beginResetModel();
        m_data = std::move(data);
        m_columns = std::move(columns);
        m_layout = std::move(layout);
        endResetModel();
        return;
    }
    // Key settings of all may differ when runs of the experiment came or went.
    const bool everything = m_layout.best != layout.best || m_layout.spreads != layout.spreads || m_data->settings() != data->settings() ||
                            *m_data->chosenSettings() != *data->chosenSettings();
    const std::vector<std::uint64_t> changed = everything ? std::vector<std::uint64_t>() : changedLines(*m_data, m_layout, *data, layout);
    const RunsDataPtr before = std::exchange(m_data, std::move(data));
    moveTo(std::move(layout));
    announce(changed, everything);
}

/// Survivors take their new content at once and the doomed lose theirs; then, each only where needed: the doomed go to the end and are
/// removed, the new come in, all are put in order. At most four signals whatever changed.
void RunsModel::moveTo(RunsLayout next) {
    const Lines target = std::move(next.lines);
    next.lines = std::move(m_layout.lines);
    m_layout = std::move(next);
    const LinePlaces targets = placesOf(target);
    std::vector<bool> doomed;
    for (RunsLine& line : m_layout.lines) {
        const auto place = targets.find(line.identity);
        doomed.push_back(place == targets.end());
        line = doomed.back() ? RunsLine{line.identity, -1, -1} : target[static_cast<std::size_t>(place->second)];
    }
    removeLines(doomed);
    insertLines(target);
    const LinePlaces now = placesOf(m_layout.lines);
    std::vector<int> order;
    order.reserve(target.size());
    for (const RunsLine& line : target) order.push_back(now.at(line.identity));
    if (!isIdle(order)) permute(order);
}

void RunsModel::removeLines(const std::vector<bool>& doomed) {
    std::pair<int, int> going = block(doomed);
    if (going.first < 0) {
        std::vector<int> order(doomed.size());
        std::iota(order.begin(), order.end(), 0);
        const auto tail = std::stable_partition(order.begin(), order.end(), [&](int i) { return !doomed[static_cast<std::size_t>(i)]; });
        going = {static_cast<int>(tail - order.begin()), static_cast<int>(order.size()) - 1};
        permute(order);
    }
    if (going.first > going.second) return;
    beginRemoveRows({}, going.first, going.second);
    m_layout.lines.erase(m_layout.lines.begin() + going.first, m_layout.lines.begin() + going.second + 1);
    endRemoveRows();
}

void RunsModel::insertLines(const Lines& target) {
    const LinePlaces known = placesOf(m_layout.lines);
    Lines kept, added;
    std::vector<bool> fresh;
    for (const RunsLine& line : target) {
        fresh.push_back(!known.contains(line.identity));
        (fresh.back() ? added : kept).push_back(line);
    }
    if (added.empty()) return;
    // One block among lines that are in order already goes where it belongs; anything else to the end, to be put in order after.
    const std::pair<int, int> coming = block(fresh);
    const int at = coming.first >= 0 && sameOrder(kept, m_layout.lines) ? coming.first : rowCount();
    beginInsertRows({}, at, at + static_cast<int>(added.size()) - 1);
    m_layout.lines.insert(m_layout.lines.begin() + at, added.begin(), added.end());
    endInsertRows();
}

/// The line at order[i] goes to i.
void RunsModel::permute(const std::vector<int>& order) {
    Q_EMIT layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
    Lines moved;
    moved.reserve(order.size());
    std::vector<int> places(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        moved.push_back(m_layout.lines[static_cast<std::size_t>(order[i])]);
        places[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    }
    m_layout.lines = std::move(moved);
    const QModelIndexList from = persistentIndexList();
    QModelIndexList to;
    to.reserve(from.size());
    for (const QModelIndex& index : from) to << createIndex(places[static_cast<std::size_t>(index.row())], index.column());
    changePersistentIndexList(from, to);
    Q_EMIT layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

void RunsModel::announce(const std::vector<std::uint64_t>& changed, bool everything) {
    if (rowCount() == 0 || columnCount() == 0) return;
    if (everything) {
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
        return;
    }
    if (changed.empty()) return;
    const std::unordered_set<std::uint64_t> wanted(changed.begin(), changed.end());
    for (int row = 0; row < rowCount(); ++row) {
        if (!wanted.contains(line(row).identity)) continue;
        int last = row;
        while (last + 1 < rowCount() && wanted.contains(line(last + 1).identity)) ++last;
        Q_EMIT dataChanged(index(row, 0), index(last, columnCount() - 1));
        row = last;
    }
}

}  // namespace faceter::desktop
