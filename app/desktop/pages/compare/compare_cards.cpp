#include "pages/compare/compare_cards.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QResizeEvent>
#include <algorithm>

#include "compare/compare_tests.h"
#include "figure/elided_name.h"
#include "figure/figure_view.h"
#include "project/runs_snapshot.h"
#include "widgets/labels.h"
#include "widgets/name_box.h"

namespace faceter::desktop {
namespace {

constexpr int cardHeight = 268, mostFigure = 2 * cardHeight, twoColumns = 640;
constexpr std::size_t mostBeside = 6;  // groups whose gains are told apart in half the width
constexpr int roundWins = 6;           // lines: title, rule and margins of the card of wins, which is as high as a sweep has groups

QWidget* card(QLayout* content) {
    auto* frame = new QFrame;
    frame->setProperty("card", true);
    frame->setLayout(content);
    content->setContentsMargins(12, 8, 12, 8);
    content->setSpacing(4);
    frame->setFixedHeight(cardHeight);
    return frame;
}

FigureView* figureView(const QString& name) {
    auto* view = new FigureView;
    view->setObjectName(name);
    view->setNotesShown(false);
    return view;
}

}  // namespace

CompareCards::CompareCards(QWidget* parent)
    : QWidget(parent),
      m_layout(new QGridLayout(this)),
      m_gain(figureView(QStringLiteral("compareGain"))),
      m_scatter(figureView(QStringLiteral("compareScatter"))),
      m_seeds(figureView(QStringLiteral("compareSeeds"))),
      m_examples(figureView(QStringLiteral("compareExamples"))),
      m_setHint(secondaryLabel(tr("Choose a data set in the table to see its seeds and the differences of its single examples."))),
      m_setFigures(new QWidget),
      m_wins(new QWidget),
      m_winsGrid(new QGridLayout),
      m_winsTitle(headingLabel(QString())),
      m_tiesRule(secondaryLabel()),
      m_a(new NameBox),
      m_b(new NameBox) {
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(8);
    auto* gain = new QVBoxLayout;
    gain->addWidget(m_gain, 1);
    auto* wins = new QVBoxLayout;
    m_winsTitle->setWordWrap(true);  // a long name makes this column no wider than the other
    m_winsTitle->setMinimumWidth(1);
    wins->addWidget(m_winsTitle);
    m_winsGrid->setHorizontalSpacing(16);
    m_winsGrid->setVerticalSpacing(6);
    auto* counts = new QWidget;
    counts->setLayout(m_winsGrid);
    counts->setObjectName(QStringLiteral("compareWins"));
    wins->addWidget(counts);
    wins->addStretch(1);
    m_tiesRule->setWordWrap(true);
    wins->addWidget(m_tiesRule);
    m_cards = {card(gain), card(wins), makePairCard(), makeSetCard()};
    arrange();
    for (QComboBox* box : {m_a, m_b}) connect(box, &QComboBox::activated, this, [this] { drawScatter(), Q_EMIT pairChanged(); });
}

QWidget* CompareCards::makePairCard() {
    auto* layout = new QVBoxLayout;
    auto* bar = new QHBoxLayout;
    bar->addWidget(secondaryLabel(tr("x")));
    bar->addWidget(m_a, 1);
    bar->addSpacing(8);
    bar->addWidget(secondaryLabel(tr("y")));
    bar->addWidget(m_b, 1);
    m_a->setObjectName(QStringLiteral("comparePairA"));
    m_b->setObjectName(QStringLiteral("comparePairB"));
    m_a->setAccessibleName(tr("Group along x"));
    m_b->setAccessibleName(tr("Group along y"));
    for (QComboBox* box : {m_a, m_b}) box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    layout->addLayout(bar);
    layout->addWidget(m_scatter, 1);
    m_scatter->setTitleShown(false);
    return card(layout);
}

QWidget* CompareCards::makeSetCard() {
    auto* layout = new QVBoxLayout;
    m_setHint->setWordWrap(true);
    m_setHint->setAlignment(Qt::AlignCenter);
    layout->addWidget(m_setHint, 1);
    auto* figures = new QHBoxLayout(m_setFigures);
    figures->setContentsMargins(0, 0, 0, 0);
    figures->addWidget(m_seeds, 1);
    figures->addWidget(m_examples, 1);
    m_setFigures->hide();
    layout->addWidget(m_setFigures, 1);
    return card(layout);
}

/// The gains of a sweep's many points take the width of both columns.
void CompareCards::arrange() {
    const int columns = width() >= twoColumns ? 2 : 1;
    const bool isGainWide = columns == 2 && m_view && m_view->gains.size() > mostBeside;
    if (columns == m_columns && isGainWide == m_isGainWide) return;
    m_columns = columns;
    m_isGainWide = isGainWide;
    for (QWidget* card : m_cards) m_layout->removeWidget(card);
    for (int i = 0, place = 0; i < m_cards.size(); ++i) {
        const int span = isGainWide && i == 0 ? 2 : 1;
        m_layout->addWidget(m_cards[i], place / columns, place % columns, 1, span, Qt::AlignTop);
        place += span;
    }
    for (int column = 0; column < 2; ++column) m_layout->setColumnStretch(column, column < columns ? 1 : 0);
}

void CompareCards::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

void CompareCards::show(std::shared_ptr<const Comparison> comparison, std::shared_ptr<const ComparisonView> view,
                        const std::vector<int>& colours) {
    m_comparison = std::move(comparison);
    m_view = std::move(view);
    m_colours = colours;
    arrange();
    m_gain->setEmptyReason(common_sets(*m_comparison).size() < 2 ? tr("no two data sets in common") : QString());
    m_gain->setFigure(gainFigure(*m_comparison, *m_view, m_colours));
    fillWins();
    fillPairs();
    drawScatter();
}

void CompareCards::setPublished(const std::vector<PublishedColumn>& columns) {
    QVector<ReferenceMark> marks;
    for (const PublishedColumn& column : columns) {
        const PublishedRow* row = column.table.mean_row();
        if (!row || !column.table.is_gain(column.model) || std::isnan(row->values.at(column.model))) continue;
        marks.append({Qt::Horizontal, row->values[column.model], qs(fmt::format("{}, {}", column.heading(), column.table.heading()))});
    }
    m_gain->setReferenceMarks(marks);
}

void CompareCards::fillWins() {
    while (QLayoutItem* item = m_winsGrid->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    if (!m_view->baseline) return;
    const QString baseline = qs(m_comparison->groups[*m_view->baseline].name);
    m_winsTitle->setText(tr("Wins – ties – losses against %1").arg(nameInWords(baseline, QFontMetrics(m_winsTitle->font()))));
    m_winsTitle->setToolTip(baseline.toHtmlEscaped());
    int line = 0;
    for (std::size_t i = 0; i < m_view->gains.size(); ++i) {
        if (i == *m_view->baseline) continue;
        const GroupGain& gain = m_view->gains[i];
        auto* name = new ElidedLabel(qs(m_comparison->groups[i].name), Qt::ElideMiddle);
        setSeriesColour(name, m_colours[i]);
        m_winsGrid->addWidget(name, line, 0);
        m_winsGrid->addWidget(plainLabel(QStringLiteral("%1 – %2 – %3").arg(gain.wins).arg(gain.ties).arg(gain.losses)), line, 1);
        m_winsGrid->addWidget(secondaryLabel(std::isfinite(gain.outcome.difference) ? qs(gainText(gain.outcome)) : QString()), line++, 2);
    }
    m_winsGrid->setColumnStretch(2, 1);
    m_tiesRule->setText(qs(m_view->ties_rule));
    const int textLine = fontMetrics().height() + 1;
    const int wanted = std::max(cardHeight, line * (textLine + m_winsGrid->verticalSpacing()) + roundWins * textLine);
    m_cards[1]->setFixedHeight(wanted);
    m_cards.front()->setFixedHeight(std::min(wanted, mostFigure));
}

QString CompareCards::chosenA() const { return m_a->currentText(); }
QString CompareCards::chosenB() const { return m_b->currentText(); }

void CompareCards::choosePair(const QString& a, const QString& b) {
    m_a->setProperty("wanted", a);
    m_b->setProperty("wanted", b);
}

/// Keeps the chosen names where they are still there; at first the baseline and the group with the largest gain.
void CompareCards::fillPairs() {
    QString a = m_a->property("wanted").toString(), b = m_b->property("wanted").toString();
    if (m_a->count() > 0) a = m_a->currentText(), b = m_b->currentText();
    for (QComboBox* box : {m_a, m_b}) {
        box->clear();
        for (const RunGroup& group : m_comparison->groups) box->addItem(qs(group.name));
    }
    int best = m_comparison->groups.size() > 1 ? 1 : 0;
    for (std::size_t i = 0; i < m_view->gains.size(); ++i) {
        const double gain = m_view->gains[i].outcome.difference, so_far = m_view->gains[static_cast<std::size_t>(best)].outcome.difference;
        if (std::isfinite(gain) && (!std::isfinite(so_far) || gain > so_far)) best = static_cast<int>(i);
    }
    const int atA = m_a->findText(a), atB = m_b->findText(b);
    const auto another = [](int group) { return group == 0 ? 1 : 0; };  // no group is drawn against itself because the other has gone
    int x = atA >= 0 ? atA : static_cast<int>(m_view->baseline.value_or(0)), y = atB >= 0 ? atB : best;
    if (x == y && m_comparison->groups.size() > 1 && (atA < 0 || atB < 0)) (atB < 0 ? y : x) = another(x);
    m_a->setCurrentIndex(x);
    m_b->setCurrentIndex(y);
}

void CompareCards::drawScatter() {
    if (m_a->currentIndex() < 0 || m_b->currentIndex() < 0) return;
    m_scatter->setFigure(scatterFigure(*m_comparison, *m_view, static_cast<std::size_t>(m_a->currentIndex()),
                                       static_cast<std::size_t>(m_b->currentIndex())));
}

void CompareCards::showSet(const QString& set, const ExampleScores* examples) {
    const bool any = m_comparison && std::any_of(m_comparison->sets.begin(), m_comparison->sets.end(),
                                                 [&](const ComparedSet& one) { return qs(one.name) == set; });
    m_setHint->setVisible(!any);
    m_setFigures->setVisible(any);
    if (!any) return;
    m_seeds->setFigure(seedsFigure(*m_comparison, set.toStdString(), m_colours));
    const Figure boxes = examples ? examplesFigure(*m_comparison, *examples, set.toStdString(), m_colours) : Figure{};
    m_examples->setVisible(!boxes.series.empty());
    if (!boxes.series.empty()) m_examples->setFigure(boxes);
}

}  // namespace faceter::desktop
