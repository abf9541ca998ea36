#include "pages/compare/compare_page.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QHeaderView>
#include <QJsonObject>
#include <QResizeEvent>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTimer>
#include <QVBoxLayout>

#include "common/file.h"
#include "common/hash.h"
#include "common/strings.h"
#include "figure/elided_name.h"
#include "figure/figure_view.h"
#include "pages/compare/compare_bar.h"
#include "pages/compare/compare_cards.h"
#include "pages/compare/compare_delegate.h"
#include "pages/compare/compare_header.h"
#include "pages/compare/compare_inspector.h"
#include "pages/compare/compare_model.h"
#include "pages/compare/examples_view.h"
#include "pages/compare/wish_bar.h"
#include "widgets/data_table.h"
#include "widgets/flow_layout.h"
#include "widgets/frozen_columns.h"
#include "widgets/labels.h"
#include "widgets/save_file.h"
#include "widgets/scroll.h"

namespace faceter::desktop {
namespace {

const PageRegistration registration{
    {QStringLiteral("compare"), QStringLiteral("Compare"), 4, true, [](Workspace& w) -> Page* { return new ComparePage(w); }}};

constexpr int patience_ms = 150, mostRows = 24, widestName = 300, leastName = 90;

std::vector<PublishedTable> publishedOrNone() {
    try {
        return published_tables();
    } catch (const std::exception&) {
        return {};  // an installation without resources: the list says "none"
    }
}

}  // namespace

ComparePage::ComparePage(Workspace& workspace)
    : Page(workspace),
      m_query(new StoreQuery<DataPtr>(
          workspace, this, [this] { return question(); }, [this](const DataPtr& data) { take(data); })),
      m_exampleQuery(new StoreQuery<Examples>(
          workspace, this,
          [this] {
              return [data = m_data](Store& store) {
                  if (!data) return Examples{};  // of a project that has just been opened
                  return Examples{data, std::make_shared<const ExampleScores>(read_examples(store, data->comparison))};
              };
          },
          [this](const Examples& examples) { takeExamples(examples); })),
      m_stack(new QStackedWidget),
      m_blank(new QWidget),
      m_empty(new EmptyState(QString(), QString(), tr("Go to Runs"))),
      m_subtitle(secondaryLabel()),
      m_busy(secondaryLabel(tr("computing …"))),
      m_slow(new QTimer(this)),
      m_error(new ErrorBar),
      m_bar(new CompareBar(publishedOrNone())),
      m_wishes(new WishBar),
      m_model(new CompareModel(this)),
      m_table(new DataTable),
      m_cards(new CompareCards),
      m_viewChoice(new QComboBox),
      m_changed(new ExamplesView),
      m_inspector(new CompareInspector) {
    buildContent();
    m_slow->setSingleShot(true);
    m_slow->setInterval(patience_ms);
    connect(m_slow, &QTimer::timeout, m_busy, &QWidget::show);
    connectQueries();
    connect(&workspace, &Workspace::baselineChanged, this, &ComparePage::followBaseline);
    connect(m_bar, &CompareBar::baselineChosen, this, &ComparePage::setBaseline);
    connect(m_bar, &CompareBar::choiceChanged, this, &ComparePage::recompute);
    connect(m_wishes, &WishBar::changed, m_query, &StoreQueryBase::ask);
    connect(m_bar, &CompareBar::publishedChanged, this, &ComparePage::showPublished);
    connect(m_bar, &CompareBar::copyAsked, this,
            [this](TableFormat format) { QApplication::clipboard()->setText(qs(exportText(ComparisonLayout::sets_down, format))); });
    connect(m_bar, &CompareBar::exportAsked, this, &ComparePage::exportTo);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &ComparePage::showSelectedSet);
    connect(m_empty, &EmptyState::clicked, this, [this] { this->workspace().requestPage(QStringLiteral("runs")); });
    clear();
    m_query->ask();
}

ComparePage::~ComparePage() {
    m_stop.request_stop();
    if (m_inspector && !m_inspector->parent()) delete m_inspector;  // else its holder does
}

QWidget* ComparePage::inspector() { return m_inspector; }

bool ComparePage::isReady() const {
    return m_pending == 0 && m_wishes->isSettled() && !m_query->isBusy() && !m_exampleQuery->isBusy() &&
           (!showsExamples() || m_changed->isReady());
}

