#include "pages/curriculum/batch_examples.h"

#include <QLabel>
#include <QVBoxLayout>

#include "project/runs_snapshot.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/table_model.h"
#include "worker/worker_query.h"

namespace faceter::desktop {
namespace {

constexpr int widest_column = 420, most_rows = 64;

QString namesOf(const std::set<std::string>& tasks) {
    QStringList names;
    for (const std::string& task : tasks) names << qs(task);
    return names.join(QStringLiteral(", "));
}

}  // namespace

BatchExamples::BatchExamples(QWidget* parent)
    : QWidget(parent),
      m_query(new WorkerQuery(this)),
      m_status(secondaryLabel()),
      m_error(new ErrorBar),
      m_table(new DataTable),
      m_model(new TableModel(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    m_status->setObjectName(QStringLiteral("batchExamplesStatus"));
    m_status->setWordWrap(true);
    m_error->setObjectName(QStringLiteral("batchExamplesError"));
    m_table->setModel(m_model);
    m_table->setObjectName(QStringLiteral("batchExamples"));
    m_table->setAccessibleName(tr("Examples of the batch that was chosen"));
    for (QWidget* widget : std::initializer_list<QWidget*>{m_status, m_error, m_table}) layout->addWidget(widget);
    m_query->setTitle(tr("Examples of a batch"));
    connect(m_query, &WorkerQuery::answered, this, [this](const WorkerAnswer& answer) {
        try {
            take(*answer);
        } catch (const std::exception& error) {
            m_error->setMessage(QString::fromUtf8(error.what()));
        }
    });
    connect(m_query, &WorkerQuery::failed, this, [this](const QString& message) {
        m_status->setText(ofStep());
        m_error->setMessage(message);
    });
    connect(m_query, &WorkerQuery::cancelled, this, [this] { m_status->setText(tr("%1: cancelled").arg(ofStep())); });  // in Activity
    connect(m_query, &WorkerQuery::progressed, this,
            [this](const WorkerProgress& progress) { m_status->setText(tr("%1: %2").arg(ofStep(), progress.what)); });
    clear();
}

bool BatchExamples::isBusy() const { return m_query->isBusy(); }
const Table& BatchExamples::table() const { return m_model->table(); }
QString BatchExamples::ofStep() const { return tr("%1, step %2").arg(m_label, QString::number(m_step)); }

void BatchExamples::clear() {
    m_query->stop();
    m_error->setMessage({});
    m_status->setText(tr("Click a batch, or press Enter, to see its examples; the live worker draws them again."));
    showTable({});
}

void BatchExamples::say(const QString& status, const QString& problem) {
    clear();
    m_status->setText(status);
    m_error->setMessage(problem);
}

void BatchExamples::ask(const QString& folder, const QString& label, qint64 step, const std::set<std::string>& tasks) {
    clear();
    m_label = label;
    m_step = step;
    m_tasks = tasks;
    m_status->setText(ofStep());
    m_query->ask(QStringLiteral("batch_examples"), {{"run", folder.toStdString()}, {"step", step}});
}

void BatchExamples::take(const Json& answer) {
    Table table;
    table.name = "batch_examples";
    table.caption = ofStep().toStdString();
    for (const QString& column : {tr("data set"), tr("query"), tr("document"), tr("use")})
        table.add_column(column.toStdString(), ColumnKind::text);
    const std::string pair = tr("pair").toStdString(), negative = tr("a negative of the others").toStdString();
    std::set<std::string> tasks;
    for (const Json& batch : answer.at("batches")) {
        if (const auto task = batch.at("task").get<std::string>(); !task.empty()) tasks.insert(task);
        for (const Json& one : batch.at("examples"))
            table.add_row({Cell::of(one.at("set").get<std::string>()), Cell::of(one.at("anchor").get<std::string>()),
                           Cell::of(one.at("positive").get<std::string>()), Cell::of(one.at("kept").get<bool>() ? pair : negative)});
    }
    const QString count = QString::number(table.rows.size());
    QString said =
        tasks.empty() ? tr("%1: %2 examples").arg(ofStep(), count) : tr("%1: %2 examples of %3").arg(ofStep(), count, namesOf(tasks));
    if (!tasks.empty() && !m_tasks.empty() && tasks != m_tasks)
        said += tr(". The run trained %1 at this step: its data, or the program, have changed since.").arg(namesOf(m_tasks));
    m_status->setText(said);
    showTable(std::move(table));
}

void BatchExamples::showTable(Table table) {
    const bool any = !table.rows.empty();
    m_model->setTable(std::move(table));
    m_table->setVisible(any);
    if (!any) return;
    m_table->fitColumns(widest_column);
    m_table->setHeightToRows(most_rows);
}

}  // namespace faceter::desktop
