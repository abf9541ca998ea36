#include "pages/facets/matrix_view.h"

#include <QFrame>
#include <QGridLayout>
#include <QVBoxLayout>

#include "figure/figure_view.h"
#include "widgets/scroll.h"

namespace faceter::desktop {
namespace {
constexpr int narrowest = 360, mapHeight = 320;
}

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
    for (const SimilarityGroup& group : picture.groups) {
        auto* card = new QFrame;
        card->setProperty("card", true);
        auto* layout = new QVBoxLayout(card);
        layout->setContentsMargins(2, 2, 2, 2);
        auto* view = new FigureView(similarity_matrix(group));
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