void ComparePage::buildContent() {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 8);
    layout->setSpacing(8);
    auto* head = new FlowLayout;
    head->addStretched(titleLabel(tr("Compare")));
    head->addWidget(m_busy);
    m_viewChoice->setObjectName(QStringLiteral("compareView"));
    m_viewChoice->setAccessibleName(tr("What is compared"));
    m_viewChoice->addItems({tr("Scores"), tr("Examples that changed")});
    connect(m_viewChoice, &QComboBox::currentIndexChanged, this, &ComparePage::showView);
    head->addWidget(m_viewChoice);
    head->addWidget(m_bar->actions());
    m_busy->hide();
    layout->addLayout(head);
    m_subtitle->setWordWrap(true);
    m_subtitle->setObjectName(QStringLiteral("compareSubtitle"));
    layout->addWidget(m_subtitle);
    layout->addWidget(m_bar);
    layout->addWidget(m_wishes);
    layout->addWidget(m_error);
    m_table->setHorizontalHeader(new CompareHeader(m_table));
    m_table->setModel(m_model);
    m_table->setItemDelegate(new CompareDelegate(m_table));
    m_table->setObjectName(QStringLiteral("compareTable"));
    m_table->setAccessibleName(tr("Scores by data set and group"));
    m_table->installEventFilter(this);
    new FrozenColumns(*m_table, CompareModel::firstGroup, new CompareHeader);  // what a row is stays in sight beside the last group
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(12);
    column->addWidget(m_table);
    column->addWidget(m_cards);
    column->addStretch(1);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(scrolled(content));
    m_stack->addWidget(m_blank);
    m_stack->addWidget(m_changed);
    layout->addWidget(m_stack, 1);
}

void ComparePage::connectQueries() {
    connect(&workspace(), &Workspace::shownChanged, m_query, &StoreQueryBase::ask);
    connect(&workspace(), &Workspace::runsChanged, this, &ComparePage::followMarks);
    connect(&workspace(), &Workspace::projectChanged, this, &ComparePage::clear);
    for (StoreQueryBase* query : std::initializer_list<StoreQueryBase*>{m_query, m_exampleQuery}) {
        connect(query, &StoreQueryBase::failed, m_error, &ErrorBar::setMessage);
        connect(query, &StoreQueryBase::late, this, [this](bool isLate) { m_busy->setVisible(isLate || m_pending > 0); });
    }
}

/// What people say of runs is in their filter, and among the notes.
void ComparePage::followMarks() {
    std::uint64_t marks = 1;
    const RunsSnapshotPtr hold = workspace().runs();
    for (const RunGroupRef& group : workspace().shownGroups())
        for (const RunRow* run : group.runs)
            marks = hash64(fmt::format("{}\n{}\n{}{}", run->info.id, join(run->tags, "\n"), run->pinned, run->note), marks);
    if (std::exchange(m_marks, marks) != marks) m_query->ask();
}

std::function<ComparePage::DataPtr(Store&)> ComparePage::question() const {
    const RunsSnapshotPtr hold = workspace().runs();
    std::vector<std::string> runs;
    for (const RunGroupRef& group : workspace().shownGroups())
        for (const RunRow* run : group.runs)
            if (run->num_scores > 0) runs.push_back(run->info.id);
    return [runs, folder = workspace().session()->folder(), wish = m_wishes->wish()](Store& store) {
        return std::make_shared<const CompareData>(readCompareData(store, folder, runs, wish));
    };
}

/// Another project's comparison must not stand under this one's name.
void ComparePage::clear() {
    m_stop.request_stop();
    ++m_generation;
    m_data.reset();
    m_viewOf.reset();
    m_examples.reset();
    m_comparison.reset();
    m_view.reset();
    m_baselineRun.clear();
    if (m_inspector) m_inspector->clear();
    m_error->setMessage({});
    m_changed->show({}, nullptr, nullptr);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_bar, m_wishes, m_bar->actions(), m_subtitle, m_viewChoice}) widget->hide();
    m_stack->setCurrentWidget(m_blank);
}

