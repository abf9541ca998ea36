#include "pages/compare/compare_model.h"

#include <cmath>

#include "figure/format.h"
#include "project/runs_snapshot.h"
#include "store/series_value.h"
#include "theme/theme.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

QString number(double value, int decimals) {
    return std::isfinite(value) ? qs(fmt::format("{:.{}f}", value, decimals)) : QStringLiteral("—");
}
QString plainTip(const QStringList& lines) {
    return lines.join(QLatin1Char('\n')).toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>"));
}

/// Of a series: a learning rate and a loss are of no common size.
QString roughlySigned(double value) { return std::isfinite(value) ? qs(fmt::format("{:+.2g}", value)) : QString(); }

QString signedNumber(double value) { return std::isfinite(value) ? qs(format_delta(value, 2)) : QString(); }

QString seedsTip(const RunGroup& group) {
    const QString seeds = group.runs.size() == 1 ? CompareModel::tr("1 seed") : CompareModel::tr("%1 seeds").arg(group.runs.size());
    return (qs(group.name) + QStringLiteral(", ") + seeds).toHtmlEscaped();
}

/// What stands in the column of names: a data set and its metric, a series and which of its values.
std::pair<QString, QString> nameParts(const ComparedRow& row) {
    const auto series = row.kind == ComparedRow::Kind::column ? SeriesValue::parse(row.name) : std::nullopt;
    return series ? std::pair(qs(series->series), qs(series->words())) : std::pair(qs(row.name), qs(row.metric));
}

/// "pair_classification" as people write it.
QString typeName(const std::string& type) { return qs(type).replace(QLatin1Char('_'), QLatin1Char(' ')); }

}  // namespace

CompareModel::CompareModel(QObject* parent) : QAbstractTableModel(parent) {
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
        Q_EMIT headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
    });
}

void CompareModel::setView(std::shared_ptr<const Comparison> comparison, std::shared_ptr<const ComparisonView> view,
                           std::vector<int> colours) {
    beginResetModel();
    m_comparison = std::move(comparison);
    m_view = std::move(view);
    m_colours = std::move(colours);
    endResetModel();
}

void CompareModel::setPublished(std::vector<PublishedColumn> columns) {
    beginResetModel();
    m_published = std::move(columns);
    endResetModel();
}

int CompareModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !m_view ? 0 : static_cast<int>(m_view->rows.size());
}
int CompareModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() || !m_view ? 0 : firstGroup + static_cast<int>(m_comparison->groups.size() + m_published.size());
}

const ComparedRow* CompareModel::row(int row) const {
    return row >= 0 && row < rowCount() ? &m_view->rows[static_cast<std::size_t>(row)] : nullptr;
}

int CompareModel::groupOf(int column) const {
    const int group = column - firstGroup;
    return group >= 0 && group < static_cast<int>(m_comparison->groups.size()) ? group : -1;
}

int CompareModel::publishedOf(int column) const {
    const int place = column - firstGroup - static_cast<int>(m_comparison->groups.size());
    return place >= 0 && place < static_cast<int>(m_published.size()) ? place : -1;
}

QString CompareModel::namesText(const ComparedRow& row, int column, bool repeated) const {
    using Kind = ComparedRow::Kind;
    if (column == 1 && row.kind == Kind::column) {
        const auto [name, rest] = nameParts(row);
        return name + QLatin1Char(' ') + rest;
    }
    if (column == 1) return row.metric.empty() ? qs(row.name) : qs(row.name) + QLatin1Char(' ') + qs(row.metric);
    if (repeated) return {};
    switch (row.kind) {
        case Kind::data_set:
            return typeName(row.task_type);
        case Kind::type_mean:
            return tr("mean, %1").arg(typeName(row.task_type));
        case Kind::cost:
            return tr("cost");
        case Kind::column:
            return tr("series");
        default:
            return tr("mean");
    }
}

QString CompareModel::toolTip(const ComparedRow& row, const ComparedValue& value) const {
    if (row.kind == ComparedRow::Kind::cost || !std::isfinite(value.value)) return {};
    const bool series = row.kind == ComparedRow::Kind::column;
    QStringList lines{series ? qs(fmt::format("{:.6g}", value.value)) : qs(fmt::format("{:.4f}", value.value))};
    if (std::isfinite(value.spread))
        lines[0] += qs(series ? fmt::format(" ± {:.2g} (n = {} seeds)", value.spread, value.seeds)
                              : fmt::format(" ± {:.4f} (n = {} seeds)", value.spread, value.seeds));
    if (m_view->baseline && std::isfinite(value.delta) && &value != &row.values[*m_view->baseline]) {
        const std::string base = m_comparison->groups[*m_view->baseline].name;
        lines << qs(series ? fmt::format("{:+.4g} against {}", value.delta, base)
                           : fmt::format("{} against {}", format_delta(value.delta, 4), base));
        if (series) return plainTip(lines);
        const TestOutcome& outcome = value.outcome;
        if (outcome.has_p())
            lines << qs(fmt::format("{}: p = {:.3g}, Holm-adjusted {:.3g}, n = {}", compare_test_info(m_view->choice.test).title, outcome.p,
                                    outcome.p_adjusted, outcome.n));
        else
            lines << tr("No test: %1").arg(qs(outcome.reason));
    }
    return plainTip(lines);
}

