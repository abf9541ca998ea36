#include "pages/facets/matrix_view.h"

#include <QFrame>
#include <QGridLayout>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "figure/figure_view.h"
#include "widgets/scroll.h"

namespace faceter::desktop {
namespace {

constexpr int narrowest = 360, mapHeight = 320;

/// One colour is one similarity in all of them: they stand there to be compared.
std::vector<Figure> matricesOf(const std::vector<SimilarityGroup>& groups) {
    std::vector<Figure> figures;
    double least = 1, most = 1;  // a task's similarity with itself
    for (const SimilarityGroup& group : groups) {
        figures.push_back(similarity_matrix(group));
        for (const double value : figures.back().heat_map.values)
            if (std::isfinite(value)) least = std::min(least, value), most = std::max(most, value);
    }
    for (Figure& figure : figures)
        if (least < most) figure.y.min = least, figure.y.max = most;
    return figures;
}

}  // namespace

MatrixView::MatrixView(QWidget* parent) : QScrollArea(parent), m_grid(nullptr) {
    setUpScroll(*this);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* body = new QWidget;
    m_grid = new QGridLayout(body);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(8);
    setWidget(body);
}

void MatrixView::setPicture(const FacetsPicture& picture) {
    for (QWidget* card : m_cards) delete card;
    m_cards.clear();
    m_views.clear();
    for (const Figure& figure : matricesOf(picture.groups)) {
        auto* card = new QFrame;
        card->setProperty("card", true);
        auto* layout = new QVBoxLayout(card);
        layout->setContentsMargins(2, 2, 2, 2);
        auto* view = new FigureView(figure);
        view->setObjectName(QStringLiteral("facetsMatrix"));
        view->setMinimumHeight(mapHeight);
        layout->addWidget(view);
        m_views.push_back(view);
        m_cards.push_back(card);
    }
    m_columns = 0;
    arrange();
}

void MatrixView::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    arrange();
}

void MatrixView::arrange() {
    const int columns = std::clamp(viewport()->width() / narrowest, 1, std::max(1, static_cast<int>(m_cards.size())));
    if (columns == m_columns) return;
    m_columns = columns;
    int place = 0;
    for (QWidget* card : m_cards) m_grid->removeWidget(card);
    for (QWidget* card : m_cards) {
        m_grid->addWidget(card, place / columns, place % columns);
        ++place;
    }
    for (int r = 0; r < m_grid->rowCount(); ++r) m_grid->setRowStretch(r, 0);
    m_grid->setRowStretch((place + columns - 1) / columns, 1);
}

}  // namespace faceter::desktop
