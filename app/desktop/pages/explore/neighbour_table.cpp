#include "pages/explore/neighbour_table.h"

#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QTextLayout>
#include <QVBoxLayout>

#include "project/runs_snapshot.h"
#include "theme/theme.h"
#include "widgets/colour_dot.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

constexpr int margin = 6, cell_height = 60, narrowest = 190, text_height = 76;

/// As many whole lines as there is room for, the last one with an ellipsis where the text goes on.
void drawLines(QPainter* painter, const QRect& area, const QString& text) {
    const QFontMetrics metrics(painter->font());
    QTextLayout layout(text, painter->font());
    layout.beginLayout();
    for (int y = area.top(); y + metrics.height() <= area.bottom() + 2; y += metrics.height()) {
        QTextLine line = layout.createLine();
        if (!line.isValid()) break;
        line.setLineWidth(area.width());
        const bool last = y + 2 * metrics.height() > area.bottom() + 2;
        const QString part = last ? metrics.elidedText(text.mid(line.textStart()), Qt::ElideRight, area.width())
                                  : text.mid(line.textStart(), line.textLength());
        painter->drawText(QPointF(area.left(), y + metrics.ascent()), part);
    }
    layout.endLayout();
}

}  // namespace

void NeighbourModel::setLists(ExploreDataPtr hold, ExploredCorpusPtr corpus, std::vector<NeighbourList> lists) {
    beginResetModel();
    m_hold = std::move(hold);
    m_corpus = std::move(corpus);
    m_lists = std::move(lists);
    endResetModel();
}

int NeighbourModel::rowCount(const QModelIndex& parent) const {
    std::size_t rows = 0;
    for (const NeighbourList& list : m_lists) rows = std::max(rows, list.hits.size());
    return parent.isValid() ? 0 : static_cast<int>(rows);
}

const Neighbour* NeighbourModel::hit(const QModelIndex& index) const {
    if (!index.isValid() || index.column() >= columnCount()) return nullptr;
    const std::vector<Neighbour>& hits = m_lists[static_cast<std::size_t>(index.column())].hits;
    return static_cast<std::size_t>(index.row()) < hits.size() ? &hits[static_cast<std::size_t>(index.row())] : nullptr;
}

QString NeighbourModel::textOf(int document) const {
    return m_corpus && document >= 0 && document < m_corpus->documents.size() ? m_corpus->documents[document] : QString();
}

/// Against the first column: nearer by three places is "▲3".
QString NeighbourModel::change(const Neighbour& hit, int column) const {
    const int by = hit.rankInFirst - hit.rank;
    if (column == 0 || by == 0) return {};
    return (by > 0 ? QStringLiteral("▲") : QStringLiteral("▼")) + QString::number(std::abs(by));
}

QVariant NeighbourModel::data(const QModelIndex& index, int role) const {
    const Neighbour* one = hit(index);
    if (!one) return {};
    const QString similarity = QString::number(one->similarity, 'f', 3), moved = change(*one, index.column());
    const QString relevant = one->isRelevant ? tr("relevant") : QString();
    switch (role) {
        case Qt::DisplayRole:  // what is copied and read aloud
            return QStringList{QString::number(one->rank), similarity, moved, relevant, textOf(one->document).simplified()}
                .filter(QRegularExpression(QStringLiteral(".")))
                .join(QStringLiteral("  "));
        case RankTextRole:
            return QStringLiteral("%1   %2").arg(one->rank).arg(similarity);
        case ChangeRole:
            return moved;
        case RelevantRole:
            return relevant;
        case HitRole:
            return one->document;
        case Qt::ToolTipRole:
            return textOf(one->document).toHtmlEscaped();
        default:
            return {};
    }
}

QVariant NeighbourModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section >= columnCount()) return {};
    const NeighbourList& list = m_lists[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole) return list.column.label();
    if (role == Qt::DecorationRole) return dotIcon(list.column.run->request.colour);
    if (role == Qt::TextAlignmentRole) return QVariant::fromValue(Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter));
    if (role != Qt::ToolTipRole) return {};
    QStringList ranks;
    for (const int rank : list.relevantRanks) ranks << QString::number(rank);
    QString text = list.instruction.isEmpty() ? tr("without an instruction") : tr("instruction: %1").arg(list.instruction);
    if (list.keptTokens < list.numTokens)
        text +=
            QLatin1Char('\n') + tr("reads the first %1 of the text's %2 tokens").arg(countText(list.keptTokens), countText(list.numTokens));
    if (!ranks.isEmpty()) text += QLatin1Char('\n') + tr("relevant documents at rank %1").arg(ranks.join(QStringLiteral(", ")));
    return text.toHtmlEscaped();
}

Table NeighbourModel::table() const {
    Table table;
    table.name = "neighbours";
    table.caption = tr("Nearest documents").toStdString();
    table.add_column("run", ColumnKind::text);
    table.add_column("task", ColumnKind::text);
    table.add_column("rank", ColumnKind::count);
    table.add_column("similarity", ColumnKind::number, 4);
    table.add_column("rank in the first column", ColumnKind::count);
    table.add_column("relevant", ColumnKind::text);
    table.add_column("document", ColumnKind::count);
    table.add_column("text", ColumnKind::text);
    for (const NeighbourList& list : m_lists)
        for (const Neighbour& hit : list.hits) {
            const auto document = static_cast<std::size_t>(hit.document), place = m_corpus ? m_corpus->placeOf(document) : document;
            table.add_row({Cell::of(list.column.run->request.label), Cell::of(list.column.task), Cell::of(static_cast<double>(hit.rank)),
                           Cell::of(hit.similarity), Cell::of(static_cast<double>(hit.rankInFirst)),
                           Cell::of(std::string(hit.isRelevant ? "yes" : "no")), Cell::of(static_cast<double>(place)),
                           Cell::of(textOf(hit.document).toStdString())});
        }
    return table;
}

