#include "dialogs/new_from_data.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFileInfo>
#include <QFormLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QSplitter>
#include <QTemporaryDir>
#include <QTimer>
#include <QVBoxLayout>

#include "common/error.h"
#include "dialogs/path_edit.h"
#include "experiment/experiment.h"
#include "experiment/manifest.h"
#include "figure/table.h"
#include "project/project_session.h"
#include "theme/theme.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/table_model.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

constexpr int typing_pause_ms = 300, most_seeds = 100;

Table columnsOf(const Survey& survey) {
    Table table;
    table.name = "columns";
    table.add_column("column", ColumnKind::text);
    table.add_column("values", ColumnKind::count);
    table.add_column("different", ColumnKind::count);
    table.add_column("words", ColumnKind::number, 1);
    table.add_column("first value", ColumnKind::text);
    for (std::size_t i = 0; i < survey.columns.size(); ++i) {
        const SurveyedColumn& column = survey.columns[i];
        std::string first;
        for (std::size_t row = 0; row < survey.rows.size() && first.empty(); ++row) first = survey.rows[row][i];
        table.add_row({Cell::of(column.name), Cell::of(static_cast<double>(column.filled)), Cell::of(static_cast<double>(column.distinct)),
                       Cell::of(column.mean_words), Cell::of(first)});
    }
    return table;
}

QString summaryOf(const Survey& survey) {
    QStringList parts{NewFromDataDialog::tr("%1 rows").arg(countText(static_cast<std::int64_t>(survey.rows.size())))};
    if (survey.repeated_rows > 0)
        parts << NewFromDataDialog::tr("%1 repeat another").arg(countText(static_cast<std::int64_t>(survey.repeated_rows)));
    constexpr double least_share = 0.02;
    for (const auto& [language, share] : survey.languages)
        if (share >= least_share) parts << QStringLiteral("%1 %2 %").arg(qs(language)).arg(100 * share, 0, 'f', 0);
    return parts.join(QStringLiteral(" · "));
}

/// "tickets.csv.gz" -> "tickets.yaml" beside it.
QString outputFor(const QString& source) {
    return QFileInfo(source).dir().filePath(qs(starter_name(source.toStdString())) + QStringLiteral(".yaml"));
}

}  // namespace

NewFromDataDialog::NewFromDataDialog(const QString& source, QWidget* parent)
    : QDialog(parent),
      m_source(new PathEdit(QStringLiteral("dataSource"), tr("Table or data folder"), PathEdit::Kind::fileOrFolder)),
      m_output(new PathEdit(QStringLiteral("dataOutput"), tr("Experiment file"), PathEdit::Kind::newFile)),
      m_roles(new QLineEdit),
      m_model(new QLineEdit(QStringLiteral("minilm"))),
      m_seeds(new QSpinBox),
      m_columns(new DataTable),
      m_columnModel(new TableModel(this)),
      m_summary(secondaryLabel()),
      m_text(new QPlainTextEdit),
      m_error(new ErrorBar),
      m_wait(new QTimer(this)) {
    setObjectName(QStringLiteral("newFromDataDialog"));
    setWindowTitle(tr("New experiment from data"));
    setAttribute(Qt::WA_DeleteOnClose);
    resize(860, 640);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(24, 24, 24, 16);
    layout->setSpacing(12);
    QLabel* explanation = secondaryLabel(
        tr("A CSV, TSV, JSON lines or Parquet file (also .gz, .zst), or a BEIR or MTEB folder. A fifth of a table's rows is held out for "
           "the scores; what is written goes beside the experiment file."));
    explanation->setWordWrap(true);
    layout->addWidget(explanation);
    auto* form = new QFormLayout;
    form->setHorizontalSpacing(16);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->addRow(tr("Data"), m_source);
    form->addRow(tr("Columns"), m_roles);
    form->addRow(tr("Start model"), m_model);
    form->addRow(tr("Seeds"), m_seeds);
    form->addRow(tr("Experiment file"), m_output);
    layout->addLayout(form);
    layout->addWidget(m_error);
    layout->addWidget(buildPreview(), 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    m_create = buttons->addButton(tr("Write and open in Compose"), QDialogButtonBox::ActionRole);
    m_create->setObjectName(QStringLiteral("createExperiment"));
    m_create->setDefault(true);
    m_lookAt = buttons->addButton(tr("Look at the data"), QDialogButtonBox::ActionRole);
    m_lookAt->setObjectName(QStringLiteral("lookAtTable"));
    m_lookAt->setAutoDefault(false);
    m_lookAt->setToolTip(tr("Examples, lengths, duplicates and overlap of what would be trained on and tested; writes nothing beside it"));
    connect(m_lookAt, &QPushButton::clicked, this, &NewFromDataDialog::lookAtData);
    buttons->button(QDialogButtonBox::Cancel)->setAutoDefault(false);  // Enter would be Cancel until the preview is there
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_create, &QPushButton::clicked, this, &NewFromDataDialog::write);
    buildForm();
    if (!source.isEmpty()) m_source->setPath(source);
    look();
}

