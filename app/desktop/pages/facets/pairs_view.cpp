#include "pages/facets/pairs_view.h"

#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>
#include <QVBoxLayout>
#include <cmath>

#include "figure/format.h"
#include "pages/facets/density_card.h"
#include "pages/facets/names_in_words.h"
#include "project/runs_snapshot.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/scroll.h"
#include "widgets/table_model.h"

namespace faceter::desktop {
namespace {

constexpr int narrowest = 230, widestName = 420, mostColumns = 3;  // of the grid, px and cards
constexpr int least_name = 150;                                    // of a column of runs, px

const SimilarityTest* testOf(const SimilarityComparison& comparison, const SimilarityPair& pair) {
    for (const SimilarityTest& test : comparison.tests)
        if ((test.a == pair.a && test.b == pair.b) || (test.a == pair.b && test.b == pair.a)) return &test;
    return nullptr;
}

QString shortP(double p) {
    if (!std::isfinite(p)) return PairsView::tr("no test");
    const QString text = qs(format_p(p));
    return text.startsWith(QLatin1Char('<')) ? QStringLiteral("p ") + text : QStringLiteral("p = ") + text;
}

QString exactP(const SimilarityComparison& comparison, const SimilarityTest& test, SimilarityTestKind kind) {
    const SimilarityOutcome outcome = similarity_outcome(test, kind);
    return PairsView::tr("%1 against %2, %3: p = %4, Holm-adjusted %5")
        .arg(qs(comparison.first), qs(comparison.second), qs(similarity_test_name(kind)), QString::number(outcome.p, 'g', 3),
             QString::number(outcome.p_holm, 'g', 3));
}

}  // namespace

PairsView::PairsView(QWidget* parent)
    : QScrollArea(parent), m_grid(new QGridLayout), m_table(new DataTable), m_model(new TableModel(this)), m_notes(secondaryLabel()) {
    setUpScroll(*this);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* body = new QWidget;
    auto* layout = new QVBoxLayout(body);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(12);
    m_grid->setSpacing(8);
    layout->addLayout(m_grid);
    m_table->setModel(m_model);
    m_table->shortenNames();  // a sweep's points differ at the ends of theirs
    m_table->setObjectName(QStringLiteral("facetsTable"));
    m_table->setAccessibleName(tr("Means and tests by pair of tasks"));
    layout->addWidget(m_table);
    m_notes->setWordWrap(true);
    m_notes->setMinimumWidth(1);  // a name without a space makes the page no wider than it is
    m_notes->setObjectName(QStringLiteral("facetsNotes"));
    layout->addWidget(m_notes);
    layout->addStretch(1);
    setWidget(body);
}

void PairsView::setPicture(const FacetsPicture& picture) {
    while (m_cards.size() > picture.densities.size()) {
        delete m_cards.back();
        m_cards.pop_back();
    }
    while (m_cards.size() < picture.densities.size()) m_cards.push_back(new DensityCard);
    for (std::size_t i = 0; i < m_cards.size(); ++i) m_cards[i]->setFigure(picture.densities[i]);
    m_columns = 0;
    arrange();
}

void PairsView::setTest(const FacetsPicture& picture, SimilarityTestKind kind) {
    for (std::size_t i = 0; i < m_cards.size(); ++i) {
        QString corner;
        QStringList exact;
        for (const SimilarityComparison& comparison : picture.comparisons) {
            const SimilarityTest* test = testOf(comparison, picture.groups.front().set.pairs[i]);
            if (!test) continue;
            if (corner.isEmpty()) corner = shortP(similarity_outcome(*test, kind).p);
            exact << exactP(comparison, *test, kind);
        }
        m_cards[i]->setTest(corner, exact.join(QLatin1Char('\n')));
    }
    fillTable(picture, kind);
}

void PairsView::fillTable(const FacetsPicture& picture, SimilarityTestKind kind) {
    const bool compared = !picture.comparisons.empty();
    if (picture.groups.empty()) return;
    const Table table = compared ? similarity_summary(picture.comparisons, kind)
                                 : similarity_means(picture.groups.front().name, picture.groups.front().set);
    m_model->setTable(table);
    QStringList headings;
    for (const Column& column : table.columns)
        headings << namesInWords(qs(column_heading(column)), picture, m_table->horizontalHeader()->fontMetrics());
    m_model->setHeadings(headings);
    QVector<int> colours(static_cast<qsizetype>(table.columns.size()), -1);
    const qsizetype first = picture.comparisons.size() > 1 ? 2 : 1;  // of the columns of means
    colours[first] = picture.groups.front().colour;
    if (picture.comparisons.size() == 1)
        for (const SimilarityGroup& group : picture.groups)
            if (group.name == picture.comparisons.front().first) colours[first + 1] = group.colour;
    m_model->setHeadingColours(colours);
    spreadColumns();
    m_table->setHeightToRows();
    m_table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);  // the page scrolls
    QStringList notes;
    for (const std::string& note : table_notes(table)) notes << qs(note);
    for (const std::string& note : picture.notes) notes << qs(note);
    if (!picture.densities.empty())
        for (const std::string& note : picture.densities.front().notes) notes << qs(note);
    m_notes->setText(notes.join(QLatin1Char('\n')));
}

/// As wide as their content, and what is left of the width shared by all: the table ends where the cards do.
void PairsView::spreadColumns() {
    const int count = m_model->columnCount();
    m_table->fitColumns(240);
    int left = viewport()->width() - 4;
    for (int c = 0; c < count; ++c) left -= m_table->columnWidth(c);
    if (left < 0 && count > 1 && m_model->table().columns[1].kind == ColumnKind::text) {  // names of runs: their keys can go
        const int wide = m_table->columnWidth(1);
        m_table->setColumnWidth(1, std::min(wide, std::max(least_name, wide + left)));
    }
    if (left <= 0 || count == 0) return;
    for (int c = 0; c < count; ++c) m_table->setColumnWidth(c, m_table->columnWidth(c) + left / count);
}

void PairsView::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    arrange();
    spreadColumns();
}

void PairsView::arrange() {
    int wanted = narrowest;  // names of pairs are long where tasks have roles: fewer cards a row rather than cut names
    for (const DensityCard* card : m_cards) wanted = std::max(wanted, std::min(card->wantedWidth(), widestName));
    const int spacing = m_grid->spacing();
    const int columns = std::clamp((viewport()->width() + spacing) / (wanted + spacing), 1, mostColumns);
    if (columns == m_columns) return;
    m_columns = columns;
    for (DensityCard* card : m_cards) m_grid->removeWidget(card);
    for (std::size_t i = 0; i < m_cards.size(); ++i) {
        const int place = static_cast<int>(i);
        m_grid->addWidget(m_cards[i], place / columns, place % columns);
    }
    for (int c = 0; c < mostColumns; ++c) m_grid->setColumnStretch(c, c < columns ? 1 : 0);
}

}  // namespace faceter::desktop
