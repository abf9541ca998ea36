#include "pages/compose/preview_panel.h"

#include <QComboBox>
#include <QHeaderView>
#include <QListWidget>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

#include "figure/figure_view.h"
#include "pages/compose/example_model.h"
#include "pages/length_figure.h"
#include "project/runs_snapshot.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

void fill(QComboBox* combo, const QStringList& texts, const QString& first) {
    const QString before = combo->currentText();
    combo->clear();
    if (!first.isEmpty()) combo->addItem(first, QString());
    for (const QString& text : texts) combo->addItem(text, text);
    if (const int index = combo->findText(before); index >= 0) combo->setCurrentIndex(index);
}

}  // namespace

PreviewPanel::PreviewPanel(ExperimentDocument& document, QWidget* parent)
    : WorkerPanel(document, tr("Show examples"), tr("Real examples with instruction, tokens and label, read by the live worker."), parent),
      m_variant(new QComboBox),
      m_task(new QComboBox),
      m_list(new QListWidget),
      m_table(new DataTable),
      m_model(new ExampleModel(this)),
      m_lengths(new FigureView) {
    setObjectName(QStringLiteral("previewPanel"));
    askButton()->setObjectName(QStringLiteral("showExamples"));
    cancelButton()->setObjectName(QStringLiteral("cancelExamples"));
    m_variant->setObjectName(QStringLiteral("previewVariant"));
    m_variant->setAccessibleName(tr("Variant whose model sees the texts"));
    m_task->setObjectName(QStringLiteral("previewTask"));
    m_task->setAccessibleName(tr("Task"));
    for (QWidget* widget : std::initializer_list<QWidget*>{secondaryLabel(tr("as")), m_variant, secondaryLabel(tr("sees")), m_task})
        addToBar(widget);
    auto* split = new QSplitter(Qt::Horizontal);
    split->setHandleWidth(1);
    m_list->setObjectName(QStringLiteral("previewSets"));
    m_list->setAccessibleName(tr("Data sets"));
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);  // a long name is cut in its middle, the tooltip has all of it
    m_list->setTextElideMode(Qt::ElideMiddle);
    m_table->setObjectName(QStringLiteral("previewExamples"));
    m_table->setAccessibleName(tr("Examples"));
    m_table->setModel(m_model);
    m_table->setItemDelegateForColumn(ExampleModel::text, new ExampleDelegate(m_table));
    m_lengths->setTitleShown(false);
    m_lengths->setObjectName(QStringLiteral("previewLengths"));
    split->addWidget(m_list);
    split->addWidget(m_table);
    split->addWidget(m_lengths);
    split->setStretchFactor(1, 1);
    split->setSizes({140, 460, 200});
    column()->addWidget(split, 1);
    connect(m_list, &QListWidget::currentRowChanged, this, &PreviewPanel::showSet);
    m_lengths->hide();
}

void PreviewPanel::takeExperiment(const Experiment& experiment) {
    QStringList variants, tasks;
    for (const ResolvedRun& run : experiment.runs())
        if (!variants.contains(qs(run.variant))) variants << qs(run.variant);
    for (const auto& [name, task] : experiment.runs().front().settings.at("tasks").items()) tasks << qs(name);
    if (variants.size() > 1 && variants.front() == QStringLiteral("start")) variants.move(0, variants.size() - 1);
    fill(m_variant, variants, {});
    fill(m_task, tasks, tr("all tasks"));
}

void PreviewPanel::ask(const Experiment& experiment) {
    const std::string variant = m_variant->currentText().toStdString();
    const auto named =
        std::find_if(experiment.runs().begin(), experiment.runs().end(), [&](const ResolvedRun& run) { return run.variant == variant; });
    const ResolvedRun& chosen = named == experiment.runs().end() ? experiment.runs().front() : *named;
    call(QStringLiteral("preview"), {{"settings", chosen.settings}, {"task", m_task->currentData().toString().toStdString()}}, {},
         [this](const Json& answer) { show(answer); });
    setStatus(tr("starting the live worker"));
}

void PreviewPanel::show(const Json& answer) {
    m_sets = answer.at("sets");
    finish(m_sets.empty() ? tr("No data set of this task.") : QString());
    m_list->clear();
    for (const Json& set : m_sets) {
        const bool there = !set.contains("unavailable");
        auto* item =
            new QListWidgetItem(qs(set.at("name").get<std::string>()) + QStringLiteral(" · ") + qs(set.at("use").get<std::string>()) +
                                (there ? QStringLiteral(" · ") + countText(set.at("size").get<qint64>()) : tr(" · not here")));
        item->setToolTip(item->text().toHtmlEscaped());
        m_list->addItem(item);
    }
    if (!m_sets.empty()) m_list->setCurrentRow(0);
}

void PreviewPanel::showSet(int row) {
    if (row < 0 || row >= numSets()) return;
    const Json& set = m_sets[static_cast<std::size_t>(row)];
    const bool there = !set.contains("unavailable");
    m_model->setExamples(there ? set.at("examples") : Json::array());
    m_lengths->setVisible(there);
    setStatus(there ? lengthsText(set.at("lengths")) : qs(set.at("unavailable").get<std::string>()));
    if (!there) return;
    m_table->fitColumns(420);
    m_table->horizontalHeader()->setSectionResizeMode(ExampleModel::text, QHeaderView::Stretch);
    m_lengths->setFigure(lengthFigure(set.at("lengths")));
}

}  // namespace faceter::desktop