/// New runs or scores: what was chosen stays chosen where it is still there.
void ComparePage::take(DataPtr data) {
    m_data = std::move(data);
    m_examples.reset();
    m_colours.clear();
    for (const RunGroup& group : m_data->comparison.groups) m_colours.push_back(workspace().colourOf(group.runs.front().info));
    const std::size_t groups = m_data->comparison.groups.size();
    m_bar->setVisible(groups > 1);
    m_wishes->setVisible(groups > 1 || m_wishes->hasFilter());  // a filter that leaves nothing can be taken away
    m_wishes->setOffers(m_data->series, m_data->names);
    m_viewChoice->setVisible(groups > 1);
    if (groups < 2)
        for (QWidget* widget : {m_bar->actions(), static_cast<QWidget*>(m_subtitle)}) widget->hide();
    if (groups > 1) {
        m_bar->setGroups(m_data->comparison, chooseBaseline(m_data->comparison, baselineRun()));
        return recompute();
    }
    ++m_generation;
    m_view.reset();
    if (m_inspector) m_inspector->clear();
    if (m_wishes->hasFilter())
        m_empty->setText(tr("The filter leaves less than two groups"), tr("Of the runs that are shown, one group or none passes it."));
    else if (groups == 0)
        m_empty->setText(tr("Nothing to compare yet"),
                         tr("Scores of finished runs appear here, data set by data set, against a baseline of your choice."));
    else
        m_empty->setText(tr("One group has scores: %1").arg(qs(m_data->comparison.groups.front().name)),
                         tr("A comparison needs two. Tick a second group in the navigator, or let another variant finish."));
    m_stack->setCurrentIndex(0);
}

/// The run that stands for the baseline: the one chosen here where it is compared, else the first of the workspace's group.
std::string ComparePage::baselineRun() const {
    if (group_of_run(m_data->comparison, m_baselineRun)) return m_baselineRun;
    for (const RunGroup& group : m_data->comparison.groups)
        if (!workspace().baseline().isEmpty() && groupKey(group.runs.front().info) == workspace().baseline())
            return group.runs.front().info.id;
    return {};
}

void ComparePage::setBaseline(int group) {
    if (!m_data || group < 0) return;
    const RunInfo& run = m_data->comparison.groups[static_cast<std::size_t>(group)].runs.front().info;
    m_baselineRun = run.id;
    workspace().setBaseline(groupKey(run));
    recompute();
}

/// Another page chose: its group's first run, unless ours is of that group already.
void ComparePage::followBaseline() {
    if (!m_data || m_data->comparison.groups.size() < 2) return;
    const auto own = group_of_run(m_data->comparison, m_baselineRun);
    if (own && groupKey(m_data->comparison.groups[*own].runs.front().info) == workspace().baseline()) return;
    m_baselineRun.clear();
    m_bar->setGroups(m_data->comparison, chooseBaseline(m_data->comparison, baselineRun()));
    recompute();
}

/// Whether there are groups to hold against one another; what is still under way may be of others, which were unticked meanwhile.
bool ComparePage::isComparable() const {
    const int baseline = m_bar->baseline(), groups = m_data ? static_cast<int>(m_data->comparison.groups.size()) : 0;
    return groups > 1 && baseline >= 0 && baseline < groups;
}

void ComparePage::recompute() {
    if (!isComparable()) return;
    m_stop.request_stop();
    m_stop = std::stop_source();
    ++m_generation;
    if ((compare_test_info(m_bar->test()).needs_examples || showsExamples()) && !m_examples)
        m_exampleQuery->ask();
    else
        compute();
}

/// Tests over examples and the picture of a data set need them.
void ComparePage::takeExamples(const Examples& examples) {
    if (!examples.of || !isComparable()) return;
    if (examples.of != m_data) return m_exampleQuery->ask();  // other runs are shown meanwhile
    m_examples = examples.scores;
    if (!m_view || compare_test_info(m_bar->test()).needs_examples || showsExamples()) compute();
    showSelectedSet();
}

void ComparePage::compute() {
    auto comparison = std::make_shared<Comparison>(m_data->comparison);
    comparison->baseline = static_cast<std::size_t>(m_bar->baseline());
    CompareChoice choice;
    choice.test = m_bar->test();
    choice.value = m_bar->value();
    choice.resampling.stop = m_stop.get_token();
    const int generation = m_generation;
    ++m_pending;
    m_slow->start();
    ProjectSession::background([comparison, choice, examples = m_examples] {
        return std::make_shared<const ComparisonView>(view_comparison(*comparison, examples ? *examples : ExampleScores{}, choice));
    })
        .then(this,
              [this, generation, comparison](const std::shared_ptr<const ComparisonView>& view) {
                  if (generation == m_generation) takeView(comparison, view);
                  finishOne();
              })
        .onFailed([this](const std::exception& error) {
            m_error->setMessage(QString::fromUtf8(error.what()));
            finishOne();
        });
}