void NewFromDataDialog::buildForm() {
    m_roles->setObjectName(QStringLiteral("dataRoles"));
    m_roles->setAccessibleName(tr("What the columns are"));
    m_roles->setPlaceholderText(tr("guessed; or query=COLUMN, document=COLUMN; or text=COLUMN, label=COLUMN"));
    m_model->setObjectName(QStringLiteral("dataModel"));
    m_model->setAccessibleName(tr("Start model"));
    m_model->setToolTip(tr("minilm, a folder, or org/name of the hub"));
    m_seeds->setObjectName(QStringLiteral("dataSeeds"));
    m_seeds->setAccessibleName(tr("Number of seeds"));
    m_seeds->setRange(1, most_seeds);
    m_wait->setSingleShot(true);
    m_wait->setInterval(typing_pause_ms);
    connect(m_wait, &QTimer::timeout, this, &NewFromDataDialog::look);
    connect(m_source, &PathEdit::pathChanged, this, &NewFromDataDialog::sourceChanged);
    const auto later = [this] {
        setReady(false);
        m_wait->start();
    };
    connect(m_output, &PathEdit::pathChanged, this, later);
    connect(m_seeds, &QSpinBox::valueChanged, this, later);
    for (const QLineEdit* edit : {m_roles, m_model}) connect(edit, &QLineEdit::textEdited, this, later);
}

QWidget* NewFromDataDialog::buildPreview() {
    auto* left = new QWidget;
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 8, 0);
    m_summary->setObjectName(QStringLiteral("dataSummary"));
    m_summary->setWordWrap(true);
    m_columns->setObjectName(QStringLiteral("dataColumns"));
    m_columns->setAccessibleName(tr("Columns of the table and what they are taken for"));
    m_columns->setModel(m_columnModel);
    column->addWidget(m_summary);
    column->addWidget(m_columns, 1);
    m_text->setObjectName(QStringLiteral("dataPreview"));
    m_text->setAccessibleName(tr("The experiment that would be written"));
    m_text->setReadOnly(true);
    m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    auto* splitter = new QSplitter;
    splitter->addWidget(left);
    splitter->addWidget(m_text);
    splitter->setChildrenCollapsible(false);
    splitter->setSizes({400, 400});
    return splitter;
}

/// Other data have other columns, and a file of their own.
void NewFromDataDialog::setReady(bool ready) {
    m_create->setEnabled(ready);
    m_lookAt->setEnabled(ready);
}

void NewFromDataDialog::sourceChanged() {
    m_survey.reset();
    m_roles->clear();
    setReady(false);
    const QString source = m_source->path();
    m_output->setPath(source.isEmpty() ? QString() : outputFor(source));
    m_wait->start();
}

NewFromDataDialog::Asked NewFromDataDialog::asked() const {
    return {m_source->path(), m_roles->text().trimmed(), m_output->path(), m_model->text().trimmed(), m_seeds->value()};
}

NewFromDataDialog::Preview NewFromDataDialog::previewOf(const Asked& asked, std::shared_ptr<const Survey> known) {
    const fs::path source = asked.source.toStdString(), output = asked.output.toStdString();
    const StarterOptions options{output, asked.model.isEmpty() ? "minilm" : asked.model.toStdString(), asked.seeds};
    if (!fs::exists(source)) throw data_error("{}: no such file or folder", source.string());
    Preview preview;
    if (!fs::is_directory(source)) preview.survey = known ? known : std::make_shared<const Survey>(survey_file(source));
    try {
        if (output.empty() || output.extension() != ".yaml") throw usage_error("The experiment needs a file that ends in .yaml.");
        if (fs::exists(output)) throw usage_error("{}: it is there already; choose another name for the experiment", output.string());
        if (!preview.survey) {
            preview.starter = std::make_shared<const Starter>(start_from_folder(source, options));
            return preview;
        }
        const ColumnRoles roles =
            asked.roles.isEmpty() ? guess_roles(*preview.survey) : parse_roles(*preview.survey, asked.roles.toStdString());
        preview.roles = qs(roles.words());
        preview.starter = std::make_shared<const Starter>(start_from_table(*preview.survey, roles, options));
    } catch (const std::exception& error) {
        preview.problem = QString::fromUtf8(error.what());
    }
    return preview;
}

