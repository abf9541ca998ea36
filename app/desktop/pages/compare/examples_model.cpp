#include "pages/compare/examples_model.h"

#include <QFont>
#include <algorithm>

#include "project/runs_snapshot.h"
#include "theme/theme.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

constexpr int longestInCell = 240;

QString signedText(double difference) {
    return (difference > 0 ? QStringLiteral("+") : difference < 0 ? QStringLiteral("−") : QString()) + scoreText(std::abs(difference));
}

}  // namespace

void ExamplesModel::setChanges(ExampleChanges changes, std::map<std::string, std::string> sources) {
    beginResetModel();
    m_changes = std::move(changes);
    m_sources.swap(sources);
    std::erase_if(m_texts, [&](const auto& one) {
        const auto now = m_sources.find(one.first), before = sources.find(one.first);
        const bool isOfThese = now != m_sources.end() && before != sources.end() && now->second == before->second;
        return !isOfThese || !one.second.problem.empty();  // what could not be read may be there now
    });
    arrange();
    endResetModel();
}

void ExamplesModel::setTexts(const QString& set, ExampleTexts texts) {
    const bool rearranged = !m_filter.find.empty() || m_sortColumn == text || m_sortColumn == wanted;
    if (rearranged) beginResetModel();
    m_texts[set.toStdString()] = std::move(texts);
    if (!rearranged) return rowCount() > 0 ? Q_EMIT dataChanged(index(0, text), index(rowCount() - 1, wanted)) : void();
    arrange();
    endResetModel();
}

void ExamplesModel::setFilter(const ChangeFilter& filter) {
    beginResetModel();
    m_filter = filter;
    arrange();
    endResetModel();
}

const ExampleTexts* ExamplesModel::textsOf(const QString& set) const {
    const auto found = m_texts.find(set.toStdString());
    return found == m_texts.end() ? nullptr : &found->second;
}

int ExamplesModel::rowOf(const std::string& set, std::size_t example) const {
    for (int row = 0; row < rowCount(); ++row)
        if (change(row).set == set && change(row).example == example) return row;
    return -1;
}

const ScoredText* ExamplesModel::textOf(const ExampleChange& change) const {
    const auto found = m_texts.find(change.set);
    return found != m_texts.end() && change.example < found->second.texts.size() ? &found->second.texts[change.example] : nullptr;
}

void ExamplesModel::arrange() {
    m_rows.clear();
    for (std::size_t i = 0; i < m_changes.changes.size(); ++i)
        if (passes(m_changes.changes[i], textOf(m_changes.changes[i]), m_filter)) m_rows.push_back(i);
    // Largest differences come first already, whichever way they go.
    if (m_sortColumn == difference && m_order == Qt::DescendingOrder) return;
    std::stable_sort(m_rows.begin(), m_rows.end(), [this](std::size_t a, std::size_t b) {
        return m_order == Qt::AscendingOrder ? comesBefore(a, b) : comesBefore(b, a);
    });
}

bool ExamplesModel::comesBefore(std::size_t a, std::size_t b) const {
    const ExampleChange &first = m_changes.changes[a], &second = m_changes.changes[b];
    const auto of = [&](const ExampleChange& change) { return display(change, m_sortColumn); };
    switch (m_sortColumn) {
        case example:
            return first.example < second.example;
        case before:
            return first.before < second.before;
        case after:
            return first.after < second.after;
        case difference:
            return first.difference() < second.difference();
        default:
            return of(first).localeAwareCompare(of(second)) < 0;
    }
}

void ExamplesModel::sort(int column, Qt::SortOrder order) {
    beginResetModel();
    m_sortColumn = column;
    m_order = order;
    arrange();
    endResetModel();
}

Table ExamplesModel::table() const {
    ExampleChanges shown{m_changes.before, m_changes.after, {}, m_changes.notes};
    for (const std::size_t row : m_rows) shown.changes.push_back(m_changes.changes[row]);
    return example_changes_table(shown, m_texts, {});
}

int ExamplesModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_rows.size()); }

QString ExamplesModel::display(const ExampleChange& change, int column) const {
    const ScoredText* known = textOf(change);
    switch (column) {
        case set:
            return qs(change.set);
        case example:
            return countText(static_cast<std::int64_t>(change.example + 1));
        case before:
            return scoreText(change.before);
        case after:
            return scoreText(change.after);
        case difference:
            return signedText(change.difference());
        case text:
            return known ? qs(known->text).left(longestInCell).simplified() : QString();
        default:
            return known ? qs(known->wanted).left(longestInCell).simplified() : QString();
    }
}

QVariant ExamplesModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const bool number = index.column() >= example && index.column() <= difference;
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    if (role == Qt::DisplayRole) return display(change(index.row()), index.column());
    if (role == Qt::ForegroundRole && index.column() == difference) {
        const ThemeColours& colours = Theme::instance().colours();
        return change(index.row()).difference() < 0 ? colours.seriesText(1) : colours.seriesText(0);  // vermilion and blue
    }
    if (role == Qt::ForegroundRole && index.column() == wanted) return Theme::instance().colours().secondary;
    return {};
}

QVariant ExamplesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    const bool number = section >= example && section <= difference;
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    if (role != Qt::DisplayRole) return {};
    switch (section) {
        case set:
            return tr("data set");
        case example:
            return tr("example");
        case before:
            return qs(m_changes.before);
        case after:
            return qs(m_changes.after);
        case difference:
            return tr("difference");
        case text:
            return tr("text");
        default:
            return tr("wanted");
    }
}

}  // namespace faceter::desktop
