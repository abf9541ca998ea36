#include "pages/router/route_view.h"

#include <QComboBox>
#include <QFrame>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalBlocker>
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
    : QWidget(parent),
      m_query(new WorkerQuery(this)),
      m_text(new QLineEdit),
      m_task(new QComboBox),
      m_ask(new QPushButton(tr("Route"))),
      m_error(new ErrorBar),
      m_status(plainLabel()),
      m_answer(new QWidget),
      m_mapCard(new QFrame),
      m_map(new FigureView),
      m_values(new DataTable),
      m_valueModel(new TableModel(this)),
      m_pilots(new DataTable),
      m_pilotModel(new TableModel(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    layout->addWidget(makeBar());
    layout->addWidget(m_error);
    m_status->setObjectName(QStringLiteral("routerStatus"));
    m_status->setWordWrap(true);
    layout->addWidget(m_status);
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
    layout->addWidget(m_answer);
    layout->addStretch(1);
    connect(m_query, &WorkerQuery::answered, this, [this](const WorkerAnswer& answer) {
        try {
            take(*answer);
        } catch (const std::exception& error) {
            m_error->setMessage(QString::fromUtf8(error.what()));
        }
    });
    connect(m_query, &WorkerQuery::failed, m_error, &ErrorBar::setMessage);
    connect(m_query, &WorkerQuery::progressed, this, [this](const WorkerProgress& progress) { m_status->setText(progress.what); });
    hideAnswer();
}

QWidget* RouteView::makeBar() {
    auto* bar = new QWidget;
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    m_text->setObjectName(QStringLiteral("routerText"));
    m_text->setAccessibleName(tr("Query to route"));
    m_text->setPlaceholderText(tr("type a query to see which gate it goes through"));
    m_text->setClearButtonEnabled(true);
    m_task->setObjectName(QStringLiteral("routerTask"));
    m_task->setAccessibleName(tr("Task whose query instruction stands in front"));
    m_task->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_ask->setObjectName(QStringLiteral("routerAsk"));
    layout->addWidget(m_text, 1);
    layout->addWidget(m_task);
    layout->addWidget(m_ask);
    connect(m_text, &QLineEdit::returnPressed, this, &RouteView::ask);
    connect(m_ask, &QPushButton::clicked, this, &RouteView::ask);
    connect(m_task, &QComboBox::currentIndexChanged, this, &RouteView::askAgain);
    return bar;
}

QString RouteView::text() const { return m_text->text(); }
void RouteView::setText(const QString& text) { m_text->setText(text); }

void RouteView::setRun(const RouterRun* run) {
    const QString folder = run && run->request.isDone ? qs(run->folder) : QString(), task = m_task->currentText();
    {
        const QSignalBlocker quiet(m_task);
        m_task->clear();
        for (const std::string& one : run ? run->tasks : std::vector<std::string>{}) m_task->addItem(qs(one));
        m_task->setCurrentIndex(std::max(m_task->count() > 0 ? 0 : -1, m_task->findText(task)));
    }
    m_ask->setEnabled(!folder.isEmpty());
    if (folder == m_folder && !folder.isEmpty()) return;
    m_query->stop();
    m_folder = folder;
    hideAnswer();
    askAgain();
}

void RouteView::hideAnswer() {
    m_error->setMessage({});
    m_answer->hide();
    m_status->setText(m_folder.isEmpty() ? tr("The run has no model to ask yet: wait until it is done.")
                                         : tr("Type a query and press Enter: its gate, the next one and the nearest pilots come here."));
}

void RouteView::askAgain() {
    if (m_asked) ask();
}

void RouteView::ask() {
    if (m_folder.isEmpty() || m_text->text().trimmed().isEmpty()) return;
    m_asked = true;
    m_error->setMessage({});
    m_query->ask(
        QStringLiteral("route"),
        {{"model", m_folder.toStdString()}, {"task", m_task->currentText().toStdString()}, {"text", m_text->text().toStdString()}});
}

void RouteView::take(const Json& answer) { showRoute(RouteAnswer::from(answer)); }

void RouteView::showRoute(const RouteAnswer& route) {
    QString status = tr("Goes through gate %1").arg(qs(route.gate));
    if (!route.nextGate.empty()) status += tr("; the next would have been %1").arg(qs(route.nextGate));
    if (!route.instruction.empty()) status += tr(" (instruction \"%1\")").arg(qs(route.instruction));
    m_status->setText(status);
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