void ComparePage::takeView(std::shared_ptr<const Comparison> comparison, std::shared_ptr<const ComparisonView> view) {
    m_comparison = std::move(comparison);
    m_view = std::move(view);
    m_viewOf = m_data;
    m_error->setMessage({});
    m_model->setView(m_comparison, m_view, m_colours);
    m_cards->show(m_comparison, m_view, m_colours);
    if (m_inspector) m_inspector->show(*m_data, *m_comparison, *m_view);
    say();
    showPublished();
    for (int row = 0; row < m_model->rowCount(); ++row)
        if (const ComparedRow* shown = m_model->row(row); shown->kind == ComparedRow::Kind::data_set && qs(shown->name) == m_selectedSet)
            m_table->selectRow(row);
    if (!m_selectedSet.isEmpty()) showSelectedSet();
    showView();
}

bool ComparePage::showsExamples() const { return m_viewChoice->currentIndex() == 1; }

void ComparePage::showView() {
    m_changed->setActive(showsExamples());
    if (!m_view) return;
    m_bar->actions()->setVisible(!showsExamples());
    m_subtitle->setVisible(!showsExamples());
    m_bar->setBaselineOnly(showsExamples());
    m_stack->setCurrentIndex(showsExamples() ? m_stack->indexOf(m_changed) : 1);
    if (showsExamples() && !m_examples) return m_exampleQuery->ask();
    if (showsExamples() && m_viewOf == m_data) m_changed->show(workspace().session()->folder(), m_comparison, m_examples);
}

void ComparePage::showPublished() {
    m_model->setPublished(m_bar->published());
    m_cards->setPublished(m_bar->published());
    fitTable();
}

void ComparePage::fitTable() {
    m_fittedWidth = m_table->width();
    m_table->fitColumns(widestName);
    for (int column = 0; column < CompareModel::firstGroup; ++column)  // stay in sight beside what is scrolled
        m_table->setColumnWidth(column, std::min(m_table->columnWidth(column), std::max(leastName, m_table->viewport()->width() / 3)));
    auto* delegate = static_cast<CompareDelegate*>(m_table->itemDelegate());
    delegate->measure(*m_model);
    const int rows = std::min(m_model->rowCount(), mostRows), columns = m_model->columnCount();
    const int groups = m_comparison ? static_cast<int>(m_comparison->groups.size()) : 0;
    int width = 0;
    // Where they do not fit beside one another, names have their short form, so that more of the groups are in sight.
    for (const int most : {220, 120}) {
        if (most != 220 && width <= m_table->viewport()->width()) break;
        for (int group = 0; group < groups; ++group) {
            const int column = CompareModel::firstGroup + group;
            const bool isBase = m_comparison->baseline == static_cast<std::size_t>(group);
            m_table->setColumnWidth(column, std::max(std::min(m_table->columnWidth(column), most), delegate->groupWidth(column, !isBase)));
        }
        width = 0;
        for (int column = 0; column < columns; ++column) width += m_table->columnWidth(column);
    }
    // What is left is shared by the numbers' columns, so that the table ends where the cards do.
    if (const int left = m_table->viewport()->width() - width; left > 0 && columns > CompareModel::firstGroup)
        for (int column = CompareModel::firstGroup; column < columns; ++column)
            m_table->setColumnWidth(column, m_table->columnWidth(column) + left / (columns - CompareModel::firstGroup));
    const int bar = width > m_table->width() ? m_table->horizontalScrollBar()->sizeHint().height() : 0;
    m_table->setFixedHeight(rows * m_table->verticalHeader()->defaultSectionSize() + m_table->horizontalHeader()->sizeHint().height() +
                            bar + 2);
}

/// Columns and the room for a scroll bar along the table follow its width, which the scroll bar beside it changes too.
bool ComparePage::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_table && event->type() == QEvent::Resize && m_table->width() != m_fittedWidth)
        QTimer::singleShot(0, this, [this] {
            if (m_view) fitTable();
        });
    return Page::eventFilter(watched, event);
}

void ComparePage::showSelectedSet() {
    const ComparedRow* row = m_model->row(m_table->currentIndex().row());
    if (row && row->kind == ComparedRow::Kind::data_set) m_selectedSet = qs(row->name);
    if (!m_selectedSet.isEmpty() && !m_examples && isComparable()) m_exampleQuery->ask();
    m_cards->showSet(m_selectedSet, m_viewOf == m_data ? m_examples.get() : nullptr);
}

