#include "pages/data/data_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QShortcut>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabWidget>
#include <QVBoxLayout>
#include <utility>

#include "figure/figure_view.h"
#include "figure/table_export.h"
#include "pages/data/rows_view.h"
#include "pages/length_figure.h"
#include "pages/page_parts.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/name_box.h"
#include "widgets/run_label.h"
#include "widgets/save_file.h"
#include "widgets/table_model.h"
#include "widgets/texts.h"
#include "worker/worker_query.h"

namespace faceter::desktop {
namespace {

const PageRegistration registration{
    {QStringLiteral("data"), QStringLiteral("Data"), 13, false, [](Workspace& workspace) { return new DataPage(workspace); }}};

constexpr std::size_t page_size = 50, most_runs = 200;
constexpr int typing_pause_ms = 300, widest_column = 420, widest_choice = 260;

struct ShownRun {
    QString id, label;
};

/// The run that the inspector shows, then one of each shown group, for its seeds name the same data; the start model, which trains on none
/// of it, last.
std::vector<ShownRun> shownRuns(const Workspace& workspace) {
    std::vector<ShownRun> runs, baselines;
    const RunsSnapshotPtr hold = workspace.runs();
    const RunRow* current = workspace.current();
    if (current) runs.push_back({qs(current->info.id), runLabel(current->info)});
    for (const RunGroupRef& group : workspace.shownGroups()) {
        const RunRow* run = group.runs.empty() ? nullptr : group.runs.front();
        if (!run || run->info.is_imported() || runs.size() >= most_runs || (current && groupKey(current->info) == group.key)) continue;
        (run->info.is_baseline() ? baselines : runs).push_back({qs(run->info.id), group.label});
    }
    runs.insert(runs.end(), baselines.begin(), baselines.end());
    return runs;
}

}  // namespace

DataPage::DataPage(Workspace& workspace)
    : Page(workspace),
      m_source(new NameBox),
      m_actions(new QWidget),
      m_list(new QListWidget),
      m_tabs(new QTabWidget),
      m_card(new DataTable),
      m_cardModel(new TableModel(this)),
      m_examples(new RowsView(QStringLiteral("dataExamples"), tr("Examples"))),
      m_duplicates(new RowsView(QStringLiteral("dataDuplicates"), tr("Examples that stand more than once"))),
      m_overlap(new RowsView(QStringLiteral("dataOverlap"), tr("Pairs of training and test sets"))),
      m_search(new QLineEdit),
      m_back(new QPushButton(tr("Back"))),
      m_on(new QPushButton(tr("On"))),
      m_cancel(new QPushButton(tr("Cancel"))),
      m_lengths(new FigureView),
      m_lengthsText(secondaryLabel()),
      m_progress(new QProgressBar),
      m_status(new ElidedLabel),
      m_error(new ErrorBar),
      m_stack(new QStackedWidget),
      m_empty(new EmptyState(tr("No run is shown"),
                             tr("The data sets of a run would be here: card, examples, lengths, what stands twice, and which test texts "
                                "stand in the training data."),
                             tr("Open the composer"))),
      m_pause(new QTimer(this)),
      m_query(new StoreQuery<std::shared_ptr<const Json>>(
          workspace, this,
          [this] {
              return [run = m_source->currentData().toString().toStdString()](Store& store) {
                  return std::make_shared<const Json>(run.empty() ? Json() : Json{{"run", run}, {"settings", store.settings(run)}});
              };
          },
          [this](const std::shared_ptr<const Json>& answer) {  // another run may have been chosen since
              if (!answer->is_null() && answer->at("run") == m_source->currentData().toString().toStdString())
                  takeSettings(answer->at("settings"));
          })) {
    setProperty("looksAtTables", true);  // one that is dropped is shown here (window/window_tools.cpp)
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(12);
    layout->addWidget(makeHead());
    layout->addWidget(m_error);
    layout->addWidget(m_stack, 1);
    m_stack->addWidget(m_body = makeBody());
    m_stack->addWidget(m_empty);
    m_pause->setSingleShot(true);
    m_pause->setInterval(typing_pause_ms);
    connect(m_pause, &QTimer::timeout, this, &DataPage::searchAgain);
    connect(m_empty, &EmptyState::clicked, this, [this] { this->workspace().requestPage(QStringLiteral("compose")); });
    connect(m_query, &StoreQueryBase::failed, this, [this](const QString& message) {
        if (message.isEmpty()) return;  // what stands there is the worker's
        takeSettings(nullptr);
        m_error->setMessage(message);
    });
    connect(m_source, &QComboBox::currentIndexChanged, this, &DataPage::showSource);
    connect(&LiveRequests::shared(), &LiveRequests::changed, this, [this] {
        if (m_waits) showBusy();  // what it waits for has ended
    });
    connect(&workspace, &Workspace::projectChanged, m_error, [this] { m_error->setMessage({}); });
    for (const auto signal : {&Workspace::shownChanged, &Workspace::currentRunChanged, &Workspace::projectChanged})
        connect(&workspace, signal, this, &DataPage::fillSources);
    connect(&DataSources::of(workspace), &DataSources::asked, this, [this] {
        fillSources();
        m_source->setCurrentIndex(std::max(0, m_source->findData(QString())));
        showSource();
    });
    auto* find = new QShortcut(QKeySequence::Find, this, [this] {
        m_tabs->setCurrentIndex(static_cast<int>(Part::examples));
        m_search->setFocus(Qt::ShortcutFocusReason);
    });
    find->setContext(Qt::WidgetWithChildrenShortcut);
    fillSources();
}

QWidget* DataPage::makeHead() {
    m_source->setObjectName(QStringLiteral("dataRun"));
    m_source->setAccessibleName(tr("The run or experiment whose data sets are shown"));
    m_source->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_source->setMaximumWidth(widest_choice);
    auto* menu = new QMenu(this);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillExports(menu); });
    return pageHead(QStringLiteral("data"), tr("Data"), m_actions, {m_source}, menu);
}