void NewFromDataDialog::look() {
    const Asked now = asked();
    setReady(false);
    if (now.source.isEmpty()) return m_summary->setText(tr("Name a file or a folder, or drop one on the window."));
    if (std::exchange(m_looking, true)) return;  // asked again when the answer has come
    if (!m_survey) m_summary->setText(tr("looking at the data …"));
    ProjectSession::background([now, known = m_survey] {
        return previewOf(now, known);
    }).then(this, [this, now](const Preview& preview) {
          take(now, preview);
      }).onFailed([this, now](const std::exception& error) {
        take(now, {{}, {}, {}, QString::fromUtf8(error.what())});
    });
}

void NewFromDataDialog::take(const Asked& was, const Preview& preview) {
    m_looking = false;
    if (was != asked()) return look();
    m_shown = was;
    m_error->setMessage(preview.problem);
    setReady(preview.starter != nullptr);
    m_survey = preview.survey;
    if (preview.survey) showColumns(*preview.survey);
    m_columns->setVisible(preview.survey != nullptr);
    m_roles->setEnabled(preview.survey != nullptr);
    if (!preview.survey) m_summary->setText(preview.starter ? tr("A data folder: it is used where it lies.") : QString());
    if (!preview.roles.isEmpty() && m_roles->text().isEmpty()) m_roles->setPlaceholderText(preview.roles);
    QString text;
    if (preview.starter) {
        for (const std::string& remark : preview.starter->remarks) text += QStringLiteral("# ") + qs(remark) + QLatin1Char('\n');
        text += qs(preview.starter->experiment);
    }
    m_text->setPlainText(text);
    if (!std::exchange(m_atOnce, false)) return;
    if (preview.starter)
        lookAtData();
    else
        open();
}

void NewFromDataDialog::lookAtOnce() {
    m_atOnce = true;
    connect(this, &NewFromDataDialog::looked, this, &QObject::deleteLater);  // it may never have been open
}

void NewFromDataDialog::showColumns(const Survey& survey) {
    m_summary->setText(summaryOf(survey));
    m_columnModel->setTable(columnsOf(survey));
    m_columns->fitColumns(160, true);
}

/// What the preview shows; made again, since it holds all rows.
void NewFromDataDialog::write() {
    if (!m_shown || *m_shown != asked()) return;
    setReady(false);
    ProjectSession::background([now = *m_shown, known = m_survey] {
        const Preview preview = previewOf(now, known);
        if (!preview.starter) throw failure("{}", preview.problem.toStdString());
        write_starter(*preview.starter, now.output.toStdString());
        return true;
    })
        .then(this,
              [this, file = m_shown->output](bool) {
                  Q_EMIT written(file);
                  accept();
              })
        .onFailed([this](const std::exception& error) {
            setReady(true);
            m_error->setMessage(QString::fromUtf8(error.what()));
        });
}

/// The experiment of the preview, in a folder that goes with the source; its last run, for the first is the start model, without
/// instructions.
DataSource NewFromDataDialog::sourceOf(const Asked& asked, std::shared_ptr<const Survey> known) {
    const auto folder = std::make_shared<QTemporaryDir>();
    if (!folder->isValid()) throw failure("{}: {}", folder->path().toStdString(), folder->errorString().toStdString());
    Asked there = asked;
    there.output = folder->filePath(QFileInfo(asked.output).fileName());
    const Preview preview = previewOf(there, std::move(known));
    if (!preview.starter) throw failure("{}", preview.problem.toStdString());
    write_starter(*preview.starter, there.output.toStdString());
    const Experiment experiment = Experiment::load(there.output.toStdString(), Catalogue::load(plugin_folders()), {});
    return {QFileInfo(asked.source).fileName(), experiment.runs().back().settings, folder};
}

void NewFromDataDialog::lookAtData() {
    if (!m_shown || *m_shown != asked()) return;
    setReady(false);
    ProjectSession::background([now = *m_shown, known = m_survey] { return sourceOf(now, known); })
        .then(this,
              [this](const DataSource& source) {
                  Q_EMIT looked(source);
                  accept();
              })
        .onFailed([this](const std::exception& error) {
            setReady(true);
            m_error->setMessage(QString::fromUtf8(error.what()));
            open();
        });
}

}  // namespace faceter::desktop
