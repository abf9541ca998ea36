#include "pages/router/route_view.h"

#include <QFrame>
#include <QGridLayout>
#include <QMenu>
#include <QVBoxLayout>
#include <tuple>

#include "figure/figure_view.h"
#include "figure/table_export.h"
#include "project/runs_snapshot.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/save_file.h"
#include "widgets/table_model.h"

namespace faceter::desktop {
namespace {

constexpr int map_height = 320, widest_column = 240, most_rows = 12;

}  // namespace

RouteView::RouteView(QWidget* parent)
    : TextQuestion({QStringLiteral("routerText"), QStringLiteral("route"), tr("Query to route"),
                    tr("Task whose query instruction stands in front"), tr("type a query to see which gate it goes through"), tr("Route"),
                    tr("Type a query and press Enter: its gate, the next one and the nearest pilots come here.")},
                   parent),
      m_answer(new QWidget),
      m_mapCard(new QFrame),
      m_map(new FigureView),
      m_values(new DataTable),
      m_valueModel(new TableModel(this)),
      m_pilots(new DataTable),
      m_pilotModel(new TableModel(this)) {
    add(makeAnswer());
    hideAnswer();
}

QWidget* RouteView::makeAnswer() {
    auto* grid = new QGridLayout(m_answer);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(8);
    m_mapCard->setProperty("card", true);
    auto* card = new QVBoxLayout(m_mapCard);
    card->setContentsMargins(2, 2, 2, 2);
    m_map->setObjectName(QStringLiteral("routerPilots"));
    m_map->setMinimumHeight(map_height);
    card->addWidget(m_map);
    grid->addWidget(m_mapCard, 0, 0, 2, 1);
    for (const auto& [view, model, row] : {std::tuple(m_values, m_valueModel, 0), std::tuple(m_pilots, m_pilotModel, 1)}) {
        view->setModel(model);
        grid->addWidget(view, row, 1);
    }
    m_values->setObjectName(QStringLiteral("routerValues"));
    m_values->setAccessibleName(tr("Gates for this text, the highest first"));
    m_pilots->setObjectName(QStringLiteral("routerNearest"));
    m_pilots->setAccessibleName(tr("Pilots, the nearest first"));
    for (int column = 0; column < 2; ++column) grid->setColumnStretch(column, 1);
    grid->setRowStretch(1, 1);
    return m_answer;
}

void RouteView::setRun(const RouterRun* run) {
    setModel(run && run->request.isDone ? qs(run->folder) : QString(), run ? run->tasks : std::vector<std::string>{});
}

void RouteView::hideAnswer() { m_answer->hide(); }

void RouteView::take(const Json& answer) { showRoute(RouteAnswer::from(answer)); }

void RouteView::showRoute(const RouteAnswer& route) {
    QString status = tr("Goes through gate %1").arg(qs(route.gate));
    if (!route.nextGate.empty()) status += tr("; the next would have been %1").arg(qs(route.nextGate));
    if (!route.instruction.empty()) status += tr(" (instruction \"%1\")").arg(qs(route.instruction));
    if (route.keptTokens < route.numTokens)
        status += tr(". The model reads the first %1 of %2 tokens").arg(route.keptTokens).arg(route.numTokens);
    setStatus(status);
    m_answer->setVisible(!route.values.empty());
    m_mapCard->setVisible(!route.pilots.empty());
    m_pilots->setVisible(!route.pilots.empty());
    if (!route.pilots.empty()) m_map->setFigure(route.map());
    m_valueModel->setTable(route.valueTable());
    m_pilotModel->setTable(route.pilotTable());
    for (DataTable* table : {m_values, m_pilots}) {
        table->fitColumns(widest_column);
        table->setHeightToRows(most_rows);
    }
}

void RouteView::addExports(QMenu* menu, QWidget* parent) const {
    if (!m_answer->isVisible()) return;
    if (m_mapCard->isVisible()) addFigureExports(menu->addMenu(qs(m_map->figure().title)), parent, m_map, qs(m_map->figure().name));
    for (const TableModel* model : {m_valueModel, m_pilotModel}) {
        const Table table = model->table();
        addTableExports(menu->addMenu(qs(table.caption)), parent, qs(table.name),
                        [table](TableFormat format) { return QByteArray::fromStdString(export_table(table, format)); });
    }
}

}  // namespace faceter::desktop