void ComparePage::say() {
    std::size_t seeds = 0, sets = m_comparison->sets.size();
    for (const RunGroup& group : m_comparison->groups) seeds = std::max(seeds, group.runs.size());
    const auto count = [](std::size_t n, const QString& one, const QString& more) { return n == 1 ? one : more.arg(n); };
    QString text = tr("%1, %2, %3. Deltas against %4; %5.")
                       .arg(count(m_comparison->groups.size(), tr("1 group"), tr("%1 groups")), count(seeds, tr("1 seed"), tr("%1 seeds")),
                            count(sets, tr("1 data set"), tr("%1 data sets")),
                            withShortKeys(qs(m_comparison->groups[*m_comparison->baseline].name)), qs(m_view->test_sentence));
    if (!m_view->reasons.empty())
        text += tr(" No test on %1").arg(qs(m_view->reasons.front())) +
                (m_view->reasons.size() > 1 ? tr(" (and %1 more).").arg(m_view->reasons.size() - 1) : QStringLiteral("."));
    m_subtitle->setText(text);
}

void ComparePage::finishOne() {
    if (--m_pending > 0) return;
    m_slow->stop();
    m_busy->hide();
}

std::string ComparePage::exportText(ComparisonLayout layout, TableFormat format) const {
    return m_view ? export_comparison(*m_comparison, *m_view, m_bar->published(), layout, format) : std::string();
}

void ComparePage::exportTo(ComparisonLayout layout, TableFormat format) {
    const QString suffix = qs(table_format_names()[static_cast<std::size_t>(format)]);
    const QString ending = format == TableFormat::latex ? QStringLiteral("tex") : suffix;
    const std::string text = exportText(layout, format);
    if (text.empty()) return;
    auto* dialog = new QFileDialog(this, tr("Export the comparison"), {}, QStringLiteral("%1 (*.%2)").arg(suffix, ending));
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(ending);
    const QString experiment = workspace().experiment();
    dialog->selectFile(fileNameFrom(experiment.isEmpty() ? QStringLiteral("comparison") : experiment + QStringLiteral("-comparison")) +
                       QLatin1Char('.') + ending);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QFileDialog::fileSelected, this, [this, text](const QString& file) {
        ProjectSession::background([path = file.toStdString(), text] {
            write_file_atomic(path, text);
        }).then(this, [this, file] {
              workspace().say(tr("Wrote %1").arg(file));
          }).onFailed([this](const std::exception& error) { m_error->setMessage(QString::fromUtf8(error.what())); });
    });
    dialog->open();
}

QJsonObject ComparePage::state() const {
    return {{QStringLiteral("test"), qs(compare_test_info(m_bar->test()).name)},
            {QStringLiteral("value"), static_cast<int>(m_bar->value())},
            {QStringLiteral("published"), m_bar->publishedId()},
            {QStringLiteral("baselineRun"), qs(m_baselineRun)},
            {QStringLiteral("set"), m_selectedSet},
            {QStringLiteral("view"), m_viewChoice->currentIndex()},
            {QStringLiteral("examplesGroup"), m_changed->group()},
            {QStringLiteral("examplesSet"), m_changed->set()},
            {QStringLiteral("x"), m_cards->chosenA()},
            {QStringLiteral("y"), m_cards->chosenB()},
            {QStringLiteral("wishes"), m_wishes->state()}};
}

void ComparePage::restore(const QJsonObject& state) {
    m_baselineRun = state.value(QStringLiteral("baselineRun")).toString().toStdString();
    m_selectedSet = state.value(QStringLiteral("set")).toString();
    m_changed->choose(state.value(QStringLiteral("examplesGroup")).toString(), state.value(QStringLiteral("examplesSet")).toString());
    m_viewChoice->setCurrentIndex(std::clamp(state.value(QStringLiteral("view")).toInt(), 0, 1));
    m_cards->choosePair(state.value(QStringLiteral("x")).toString(), state.value(QStringLiteral("y")).toString());
    m_bar->restore(state.value(QStringLiteral("test")).toString(), state.value(QStringLiteral("value")).toInt(),
                   state.value(QStringLiteral("published")).toString());
    m_wishes->restore(state.value(QStringLiteral("wishes")).toObject());
}

}  // namespace faceter::desktop