QSize NeighbourDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const {
    return {narrowest, static_cast<int>(cell_height * Theme::instance().scale())};
}

void NeighbourDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const ThemeColours& colours = Theme::instance().colours();
    const QVariant document = index.data(NeighbourModel::HitRole);
    if (!document.isValid()) return;
    painter->save();
    const bool selected = option.state & QStyle::State_Selected;
    if (selected) painter->fillRect(option.rect, colours.selection);
    const QRect area = option.rect.adjusted(margin, 3, -margin, -3);
    const QFontMetrics metrics(Theme::tableFont());
    painter->setFont(Theme::tableFont());
    const QRect head(area.left(), area.top(), area.width(), metrics.height());
    painter->setPen(colours.secondary);
    painter->drawText(head, Qt::AlignLeft | Qt::AlignVCenter, index.data(NeighbourModel::RankTextRole).toString());
    const QString moved = index.data(NeighbourModel::ChangeRole).toString(), relevant = index.data(NeighbourModel::RelevantRole).toString();
    painter->setPen(moved.startsWith(QStringLiteral("▼")) ? colours.seriesText(1) : colours.seriesText(0));
    painter->drawText(head, Qt::AlignRight | Qt::AlignVCenter, moved);
    if (!relevant.isEmpty()) {
        painter->setPen(colours.seriesText(2));
        QFont bold = Theme::tableFont();
        bold.setWeight(QFont::DemiBold);
        painter->setFont(bold);
        painter->drawText(head.adjusted(0, 0, -metrics.horizontalAdvance(moved) - (moved.isEmpty() ? 0 : margin), 0),
                          Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("✓ ") + relevant);
        painter->setFont(Theme::tableFont());
    }
    painter->setPen(colours.text);
    const auto* model = qobject_cast<const NeighbourModel*>(index.model());
    drawLines(painter, area.adjusted(0, metrics.height() + 2, 0, 0), model->textOf(document.toInt()).simplified());
    painter->setPen(colours.line);
    painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
    if (m_document >= 0 && document.toInt() == m_document) {
        painter->setPen(QPen(colours.accent, 1.5));
        painter->drawRect(option.rect.adjusted(1, 1, -2, -2));
    }
    painter->restore();
}

NeighbourTable::NeighbourTable(const QString& name, QWidget* parent)
    : QWidget(parent),
      m_model(new NeighbourModel(this)),
      m_delegate(new NeighbourDelegate(this)),
      m_table(new DataTable),
      m_hint(secondaryLabel()),
      m_text(new QPlainTextEdit) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    m_table->setObjectName(name);
    m_table->setAccessibleName(tr("Nearest documents by run and task"));
    m_table->setModel(m_model);
    m_table->setItemDelegate(m_delegate);
    m_table->setSelectionBehavior(QAbstractItemView::SelectItems);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->verticalHeader()->setDefaultSectionSize(static_cast<int>(cell_height * Theme::instance().scale()));
    m_table->horizontalHeader()->setMinimumSectionSize(narrowest);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_text->setObjectName(name + QStringLiteral("Text"));
    m_text->setAccessibleName(tr("Text of the chosen document"));
    m_text->setReadOnly(true);
    m_text->setTabChangesFocus(true);
    m_text->setFixedHeight(text_height);
    m_hint->setObjectName(name + QStringLiteral("Hint"));
    m_hint->setAlignment(Qt::AlignCenter);
    m_hint->setWordWrap(true);
    m_hint->hide();
    layout->addWidget(m_table, 1);
    layout->addWidget(m_hint, 1);
    layout->addWidget(m_text);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, &NeighbourTable::showCurrent);
}

void NeighbourTable::setLists(ExploreDataPtr hold, ExploredCorpusPtr corpus, std::vector<NeighbourList> lists) {
    m_model->setLists(std::move(hold), std::move(corpus), std::move(lists));
    showHint();
    if (m_model->rowCount() > 0) m_table->setCurrentIndex(m_model->index(0, 0));
    showCurrent();
}

void NeighbourTable::setHint(const QString& text) {
    m_hint->setText(text);
    showHint();
}

void NeighbourTable::showHint() {
    const bool isEmpty = m_model->rowCount() == 0, hinted = isEmpty && !m_hint->text().isEmpty();
    m_text->setVisible(m_textShown && !isEmpty);
    m_hint->setVisible(hinted);
    m_table->setVisible(!hinted);
}

void NeighbourTable::showCurrent() {
    const Neighbour* hit = m_model->hit(m_table->currentIndex());
    m_delegate->setDocument(hit ? hit->document : -1);
    m_text->setPlainText(hit ? m_model->textOf(hit->document) : QString());
    m_table->viewport()->update();
    if (hit) Q_EMIT documentChosen(hit->document);
}

}  // namespace faceter::desktop