QWidget* DataPage::makeBody() {
    m_list->setObjectName(QStringLiteral("dataSets"));
    m_list->setAccessibleName(tr("Data sets"));
    m_list->setMinimumWidth(120);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);  // a long name is cut in its middle, the tooltip has all of it
    m_list->setTextElideMode(Qt::ElideMiddle);
    m_tabs->setObjectName(QStringLiteral("dataTabs"));
    m_tabs->setDocumentMode(true);
    addPart(tr("Card"), makeCard(), QStringLiteral("data_set"), [this](const Json& answer) { takeCard(answer); });
    addPart(tr("Examples"), makeExamples(), QStringLiteral("data_examples"), [this](const Json& answer) { takeExamples(answer); });
    addPart(tr("Lengths"), makeLengths(), QStringLiteral("data_lengths"), [this](const Json& answer) { takeLengths(answer); });
    addPart(tr("Duplicates"), m_duplicates, QStringLiteral("data_duplicates"),
            [this](const Json& answer) { m_duplicates->setRows(duplicateRows(answer), duplicatesText(answer)); });
    addPart(tr("Overlap"), m_overlap, QStringLiteral("data_overlap"), [this](const Json& answer) {
        QStringList leftOut;
        for (const Json& reason : answer.at("left_out")) leftOut << tr("Left out: %1").arg(qs(reason.get<std::string>()));
        m_overlap->setRows(overlapRows(answer), leftOut.join(QLatin1Char('\n')));
    });
    auto* left = new QWidget;
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 8, 0);
    column->setSpacing(8);
    column->addWidget(m_list, 1);
    column->addWidget(makeStatus());
    auto* split = new QSplitter(Qt::Horizontal);
    split->setHandleWidth(1);
    split->setChildrenCollapsible(false);
    split->addWidget(left);
    auto* right = new QWidget;
    auto* beside = new QVBoxLayout(right);
    beside->setContentsMargins(8, 0, 0, 0);
    beside->addWidget(m_tabs);
    split->addWidget(right);
    split->setStretchFactor(1, 1);
    split->setSizes({170, 600});
    connect(m_list, &QListWidget::currentRowChanged, this, &DataPage::showSet);
    connect(m_tabs, &QTabWidget::currentChanged, this, &DataPage::askPart);
    showBusy();
    return split;
}

QWidget* DataPage::makeCard() {
    auto* body = new QWidget;
    auto* layout = new QVBoxLayout(body);
    layout->setContentsMargins(0, 8, 0, 0);
    m_card->setModel(m_cardModel);
    m_card->setObjectName(QStringLiteral("dataCard"));
    m_card->setAccessibleName(tr("Card of the data set"));
    layout->addWidget(m_card, 1);
    layout->addStretch(0);
    m_card->hide();
    return body;
}

