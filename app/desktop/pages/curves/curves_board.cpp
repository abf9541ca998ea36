#include <QAction>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QStackedWidget>
#include <QToolButton>
#include <algorithm>

#include "figure/cursor_link.h"
#include "figure/figure_view.h"
#include "pages/curves/curve_panel.h"
#include "pages/curves/curves_page.h"
#include "pages/curves/panel_board.h"
#include "pages/curves/saved_views.h"
#include "widgets/as_written.h"

// Which panels stand on the board, and the views that are kept of it.

namespace faceter::desktop {
namespace {

constexpr int longest_name = 60;

QString menuText(const QString& name) { return asWritten(name.left(longest_name)); }

}  // namespace

void CurvesPage::fillSeriesMenu() {
    QMenu* menu = m_series->menu();
    menu->clear();
    for (const QString& name : m_names) {
        const auto [label, unit] = seriesLabel(name.toStdString());
        QAction* action = menu->addAction(menuText(qs(label)) + (unit.empty() ? QString() : QStringLiteral(" (%1)").arg(qs(unit))));
        action->setCheckable(true);
        action->setChecked(panelOf(name) != nullptr);
        action->setData(name);
        connect(action, &QAction::toggled, this, [this, name](bool on) {
            CurvePanel* panel = panelOf(name);
            if (on && !panel) addPanel({name});
            if (!on && panel) close(panel);
        });
    }
    menu->setEnabled(!m_names.isEmpty());
}

/// The one that shows this series alone.
CurvePanel* CurvesPage::panelOf(const QString& name) const {
    const auto found = std::find_if(m_panels.begin(), m_panels.end(),
                                    [&](const CurvePanel* panel) { return panel->spec().patterns == QStringList{name}; });
    return found == m_panels.end() ? nullptr : *found;
}

CurvePanel* CurvesPage::makePanel(const PanelSpec& spec) {
    auto* panel = new CurvePanel(workspace(), spec, m_board);
    m_link->add(panel->view());
    connect(panel, &CurvePanel::closed, this, [this, panel] { close(panel); });
    connect(panel, &CurvePanel::specChanged, this, [this, panel] {
        m_choiceMade = true;
        panel->setNames(m_names);
        fillSeriesMenu();
        m_board->layOut();
    });
    return panel;
}

void CurvesPage::setPanels(const QList<PanelSpec>& specs) {
    QList<CurvePanel*> before = m_panels;
    m_panels.clear();
    for (const PanelSpec& spec : specs) {
        const auto same =
            std::find_if(before.begin(), before.end(), [&](const CurvePanel* panel) { return panel->spec().patterns == spec.patterns; });
        CurvePanel* panel = same == before.end() ? makePanel(spec) : *same;
        if (same != before.end()) before.erase(same);
        panel->setSpec(spec);
        m_panels << panel;
    }
    for (CurvePanel* panel : std::as_const(before)) drop(panel);
    showMatches();
}

void CurvesPage::drop(CurvePanel* panel) {
    m_link->remove(panel->view());
    panel->hide();
    panel->deleteLater();
}

void CurvesPage::close(CurvePanel* panel) {
    m_panels.removeAll(panel);
    drop(panel);
    takeChoice();
}

void CurvesPage::move(CurvePanel* panel, CurvePanel* place) {
    m_panels.move(m_panels.indexOf(panel), m_panels.indexOf(place));
    takeChoice();
}

void CurvesPage::addPanel(const QStringList& patterns) {
    if (patterns.isEmpty()) return;
    QString problem = patternProblem(patterns);
    if (problem.isEmpty() && matching(patterns, m_names).isEmpty())
        problem = tr("No series of the shown runs matches %1").arg(patterns.join(QStringLiteral(", ")));
    m_patternProblem->setText(problem);
    m_patternProblem->setVisible(!problem.isEmpty());
    if (!problem.isEmpty()) return;
    m_pattern->clear();
    m_panels << makePanel({patterns});
    takeChoice();
}

void CurvesPage::takeChoice() {
    m_choiceMade = true;
    showMatches();
}

/// After another list of series, or of panels.
void CurvesPage::showMatches() {
    for (CurvePanel* panel : std::as_const(m_panels)) panel->setNames(m_names);
    fillSeriesMenu();
    showBoard();
    sendRequests();
}

void CurvesPage::showBoard() {
    m_board->setPanels(m_panels);
    if (!m_namesKnown) return m_stack->setCurrentIndex(loading_index);
    const bool any = std::any_of(m_panels.begin(), m_panels.end(), [](const CurvePanel* panel) { return panel->hasSeries(); });
    m_stack->setCurrentIndex(any ? board_index : m_names.isEmpty() ? empty_index : bare_index);
    if (hasFocus()) takeFocus();
}

void CurvesPage::fillViewsMenu(QMenu* menu) {
    menu->clear();
    const QStringList names = m_views->names();
    for (const QString& name : names) menu->addAction(menuText(name), this, [this, name] { restore(m_views->view(name)); });
    if (!names.isEmpty()) menu->addSeparator();
    QAction* keep = menu->addAction(tr("Keep this view…"), this, &CurvesPage::askToKeepView);
    keep->setEnabled(workspace().session() != nullptr);
    if (names.isEmpty()) return;
    QMenu* remove = menu->addMenu(tr("Remove"));
    for (const QString& name : names) remove->addAction(menuText(name), this, [this, name] { m_views->remove(name); });
}

void CurvesPage::askToKeepView() {
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(QStringLiteral("keepView"));
    dialog->setWindowTitle(tr("Keep this view"));
    dialog->setLabelText(tr("Name of the view; one of the same name is replaced"));
    connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& name) {
        m_choiceMade = true;
        if (!name.trimmed().isEmpty()) m_views->keep(name.trimmed(), state());
    });
    dialog->open();
}

}  // namespace faceter::desktop
