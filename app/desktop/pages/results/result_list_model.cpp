#include "pages/results/result_list_model.h"

#include <QSize>
#include <cmath>

#include "project/runs_snapshot.h"
#include "theme/icons.h"
#include "theme/theme.h"

namespace faceter::desktop {
namespace {

QString headingOf(const ResultEntry& entry) {
    if (entry.plugin.empty() && !entry.analysis.empty()) return qs(entry.analysis);
    const QString plugin = entry.plugin.empty() ? ResultListModel::tr("core") : qs(entry.plugin);
    return entry.analysis.empty() || entry.analysis == entry.plugin ? plugin : plugin + QStringLiteral(" · ") + qs(entry.analysis);
}

QString kindText(const ResultEntry& entry) {
    return entry.kind == ResultEntry::Kind::figure ? ResultListModel::tr("figure") : ResultListModel::tr("table");
}

}  // namespace

ResultListModel::ResultListModel(QObject* parent) : QAbstractListModel(parent), m_results(std::make_shared<std::vector<ResultEntry>>()) {}

void ResultListModel::setResults(ResultsPtr results) {
    beginResetModel();
    m_results = std::move(results);
    layOut();
    endResetModel();
}

void ResultListModel::setSearch(const QString& text) {
    beginResetModel();
    m_search = text.simplified();
    layOut();
    endResetModel();
}

bool ResultListModel::matches(const ResultEntry& entry) const {
    const QString all =
        headingOf(entry) + QLatin1Char(' ') + kindText(entry) + QLatin1Char(' ') + qs(entry.name) + QLatin1Char(' ') + qs(entry.title);
    for (const QString& word : m_search.split(QLatin1Char(' '), Qt::SkipEmptyParts))
        if (!all.contains(word, Qt::CaseInsensitive)) return false;
    return true;
}

void ResultListModel::layOut() {
    m_lines.clear();
    QString heading;
    for (std::size_t i = 0; i < m_results->size(); ++i) {
        const ResultEntry& entry = (*m_results)[i];
        if (!matches(entry)) continue;
        if (const QString own = headingOf(entry); m_lines.empty() || own != heading) m_lines.push_back({heading = own});
        m_lines.push_back({{}, i});
    }
}

const ResultEntry* ResultListModel::entryAt(const QModelIndex& index) const {
    if (!index.isValid() || index.row() >= rowCount()) return nullptr;
    const Line& line = m_lines[static_cast<std::size_t>(index.row())];
    return line.heading.isEmpty() ? &(*m_results)[line.entry] : nullptr;
}

QModelIndex ResultListModel::find(const std::string& key) const {
    for (int row = 0; row < rowCount(); ++row)
        if (const ResultEntry* entry = entryAt(index(row)); entry && entry->key() == key) return index(row);
    return {};
}

QModelIndex ResultListModel::firstEntry() const {
    QModelIndex first;
    for (int row = 0; row < rowCount(); ++row) {
        const ResultEntry* entry = entryAt(index(row));
        if (!entry) continue;
        const bool full = entry->hasValues();
        if (full && entry->kind == ResultEntry::Kind::figure) return index(row);
        if (!first.isValid() || (full && !entryAt(first)->hasValues())) first = index(row);
    }
    return first;
}

int ResultListModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_lines.size()); }

QVariant ResultListModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Line& line = m_lines[static_cast<std::size_t>(index.row())];
    const ResultEntry* entry = entryAt(index);
    switch (role) {
        case Qt::DisplayRole:
            return entry ? qs(entry->title) : line.heading;
        case Qt::AccessibleTextRole:
            return entry ? tr("%1 %2").arg(kindText(*entry), qs(entry->title)) : line.heading;
        case Qt::DecorationRole:
            return entry ? icon(entry->kind == ResultEntry::Kind::figure ? QStringLiteral("smooth") : QStringLiteral("columns"))
                         : QVariant();
        case Qt::ToolTipRole:
            return entry ? tr("%1: %2 (%3); runs: %4")
                               .arg(kindText(*entry), qs(entry->title), qs(entry->name))
                               .arg(entry->documents.size())
                               .toHtmlEscaped()
                         : QVariant();
        case Qt::ForegroundRole:
            return entry ? QVariant() : Theme::instance().colours().secondary;
        case Qt::SizeHintRole:
            return QSize(120, static_cast<int>(std::lround((entry ? 26 : 32) * Theme::instance().scale())));
        default:
            return {};
    }
}

Qt::ItemFlags ResultListModel::flags(const QModelIndex& index) const {
    if (!index.isValid()) return {};
    const Qt::ItemFlags leaf = Qt::ItemNeverHasChildren;
    return entryAt(index) ? leaf | Qt::ItemIsEnabled | Qt::ItemIsSelectable : leaf;
}

}  // namespace faceter::desktop