QWidget* DataPage::makeExamples() {
    m_search->setObjectName(QStringLiteral("dataSearch"));
    m_search->setPlaceholderText(tr("find in texts and labels"));
    m_search->setAccessibleName(tr("Find examples"));
    m_search->setClearButtonEnabled(true);
    m_back->setObjectName(QStringLiteral("dataBack"));
    m_on->setObjectName(QStringLiteral("dataOn"));
    m_examples->bar()->addWidget(m_search, 1);
    for (QPushButton* button : {m_back, m_on}) m_examples->bar()->addWidget(button);
    connect(m_search, &QLineEdit::textChanged, m_pause, qOverload<>(&QTimer::start));
    connect(m_search, &QLineEdit::returnPressed, this, &DataPage::searchAgain);
    connect(m_back, &QPushButton::clicked, this, [this] { turnPage(-1); });
    connect(m_on, &QPushButton::clicked, this, [this] { turnPage(1); });
    return m_examples;
}

QWidget* DataPage::makeLengths() {
    auto* body = new QWidget;
    auto* layout = new QVBoxLayout(body);
    layout->setContentsMargins(0, 8, 0, 0);
    m_lengthsText->setObjectName(QStringLiteral("dataLengthsText"));
    m_lengthsText->setWordWrap(true);
    m_lengths->setObjectName(QStringLiteral("dataLengths"));
    m_lengths->setTitleShown(false);
    layout->addWidget(m_lengthsText);
    layout->addWidget(m_lengths, 1);
    layout->addStretch(0);
    m_lengths->hide();
    return body;
}

/// How far the worker is; below the sets, so that what it answers does not jump.
QWidget* DataPage::makeStatus() {
    auto* row = new QWidget;
    auto* layout = new QVBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    m_cancel->setObjectName(QStringLiteral("dataCancel"));
    m_progress->setObjectName(QStringLiteral("dataProgress"));
    m_progress->setTextVisible(false);
    m_progress->setFixedHeight(4);
    m_status->setObjectName(QStringLiteral("dataStatus"));
    m_status->setProperty("role", QStringLiteral("secondary"));
    layout->addWidget(m_status);
    layout->addWidget(m_progress);
    layout->addWidget(m_cancel);
    connect(m_cancel, &QPushButton::clicked, this, &DataPage::cancel);
    return row;
}

/// What the worker says is checked as it is read: an answer that lacks something is an error, not a crash.
void DataPage::addPart(const QString& title, QWidget* body, const QString& method, std::function<void(const Json&)> take) {
    m_tabs->addTab(body, title);
    auto* query = new WorkerQuery(this);
    query->setTitle(tr("Data sets: %1").arg(title));
    m_parts.push_back({query, method, {}});
    connect(query, &WorkerQuery::answered, this, [this, place = m_parts.size() - 1, take = std::move(take)](const WorkerAnswer& answer) {
        try {
            take(*answer);
        } catch (const std::exception& error) {
            m_parts[place].asked = nullptr;
            m_error->setMessage(QString::fromUtf8(error.what()));
        }
    });
    connect(query, &WorkerQuery::failed, this, [this, place = m_parts.size() - 1](const QString& message) {
        m_parts[place].asked = nullptr;
        m_error->setMessage(message);
    });
    connect(query, &WorkerQuery::cancelled, this, [this, place = m_parts.size() - 1] {  // in Activity
        m_parts[place].asked = nullptr;
        showCancelled();
    });
    connect(query, &WorkerQuery::busyChanged, this, &DataPage::showBusy);
    connect(query, &WorkerQuery::progressed, this, [this](const WorkerProgress& progress) {
        m_status->setFullText(progress.what);
        m_progress->setRange(0, static_cast<int>(progress.total));
        m_progress->setValue(static_cast<int>(progress.done));
    });
}

/// The run that the inspector shows comes first whenever it is another; else what was chosen stays.
void DataPage::fillSources() {
    const QString before = m_source->currentData().toString(), current = workspace().currentRun();
    const bool moved = std::exchange(m_inspected, current) != current && !current.isEmpty();
    const bool stays = m_source->count() > 0 && !moved;
    std::vector<ShownRun> wanted = shownRuns(workspace());
    if (const DataSource& asked = DataSources::of(workspace()).source(); !asked.settings.is_null()) wanted.push_back({{}, asked.title});
    bool same = m_source->count() == static_cast<int>(wanted.size());
    for (int i = 0; same && i < m_source->count(); ++i) {
        const ShownRun& run = wanted[static_cast<std::size_t>(i)];
        same = m_source->itemData(i).toString() == run.id && m_source->itemText(i) == run.label;
    }
    if (!same || moved) {  // else somebody may be choosing in it, while runs go on
        const QSignalBlocker quiet(m_source);
        m_source->clear();
        for (const auto& [id, label] : wanted) m_source->addItem(label, id);
        const int place = stays ? m_source->findData(before) : -1;
        m_source->setCurrentIndex(std::max(0, place >= 0 ? place : m_source->findData(current)));
    }
    m_source->setVisible(m_source->count() > 0);
    showSource();
}

