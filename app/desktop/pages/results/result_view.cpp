#include "pages/results/result_view.h"

#include <QCoreApplication>
#include <QFrame>
#include <QGridLayout>
#include <QMenu>
#include <QResizeEvent>
#include <QScrollArea>
#include <QVBoxLayout>

#include "figure/figure_view.h"
#include "figure/format.h"
#include "project/runs_snapshot.h"
#include "widgets/as_written.h"
#include "widgets/colour_dot.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/save_file.h"
#include "widgets/scroll.h"
#include "widgets/table_model.h"

namespace faceter::desktop {
namespace {

constexpr int figureHeight = 300, narrowest = 380, narrowestPlain = 260;  // px of a card, with and without a legend
constexpr std::size_t mostCards = 24;

QString menuText(const QString& text) { return asWritten(text.left(60)); }

bool hasLegend(const Figure& figure) { return figure.series.size() > 3; }

bool isEmptyFigure(const ResultDocument& document) { return std::holds_alternative<Figure>(document.content) && !document.hasValues(); }

/// A file of all formats as `faceter` prints them.
QByteArray bytesOf(const Table& table, TableFormat format) { return QByteArray::fromStdString(export_table(table, format)); }

}  // namespace

ResultView::ResultView(QWidget* parent)
    : QWidget(parent),
      m_title(headingLabel(QString())),
      m_subtitle(secondaryLabel()),
      m_scroll(new QScrollArea),
      m_body(new QWidget),
      m_grid(new QGridLayout(m_body)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    m_title->setWordWrap(true);
    m_title->setObjectName(QStringLiteral("resultTitle"));
    m_subtitle->setWordWrap(true);
    layout->addWidget(m_title);
    layout->addWidget(m_subtitle);
    m_scroll->setWidget(m_body);
    setUpScroll(*m_scroll);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    layout->addWidget(m_scroll, 1);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(8);
    m_turn.setSingleShot(true);
    connect(&m_turn, &QTimer::timeout, this, &ResultView::fillNext);
}

void ResultView::clear() {
    m_turn.stop();
    for (const Card& card : m_cards) delete card.frame;
    m_cards.clear();
    m_filled = 0;
    m_title->clear();
    m_subtitle->clear();
    m_columns = 0;
}

void ResultView::show(const ResultEntry& entry, bool overlaid) {
    clear();
    m_entryName = qs(entry.name);
    m_title->setText(qs(entry.title));
    const std::vector<Figure> laid = overlaid ? overlays(entry) : std::vector<Figure>();
    m_body->hide();  // until the cards have their places
    for (const Figure& figure : laid) addOverlay(figure);
    if (laid.empty())
        for (const bool empty : {false, true})  // what has something to show, or to say, comes first
            for (const ResultDocument& document : entry.documents)
                if (isEmptyFigure(document) == empty && m_cards.size() < mostCards) addDocument(document);
    QStringList facts;
    const auto left = static_cast<int>(entry.documents.size()) - static_cast<int>(mostCards);
    if (laid.empty() && left > 0) facts << tr("Runs that have no room here: %1. Tick fewer in the navigator to see them.").arg(left);
    m_subtitle->setText(facts.join(QLatin1Char(' ')));
    m_subtitle->setVisible(!facts.isEmpty());
    layOut();
    m_scroll->ensureVisible(0, 0);
    m_turn.start(0);
}

/// At once: by its own request the layout would come after the first picture.
void ResultView::layOut() {
    arrange();
    for (const Card& card : m_cards) card.frame->show();
    QEvent request(QEvent::LayoutRequest);
    QCoreApplication::sendEvent(m_scroll, &request);
    m_body->show();
}

void ResultView::fillNext() {
    if (isReady()) return;
    Card& card = m_cards[m_filled++];
    card.fill(card);
    card.fill = nullptr;
    card.frame->setMinimumHeight(0);
    if (!isReady()) m_turn.start(0);
}

QWidget* ResultView::makeFrame(const QString& heading, int colour) {
    auto* frame = new QFrame;
    frame->setProperty("card", true);
    frame->setObjectName(QStringLiteral("resultCard"));
    auto* layout = new QVBoxLayout(frame);
    layout->setContentsMargins(12, 8, 12, 8);
    layout->setSpacing(4);
    auto* head = new QHBoxLayout;
    head->setSpacing(6);
    if (colour >= 0) head->addWidget(new ColourDot(colour));
    auto* label = new ElidedLabel(heading, Qt::ElideMiddle);
    label->setProperty("role", QStringLiteral("heading"));
    head->addWidget(label, 1);
    layout->addLayout(head);
    frame->setMinimumHeight(frame->sizeHint().height() + layout->spacing() + figureHeight);  // until it is filled
    return frame;
}

void ResultView::addOverlay(const Figure& figure) {
    Card card{qs(figure.title), makeFrame(qs(figure.title), -1)};
    card.legend = hasLegend(figure);
    card.fill = [figure](Card& one) { fillFigure(one, figure); };
    m_cards.push_back(std::move(card));
}

void ResultView::fillFigure(Card& card, const Figure& figure) {
    card.figure = new FigureView(figure);
    card.figure->setTitleShown(false);
    card.figure->setMinimumHeight(figureHeight);
    card.figure->setObjectName(QStringLiteral("resultFigure"));
    card.frame->layout()->addWidget(card.figure);
}

QLabel* ResultView::addText(QLayout* layout, const QString& text, QLabel* label) {
    label->setText(text);
    label->setWordWrap(true);
    layout->addWidget(label);
    return label;
}

/// The entry outlives its cards.
void ResultView::addDocument(const ResultDocument& document) {
    Card card{qs(document.run.label), makeFrame(qs(document.run.label), document.run.colour)};
    const auto* figure = std::get_if<Figure>(&document.content);
    card.legend = figure && document.hasValues() && hasLegend(*figure);
    card.wide = std::holds_alternative<Table>(document.content);
    card.fill = [&document](Card& one) { fillDocument(one, document); };
    m_cards.push_back(std::move(card));
}

void ResultView::fillDocument(Card& card, const ResultDocument& document) {
    auto* layout = static_cast<QVBoxLayout*>(card.frame->layout());
    if (const auto* figure = std::get_if<Figure>(&document.content); figure && document.hasValues()) {
        fillFigure(card, *figure);
        card.figure->setAccessibleName(tr("%1: %2").arg(card.name, card.figure->accessibleName()));  // all runs' have one title
    } else if (figure) {  // why there is nothing to draw, instead of an empty plot
        addText(layout, tr("This figure has no values."), secondaryLabel())->setObjectName(QStringLiteral("resultEmpty"));
        for (const std::string& note : figure->notes) addText(layout, qs(note), secondaryLabel());
        layout->addStretch(1);
    } else if (const auto* table = std::get_if<Table>(&document.content)) {
        card.table = std::make_shared<const Table>(*table);
        addTable(layout, *table, card.name);
    } else {
        QLabel* error = addText(layout, qs(document.error), plainLabel());
        error->setProperty("role", QStringLiteral("error"));
        error->setObjectName(QStringLiteral("resultError"));
        error->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        layout->addStretch(1);
    }
}

void ResultView::addTable(QLayout* layout, const Table& table, const QString& run) {
    auto* view = new DataTable;
    view->shortenNames();
    auto* model = new TableModel(view);
    model->setTable(table);
    view->setModel(model);
    view->setObjectName(QStringLiteral("resultTable"));
    view->setAccessibleName(tr("%1: %2").arg(run, qs(table.caption.empty() ? table.name : table.caption)));
    view->fitColumns();
    view->setHeightToRows(20);
    if (!table.caption.empty()) addText(layout, qs(table.caption), secondaryLabel());
    layout->addWidget(view);
    for (const std::string& note : table_notes(table)) addText(layout, qs(note), secondaryLabel());
}

void ResultView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

/// As many columns as the width has room for; tables take a row each.
void ResultView::arrange() {
    const bool anyWide = std::any_of(m_cards.begin(), m_cards.end(), [](const Card& card) { return card.wide; });
    const bool anyLegend = std::any_of(m_cards.begin(), m_cards.end(), [](const Card& card) { return card.legend; });
    const int most = anyWide ? 1 : std::max(1, static_cast<int>(m_cards.size()));
    const int columns = std::clamp(m_scroll->viewport()->width() / (anyLegend ? narrowest : narrowestPlain), 1, std::min(most, 3));
    if (columns == m_columns) return;
    m_columns = columns;
    for (const Card& card : m_cards) m_grid->removeWidget(card.frame);
    int place = 0;
    for (const Card& card : m_cards) {
        m_grid->addWidget(card.frame, place / columns, place % columns);
        ++place;
    }
    for (int c = 0; c < 3; ++c) m_grid->setColumnStretch(c, c < columns ? 1 : 0);
    const int rows = (place + columns - 1) / columns;
    for (int r = 0; r < m_grid->rowCount(); ++r) m_grid->setRowStretch(r, 0);
    m_grid->setRowStretch(rows, 1);
}

void ResultView::fill(QMenu* menu, QWidget* parent, const Card& card, const QString& entryName) {
    const QString name = entryName + QLatin1Char('-') + card.name;
    if (card.figure) addFigureExports(menu, parent, card.figure, name);
    if (card.table) addTableExports(menu, parent, name, [table = card.table](TableFormat format) { return bytesOf(*table, format); });
    if (!card.figure && !card.table) menu->addAction(tr("Nothing to export"))->setEnabled(false);
}

void ResultView::fillExportMenu(QMenu* menu) {
    menu->clear();
    while (!isReady()) fillNext();
    if (m_cards.size() == 1) return fill(menu, this, m_cards.front(), m_entryName);
    for (const Card& card : m_cards) fill(menu->addMenu(menuText(card.name)), this, card, m_entryName);
    if (m_cards.empty()) menu->addAction(tr("Nothing to export"))->setEnabled(false);
}

}  // namespace faceter::desktop
