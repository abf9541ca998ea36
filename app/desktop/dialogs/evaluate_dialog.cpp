#include "dialogs/evaluate_dialog.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QSpinBox>
#include <QVBoxLayout>

#include "common/error.h"
#include "common/untrusted_json.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/save_file.h"
#include "widgets/table_model.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

constexpr int most_examples = 100'000'000, list_height = 96;

std::string textOf(const Json& json, const char* name) {
    return json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : std::string();
}

double numberOf(const Json& json, const char* name) {
    return json.contains(name) && json[name].is_number() ? json[name].get<double>() : not_a_number;
}

}  // namespace

EvaluateDialog::EvaluateDialog(const Workspace& workspace, const RunRow& run, const QStringList& folders, QWidget* parent)
    : CommandDialog(QStringLiteral("evaluateDialog"), tr("Evaluate on data"),
                    tr("Scores the run's model by MTEB's protocols on BEIR and MTEB folders: those that the experiment did not name, or "
                       "that came later. The scores are shown in a table; the run's record stays as it is."),
                    tr("Evaluate"), parent),
      m_project(QString::fromStdString(workspace.session()->folder().string())),
      m_run(qs(run.info.id)),
      m_name(qs(run.info.shown_name())),
      m_folders(new QListWidget),
      m_most(new QSpinBox) {
    m_most->setObjectName(QStringLiteral("evaluateMost"));
    m_most->setRange(0, most_examples);
    m_most->setSpecialValueText(tr("all"));
    m_most->setAccessibleName(tr("Most test texts, pairs, sentences or queries of a set"));
    m_most->setToolTip(tr("Of retrieval sets so many queries count; their documents are all searched."));
    form()->addRow(tr("Run"), plainLabel(m_name));
    form()->addRow(tr("Data folders"), makeFolders());
    form()->addRow(tr("Examples of a set"), m_most);
    for (const QString& folder : folders) addFolder(folder);
    review();
}

QWidget* EvaluateDialog::makeFolders() {
    auto* part = new QWidget;
    auto* layout = new QVBoxLayout(part);
    layout->setContentsMargins(0, 0, 0, 0);
    m_folders->setObjectName(QStringLiteral("evaluateFolders"));
    m_folders->setAccessibleName(tr("Folders with evaluation data"));
    m_folders->setFixedHeight(list_height);
    layout->addWidget(m_folders);
    auto* add = new QPushButton(tr("Add a folder…"));
    add->setObjectName(QStringLiteral("evaluateAdd"));
    add->setAutoDefault(false);
    layout->addWidget(add, 0, Qt::AlignLeft);
    connect(add, &QPushButton::clicked, this, &EvaluateDialog::browse);
    auto* remove = new QShortcut(QKeySequence::Delete, m_folders, nullptr, nullptr, Qt::WidgetShortcut);
    connect(remove, &QShortcut::activated, this, [this] {
        delete m_folders->currentItem();
        review();
    });
    return part;
}

void EvaluateDialog::browse() {
    auto* dialog = new QFileDialog(this, tr("Folder with evaluation data"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    connect(dialog, &QFileDialog::fileSelected, this, &EvaluateDialog::addFolder);
    dialog->open();
}

void EvaluateDialog::addFolder(const QString& folder) {
    const QString path = QDir::cleanPath(folder);
    if (m_folders->findItems(path, Qt::MatchExactly).isEmpty()) m_folders->addItem(path);
    review();
}

QString EvaluateDialog::missing() const { return m_folders->count() == 0 ? tr("Name a folder with evaluation data.") : QString(); }

JobRequest EvaluateDialog::request() const {
    QStringList words{QStringLiteral("evaluate"), QStringLiteral("--model"), m_run, QStringLiteral("--project"), m_project};
    for (int row = 0; row < m_folders->count(); ++row) words << QStringLiteral("--data") << m_folders->item(row)->text();
    for (const char* limit : {"--max-examples", "--max-queries"})  // each of other sets
        if (m_most->value() > 0) words << QString::fromLatin1(limit) << QString::number(m_most->value());
    words << QStringLiteral("--json");
    return {tr("Evaluation of %1").arg(m_name), words, {}};
}

Table scoresOf(const QByteArray& output, const QString& caption) {
    const Json json = parse_untrusted_json({output.constData(), static_cast<std::size_t>(output.size())});
    if (!json.is_object() || !json.contains("datasets") || !json["datasets"].is_array())
        throw failure("faceter evaluate printed no scores: JSON with 'datasets' was expected");
    Table table;
    table.name = "scores";
    table.caption = caption.toStdString();
    table.add_column("data set", ColumnKind::text);
    table.add_column("task type", ColumnKind::text);
    table.add_column("measure", ColumnKind::text);
    table.add_column("score", ColumnKind::number, 2);
    table.add_column("n", ColumnKind::count);
    for (const Json& set : json["datasets"])
        if (set.is_object())
            table.add_row({Cell::of(textOf(set, "name")), Cell::of(textOf(set, "task_type")), Cell::of(textOf(set, "metric")),
                           Cell::of(numberOf(set, "score")), Cell::of(numberOf(set, "n"))});
    return table;
}

QWidget* makeScoresWindow(const Table& table, QWidget* parent) {
    auto* window = new QDialog(parent);
    window->setObjectName(QStringLiteral("scoresWindow"));
    window->setWindowTitle(EvaluateDialog::tr("Scores"));
    window->setAttribute(Qt::WA_DeleteOnClose);
    window->resize(640, 360);
    auto* layout = new QVBoxLayout(window);
    layout->setContentsMargins(24, 24, 24, 16);
    layout->addWidget(headingLabel(QString::fromStdString(table.caption)));
    auto* model = new TableModel(window);
    model->setTable(table);
    auto* view = new DataTable;
    view->setObjectName(QStringLiteral("scoresTable"));
    view->setAccessibleName(window->windowTitle());
    view->setModel(model);
    view->fitColumns();
    layout->addWidget(view, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    auto* menu = new QMenu(window);
    addTableExports(menu, window, QStringLiteral("scores"),
                    [model](TableFormat format) { return QByteArray::fromStdString(export_table(model->table(), format)); });
    buttons->addButton(EvaluateDialog::tr("Export"), QDialogButtonBox::ActionRole)->setMenu(menu);
    layout->addWidget(buttons);
    QObject::connect(buttons, &QDialogButtonBox::rejected, window, &QWidget::close);
    return window;
}

}  // namespace faceter::desktop