void DataPage::showSource() {
    if (m_source->count() == 0) return takeSettings(nullptr);
    if (m_source->currentData().toString().isEmpty()) return takeSettings(DataSources::of(workspace()).source().settings);
    m_query->ask();
}

/// What is shown stays where the data sets are the same.
void DataPage::takeSettings(const Json& settings) {
    m_stack->setCurrentWidget(settings.is_null() ? static_cast<QWidget*>(m_empty) : m_body);
    m_actions->setVisible(!settings.is_null());
    if (hasFocus()) shown();
    if (settings == m_settings) return;
    m_settings = settings;
    fillSets();
}

void DataPage::fillSets() {
    const QString before = m_list->currentItem() ? m_list->currentItem()->text() : m_wantedSet;
    {
        const QSignalBlocker quiet(m_list);
        m_list->clear();
        m_sets = dataSetsOf(m_settings);
        for (const DataSetRef& one : m_sets)
            m_list->addItem(one.isTraining ? one.name + QStringLiteral(" · ") + one.task : tr("%1 · test").arg(one.name));
        for (int row = 0; row < m_list->count(); ++row) {
            m_list->item(row)->setToolTip(m_list->item(row)->text().toHtmlEscaped());
            if (m_list->item(row)->text() == before) m_list->setCurrentRow(row);
        }
        if (!m_list->currentItem() && m_list->count() > 0) m_list->setCurrentRow(0);
    }
    showSet();
}

const DataSetRef* DataPage::set() const {
    const int row = m_list->currentRow();
    return row >= 0 && row < static_cast<int>(m_sets.size()) ? &m_sets[static_cast<std::size_t>(row)] : nullptr;
}

DataPage::Part DataPage::part() const { return static_cast<Part>(m_tabs->currentIndex()); }

/// Another set's content must not stand under this one's name.
void DataPage::showSet() {
    m_offset = 0;
    if (const QSignalBlocker quiet(m_search); true) m_search->clear();
    m_cardModel->setTable({});
    m_card->hide();
    m_examples->clear();
    m_shown = {};
    m_duplicates->clear();
    m_lengths->setFigure({});
    m_lengths->hide();
    m_lengthsText->clear();
    const Json overlap = questionOf(Part::overlap);  // of all sets of the run
    bool same = false;
    for (Answer& answer : m_parts) {
        if (answer.asked == overlap && !overlap.is_null())
            same = true;
        else
            answer.asked = nullptr;
    }
    if (!same) m_overlap->clear();
    askPart();
}

Json DataPage::questionOf(Part part) const {
    const DataSetRef* one = set();
    if (!one) return nullptr;
    if (part == Part::overlap) return {{"settings", m_settings}};
    Json question = one->question(m_settings);
    if (part == Part::examples) {
        question["offset"] = m_offset;
        question["count"] = page_size;
        question["search"] = m_search->text().trimmed().toStdString();
    }
    return question;
}

/// Only what is looked at is asked for, and nothing twice.
void DataPage::askPart() {
    if (m_parts.size() <= static_cast<std::size_t>(part())) return;
    Answer& answer = m_parts[static_cast<std::size_t>(part())];
    const Json question = questionOf(part());
    m_error->setMessage({});  // of what stood there before
    if (question.is_null() || question == answer.asked) return;
    stopAll();
    answer.asked = question;
    answer.query->ask(answer.method, question);
}

/// From the examples that stand there, which a search that goes on may not be about any more.
void DataPage::turnPage(int pages) {
    if (m_search->text().trimmed() != m_shown.search) return searchAgain();
    m_offset = static_cast<std::size_t>(
        std::max<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(m_shown.offset) + pages * static_cast<std::ptrdiff_t>(page_size)));
    askPart();
}

/// While examples are on their way it is not known what stands before and behind them.
void DataPage::showTurns() {
    const bool busy = m_parts[static_cast<std::size_t>(Part::examples)].query->isBusy();
    m_back->setEnabled(!busy && m_shown.offset > 0);
    m_on->setEnabled(!busy && m_shown.end < m_shown.found);
}

void DataPage::searchAgain() {
    m_pause->stop();
    m_offset = 0;
    askPart();
}

void DataPage::stopAll() {
    for (Answer& answer : m_parts)
        if (answer.query->isBusy()) {
            answer.asked = nullptr;
            answer.query->stop();
        }
}