QVariant CompareModel::groupData(const ComparedRow& row, const ComparedValue& value, int role) const {
    const bool is_base = m_view->baseline && &value == &row.values[*m_view->baseline];
    const bool cost = row.kind == ComparedRow::Kind::cost;
    const bool series = row.kind == ComparedRow::Kind::column;
    const QString delta = is_base || cost ? QString() : series ? roughlySigned(value.delta) : signedNumber(value.delta);
    const QString shown = series && std::isfinite(value.value) ? seriesText(value.value) : number(value.value, row.decimals);
    const QString stars(value.outcome.stars(), QLatin1Char('*'));
    switch (role) {
        case Qt::DisplayRole:
            return shown + (delta.isEmpty() ? QString() : QLatin1Char(' ') + delta + stars);
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
        case Qt::ToolTipRole:
            return toolTip(row, value);
        case valueRole:
            return shown;
        case deltaRole:
            return delta;
        case starsRole:
            return stars;
        case significantRole:
            return value.outcome.is_significant() ? (value.delta < 0 ? -1 : 1) : 0;
        case bestRole:
            return value.best;
        default:
            return {};
    }
}

QVariant CompareModel::publishedData(const ComparedRow& row, const PublishedColumn& column, int role) const {
    const PublishedRow* line = published_row(column.table, row);
    const double value = line ? line->values.at(column.model) : not_a_number;
    const std::string slip = line ? column.table.slip_of(column.model, *line) : "";
    const bool unpublished = row.kind == ComparedRow::Kind::cost || row.kind == ComparedRow::Kind::column;
    const QString text = unpublished                          ? QString()
                         : !std::isfinite(value)              ? QStringLiteral("—")
                         : column.table.is_gain(column.model) ? signedNumber(value)
                                                              : number(value, 2);
    switch (role) {
        case Qt::DisplayRole:
            return slip.empty() ? text : text + QStringLiteral(" †");
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
        case Qt::ForegroundRole:
            return Theme::instance().colours().secondary;
        case Qt::ToolTipRole: {
            if (!line) return {};
            QString tip = qs(fmt::format("{}: {}, {} ({})", column.table.source(), line->label, column.heading(), line->metric));
            if (line->sets > 1) tip += tr(", mean over %1 data sets").arg(line->sets);
            if (!slip.empty()) tip += QStringLiteral("\n† ") + qs(slip);
            return tip.toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>"));
        }
        default:
            return {};
    }
}

QVariant CompareModel::data(const QModelIndex& index, int role) const {
    const ComparedRow* shown = row(index.row());
    if (!index.isValid() || !shown) return {};
    if (role == meanRole) return shown->kind == ComparedRow::Kind::mean_over_sets;
    if (const int group = groupOf(index.column()); group >= 0)
        return groupData(*shown, shown->values[static_cast<std::size_t>(group)], role);
    if (const int place = publishedOf(index.column()); place >= 0)
        return publishedData(*shown, m_published[static_cast<std::size_t>(place)], role);
    const ComparedRow* above = row(index.row() - 1);
    const bool repeated = above && above->kind == shown->kind && above->task_type == shown->task_type;
    if (role == Qt::DisplayRole) return namesText(*shown, index.column(), repeated);
    if (role == valueRole && index.column() == 1) return nameParts(*shown).first;
    if (role == secondaryRole && index.column() == 1) return nameParts(*shown).second;
    if (role == Qt::ForegroundRole && index.column() == 0 && shown->kind != ComparedRow::Kind::mean_over_sets)
        return Theme::instance().colours().secondary;
    if (role == Qt::ToolTipRole) return namesText(*shown, index.column(), false).toHtmlEscaped();
    return {};
}

QVariant CompareModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || !m_view || section < 0 || section >= columnCount()) return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignVCenter | (section < firstGroup ? Qt::AlignLeft : Qt::AlignRight));
    if (section < firstGroup) return role == Qt::DisplayRole ? QVariant(section == 0 ? tr("task") : tr("data set")) : QVariant();
    if (const int group = groupOf(section); group >= 0) {
        const auto place = static_cast<std::size_t>(group);
        if (role == Qt::DisplayRole) return qs(m_comparison->groups[place].name);
        if (role == Qt::ForegroundRole) return Theme::instance().colours().seriesText(m_colours[place]);
        if (role == Qt::ToolTipRole) return seedsTip(m_comparison->groups[place]);
        if (role == countRole) return QStringLiteral("n = %1").arg(m_comparison->groups[place].runs.size());
        return {};
    }
    const PublishedColumn& column = m_published[static_cast<std::size_t>(publishedOf(section))];
    if (role == Qt::DisplayRole) return qs(column.heading() + ", " + column.table.short_name);
    if (role == Qt::ForegroundRole) return Theme::instance().colours().secondary;
    if (role == Qt::ToolTipRole)
        return qs(column.table.source() + ": " + column.table.caption +
                  (column.table.is_gain(column.model) ? "; gains over its " + column.table.gains_over : ""))
            .toHtmlEscaped();
    return {};
}

}  // namespace faceter::desktop
