#include "pages/router/gates_view.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QPushButton>
#include <QVBoxLayout>

#include "project/runs_snapshot.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/table_model.h"

namespace faceter::desktop {
namespace {

constexpr int widest_column = 300, most_rows = 20;

Table gateTable(const Json& gates, const QStringList& columns) {
    Table table;
    table.name = "router_gate_list";
    for (const QString& column : columns) table.add_column(column.toStdString(), ColumnKind::text);
    table.columns[3].kind = ColumnKind::count;
    for (const Json& gate : gates) {
        const auto examples = gate.value("examples", 0.0);
        table.add_row({Cell::of(gate.at("name").get<std::string>()), Cell::of(gate.value("domain", std::string())),
                       Cell::of(gate.value("kind", std::string())), examples > 0 ? Cell::of(examples) : Cell(),
                       Cell::of(gate.value("source", std::string()))});
    }
    return table;
}

}  // namespace

GatesView::GatesView(QWidget* parent)
    : QWidget(parent),
      m_gates(new WorkerQuery(this)),
      m_change(new WorkerQuery(this)),
      m_error(new ErrorBar),
      m_status(secondaryLabel()),
      m_table(new DataTable),
      m_model(new TableModel(this)),
      m_add(new QPushButton(tr("Add a gate…"))),
      m_remove(new QPushButton(tr("Remove"))) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    auto* bar = new QHBoxLayout;
    m_status->setObjectName(QStringLiteral("routerGatesStatus"));
    m_status->setWordWrap(true);
    bar->addWidget(m_status, 1);
    bar->addWidget(m_add);
    bar->addWidget(m_remove);
    layout->addLayout(bar);
    layout->addWidget(m_error);
    layout->addWidget(m_table);
    layout->addStretch(1);
    m_table->setModel(m_model);
    m_table->setObjectName(QStringLiteral("routerGateList"));
    m_table->setAccessibleName(tr("Gates of the router"));
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_add->setObjectName(QStringLiteral("routerAddGate"));
    m_remove->setObjectName(QStringLiteral("routerRemoveGate"));
    connectQueries();
    showButtons();
}

void GatesView::connectQueries() {
    const auto guarded = [this](auto take) {
        return [this, take](const WorkerAnswer& answer) {
            try {
                take(*answer);
            } catch (const std::exception& error) {
                m_error->setMessage(QString::fromUtf8(error.what()));
            }
        };
    };
    m_gates->setTitle(tr("Gates of a run"));
    m_change->setTitle(tr("Change of a run's gates"));
    connect(m_gates, &WorkerQuery::answered, this, guarded([this](const Json& answer) { takeGates(answer); }));
    connect(m_change, &WorkerQuery::answered, this, guarded([this](const Json& answer) {
                read();
                m_status->setText(qs(answer.at("done").get<std::string>()));
                Q_EMIT changed();
            }));
    for (WorkerQuery* query : {m_gates, m_change}) {
        connect(query, &WorkerQuery::failed, this, [this](const QString& message) {
            m_error->setMessage(message);
            m_isRead = false;  // asked again where the view is shown again
        });
        connect(query, &WorkerQuery::cancelled, this, [this] {  // in Activity
            m_status->setText(tr("cancelled"));
            m_isRead = false;
        });
        connect(query, &WorkerQuery::busyChanged, this, &GatesView::showButtons);
    }
    connect(m_change, &WorkerQuery::progressed, this, [this](const WorkerProgress& progress) { m_status->setText(progress.what); });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &GatesView::showButtons);
    connect(m_add, &QPushButton::clicked, this, &GatesView::askToAdd);
    connect(m_remove, &QPushButton::clicked, this, &GatesView::askToRemove);
}

void GatesView::setRun(const RouterRun* run) {
    const QString folder = run && run->request.isDone ? qs(run->folder) : QString();
    if (folder == m_folder && !folder.isEmpty()) return;
    m_gates->stop();
    m_change->stop();
    m_folder = folder;
    m_isRead = false;
    m_error->setMessage({});
    m_model->setTable({});
    m_status->setText(!m_folder.isEmpty()              ? QString()
                      : run && run->request.isImported ? tr("The run has no model: it was taken in as results alone.")
                                                       : tr("The run has no model: it is not done."));
    if (isVisible()) read();
    showButtons();
}

/// A model is opened only where somebody looks at its gates.
void GatesView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (!m_isRead) read();
}

void GatesView::read() {
    if (m_folder.isEmpty()) return;
    m_isRead = true;
    m_error->setMessage({});
    m_status->clear();
    m_gates->ask(QStringLiteral("route"), {{"model", m_folder.toStdString()}, {"text", ""}});
}

void GatesView::takeGates(const Json& answer) {
    m_model->setTable(gateTable(answer.at("gates"), {tr("gate"), tr("domain"), tr("kind"), tr("training examples"), tr("taken up from")}));
    m_table->fitColumns(widest_column);
    m_table->setHeightToRows(most_rows);
    if (m_status->text().isEmpty()) m_status->setText(tr("A gate is added or removed without training; removed ones are kept."));
    showButtons();
}

QString GatesView::chosenGate() const {
    const QModelIndex current = m_table->currentIndex();
    return current.isValid() ? current.siblingAtColumn(0).data().toString() : QString();
}

void GatesView::showButtons() {
    m_add->setEnabled(!m_folder.isEmpty() && !m_change->isBusy());
    m_remove->setEnabled(!chosenGate().isEmpty() && !m_change->isBusy());
}

/// What was asked of one run is not done to another, which may have come into its place while a person chose.
void GatesView::changeOf(const QString& model, const Json& change) {
    if (model != m_folder) return m_error->setMessage(tr("Nothing was changed: another run is shown now than when this was asked."));
    m_error->setMessage({});
    m_change->ask(QStringLiteral("change_router"), {{"model", m_folder.toStdString()}, {"change", change}});
}

void GatesView::askToAdd() {
    const QString model = m_folder, folder = QFileDialog::getExistingDirectory(this, tr("Folder of the gate (PEFT)"));
    if (!folder.isEmpty()) changeOf(model, {{"action", "add"}, {"gate", folder.toStdString()}});
}

void GatesView::askToRemove() {
    const QString gate = chosenGate();
    auto* box = new QMessageBox(QMessageBox::Question, tr("Remove a gate"),
                                tr("Remove gate %1 from this run's router? Its files are kept under removed/.").arg(gate),
                                QMessageBox::Yes | QMessageBox::Cancel, this);
    box->setTextFormat(Qt::PlainText);
    box->setAttribute(Qt::WA_DeleteOnClose);
    connect(box, &QMessageBox::finished, this, [this, model = m_folder, gate](int answer) {
        if (answer == QMessageBox::Yes) changeOf(model, {{"action", "remove"}, {"gate", gate.toStdString()}});
    });
    box->open();
}

}  // namespace faceter::desktop