void DataPage::cancel() {
    stopAll();
    showCancelled();
}

void DataPage::showCancelled() {
    m_status->setFullText(tr("cancelled"));
    m_status->show();
}

bool DataPage::isReady() const {
    return !m_query->isBusy() && !m_pause->isActive() &&
           std::none_of(m_parts.begin(), m_parts.end(), [](const Answer& answer) { return answer.query->isBusy(); });
}

void DataPage::showBusy() {
    const bool busy = std::any_of(m_parts.begin(), m_parts.end(), [](const Answer& answer) { return answer.query->isBusy(); });
    m_cancel->setVisible(busy);
    m_progress->setVisible(busy);
    m_progress->setRange(0, 0);
    const QList<WorkerQuery*> all = LiveRequests::shared().busy();  // one after the other
    m_waits = busy && !all.isEmpty() &&
              std::none_of(m_parts.begin(), m_parts.end(), [&](const Answer& answer) { return answer.query == all.first(); });
    m_status->setFullText(!busy ? QString() : m_waits ? tr("waits for: %1").arg(all.first()->title()) : tr("asking the live worker"));
    m_status->setVisible(busy);
    if (m_parts.size() > static_cast<std::size_t>(Part::examples)) showTurns();
}

void DataPage::takeCard(const Json& card) {
    m_cardModel->setTable(cardTable(card));
    m_card->fitColumns(widest_column, true);
    m_card->show();
    leaveRoomForValues();
}

/// Names of what is known beside it take two fifths at most.
void DataPage::leaveRoomForValues() {
    if (m_cardModel->columnCount() > 1) m_card->setColumnWidth(0, std::min(m_card->columnWidth(0), m_card->viewport()->width() * 2 / 5));
}

void DataPage::resizeEvent(QResizeEvent* event) {
    Page::resizeEvent(event);
    leaveRoomForValues();
}

void DataPage::takeExamples(const Json& answer) {
    const auto found = answer.at("found").get<std::size_t>(), offset = answer.at("offset").get<std::size_t>();
    const auto size = answer.at("size").get<std::size_t>(), shown = answer.at("examples").size();
    const auto number = [](std::size_t value) { return countText(static_cast<std::int64_t>(value)); };
    const QString all =
        found == size ? tr("%1 examples").arg(number(size)) : tr("%1 found among %2 examples").arg(number(found), number(size));
    m_examples->setRows(exampleRows(answer), shown == 0 ? all : tr("%1 to %2 of %3").arg(number(offset + 1), number(offset + shown), all));
    m_shown = {offset, offset + shown, found, m_search->text().trimmed()};
    showTurns();
}

void DataPage::takeLengths(const Json& answer) {
    m_lengths->setFigure(lengthFigure(answer.at("lengths")));
    m_lengths->show();
    m_lengthsText->setText(lengthsText(answer.at("lengths")).replace(QStringLiteral(" · "), QStringLiteral("\n")));
}

void DataPage::fillExports(QMenu* menu) {
    menu->clear();
    if (part() == Part::lengths && m_lengths->hasValues()) return addFigureExports(menu, this, m_lengths, QStringLiteral("lengths"));
    const Table table = part() == Part::lengths      ? Table()
                        : part() == Part::card       ? m_cardModel->table()
                        : part() == Part::examples   ? m_examples->table()
                        : part() == Part::duplicates ? m_duplicates->table()
                                                     : m_overlap->table();
    if (table.rows.empty()) {
        menu->addAction(tr("Nothing to export"))->setEnabled(false);
        return;
    }
    addTableExports(menu, this, qs(table.name),
                    [table](TableFormat format) { return QByteArray::fromStdString(export_table(table, format)); });
}

void DataPage::shown() { focusPart(*this, m_stack->currentWidget()); }

QJsonObject DataPage::state() const {
    const QListWidgetItem* item = m_list->currentItem();
    return {{QStringLiteral("set"), item ? item->text() : m_wantedSet}, {QStringLiteral("tab"), m_tabs->currentIndex()}};
}

void DataPage::restore(const QJsonObject& state) {
    m_wantedSet = state[QStringLiteral("set")].toString();
    m_tabs->setCurrentIndex(std::clamp(state[QStringLiteral("tab")].toInt(), 0, m_tabs->count() - 1));
    for (int row = 0; row < m_list->count(); ++row)
        if (m_list->item(row)->text() == m_wantedSet) m_list->setCurrentRow(row);
}

}  // namespace faceter::desktop
