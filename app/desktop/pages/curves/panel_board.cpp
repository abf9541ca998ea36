#include "pages/curves/panel_board.h"

#include <QGridLayout>
#include <QResizeEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "pages/curves/curve_panel.h"

namespace faceter::desktop {
namespace {

constexpr int height_step = 20;  // px: what was dragged by hand stands in line
constexpr int two_panels = 520;  // px: two side by side have room for their curves

}  // namespace

PanelBoard::PanelBoard(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(this)) {
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(8);
    for (int column = 0; column < board_columns; ++column) m_grid->setColumnStretch(column, 1);
}

void PanelBoard::setPanels(const QList<CurvePanel*>& panels) {
    for (CurvePanel* panel : panels)
        if (!m_panels.contains(panel)) take(panel);
    m_panels = panels;
    layOut();
}

void PanelBoard::take(CurvePanel* panel) {
    connect(panel, &CurvePanel::dropped, this, [this, panel](const QPoint& global) { drop(panel, global); });
    connect(panel, &CurvePanel::moveAsked, this, [this, panel](int by) { moveBy(panel, by); });
    connect(panel, &CurvePanel::resizeAsked, this, [this, panel](const QSize& wanted) { resize(panel, wanted); });
}

QList<CurvePanel*> PanelBoard::shown() const {
    QList<CurvePanel*> shown;
    std::copy_if(m_panels.begin(), m_panels.end(), std::back_inserter(shown), [](const CurvePanel* panel) { return panel->hasSeries(); });
    return shown;
}

int PanelBoard::columnsOf(const CurvePanel* panel, qsizetype numShown) const {
    if (m_isNarrow) return board_columns;
    if (panel->spec().width > 0) return panel->spec().width;
    return numShown == 1 ? board_columns : board_columns / 2;
}

void PanelBoard::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const bool isNarrow = width() < two_panels;
    if (std::exchange(m_isNarrow, isNarrow) != isNarrow) layOut();
}

void PanelBoard::layOut() {
    while (QLayoutItem* item = m_grid->takeAt(0)) delete item;
    for (int row = 0; row < m_grid->rowCount(); ++row) m_grid->setRowStretch(row, 0);
    const QList<CurvePanel*> all = shown();
    int row = 0, column = 0;
    for (CurvePanel* panel : all) {
        const int width = columnsOf(panel, all.size());
        if (column + width > board_columns) ++row, column = 0;
        const bool isFixed = panel->spec().height > 0;
        panel->setMinimumHeight(isFixed ? panel->spec().height : lowest_panel + 60);
        panel->setMaximumHeight(isFixed ? panel->spec().height : QWIDGETSIZE_MAX);
        m_grid->addWidget(panel, row, column, 1, width, isFixed ? Qt::AlignTop : Qt::Alignment());
        if (!isFixed) m_grid->setRowStretch(row, 1);
        column += width;
        panel->show();
    }
    for (CurvePanel* panel : std::as_const(m_panels))
        if (!panel->hasSeries()) panel->hide();
    m_grid->setRowStretch(row + 1, all.isEmpty() ? 1 : 0);
}

void PanelBoard::drop(CurvePanel* panel, const QPoint& global) {
    for (CurvePanel* other : shown())
        if (other != panel && other->rect().contains(other->mapFromGlobal(global))) return Q_EMIT moveAsked(panel, other);
}

void PanelBoard::moveBy(CurvePanel* panel, int by) {
    const QList<CurvePanel*> all = shown();
    const qsizetype place = all.indexOf(panel) + by;
    if (place >= 0 && place < all.size()) Q_EMIT moveAsked(panel, all[place]);
}

/// A place of the board has whole columns; heights go in steps.
void PanelBoard::resize(CurvePanel* panel, const QSize& wanted) {
    PanelSpec spec = panel->spec();
    if (wanted.width() != panel->width()) {
        const double column = static_cast<double>(width() + m_grid->spacing()) / board_columns;
        spec.width = std::clamp(static_cast<int>(std::lround((wanted.width() + m_grid->spacing()) / column)), 1, board_columns);
    }
    if (wanted.height() != panel->height())
        spec.height = std::clamp((wanted.height() + height_step / 2) / height_step * height_step, lowest_panel, highest_panel);
    if (spec == panel->spec()) return;
    panel->setSpec(spec);
    layOut();
}

}  // namespace faceter::desktop
