#include "pages/compare/examples_view.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPointer>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include "pages/compare/examples_model.h"
#include "project/runs_snapshot.h"
#include "widgets/data_table.h"
#include "widgets/flow_layout.h"
#include "widgets/labels.h"
#include "widgets/name_box.h"
#include "widgets/save_file.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

constexpr int widest_name = 200;

QComboBox* choices(const QString& name, const QString& accessible) {
    auto* combo = new NameBox;
    combo->setObjectName(name);
    combo->setAccessibleName(accessible);
    combo->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    return combo;
}

ExampleTexts textsOf(const Json& answer) {
    ExampleTexts texts;
    texts.problem = json_or<std::string>(answer, "problem", "", "example_texts");
    for (const Json& one : answer.at("texts")) texts.texts.push_back({one.at(0).get<std::string>(), one.at(1).get<std::string>()});
    return texts;
}

}  // namespace

ExamplesView::ExamplesView(QWidget* parent)
    : QWidget(parent),
      m_model(new ExamplesModel(this)),
      m_table(new DataTable),
      m_group(choices(QStringLiteral("examplesGroup"), tr("Group that is compared with the baseline"))),
      m_set(choices(QStringLiteral("examplesSet"), tr("Data set"))),
      m_direction(choices(QStringLiteral("examplesDirection"), tr("Which changes"))),
      m_least(new QDoubleSpinBox),
      m_find(new QLineEdit),
      m_summary(secondaryLabel()),
      m_status(secondaryLabel()),
      m_heading(headingLabel(QString())),
      m_text(new QPlainTextEdit),
      m_error(new ErrorBar) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    layout->addWidget(makeBar());
    m_summary->setObjectName(QStringLiteral("examplesSummary"));
    m_summary->setWordWrap(true);
    m_status->setObjectName(QStringLiteral("examplesStatus"));
    m_status->setWordWrap(true);
    layout->addWidget(m_summary);
    layout->addWidget(m_status);
    layout->addWidget(m_error);
    m_table->setModel(m_model);
    m_table->setObjectName(QStringLiteral("examplesTable"));
    m_table->setAccessibleName(tr("Examples that changed"));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(ExamplesModel::difference, Qt::DescendingOrder);
    auto* split = new QSplitter(Qt::Vertical);
    split->setHandleWidth(1);
    split->addWidget(m_table);
    split->addWidget(makeDetail());
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 1);
    split->setChildrenCollapsible(false);
    layout->addWidget(split, 1);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &ExamplesView::showCurrent);
    connect(m_model, &QAbstractItemModel::modelReset, this, &ExamplesView::showCurrent);
    connect(m_model, &QAbstractItemModel::dataChanged, this, &ExamplesView::showCurrent);
}

ExamplesView::~ExamplesView() { endAsking(); }

QWidget* ExamplesView::makeBar() {
    auto* bar = new QWidget;
    auto* layout = new FlowLayout(bar);
    m_direction->addItems({tr("gains and losses"), tr("gains"), tr("losses")});
    m_least->setObjectName(QStringLiteral("examplesLeast"));
    m_least->setAccessibleName(tr("Smallest difference that is shown"));
    m_least->setLocale(QLocale::c());  // numbers have a point everywhere here
    m_least->setRange(0, 100);
    m_least->setPrefix(QStringLiteral("≥ "));
    m_least->setSuffix(tr(" points"));
    m_least->setDecimals(1);
    m_find->setObjectName(QStringLiteral("examplesFind"));
    m_find->setAccessibleName(tr("Find in the texts"));
    m_find->setPlaceholderText(tr("find in the texts"));
    m_find->setClearButtonEnabled(true);
    auto* exports = new QToolButton;
    exports->setText(tr("Export"));
    exports->setObjectName(QStringLiteral("examplesExport"));
    exports->setPopupMode(QToolButton::InstantPopup);
    exports->setFocusPolicy(Qt::StrongFocus);
    exports->setMenu(new QMenu(exports));
    connect(exports->menu(), &QMenu::aboutToShow, this, [this, exports] { fillExportMenu(exports->menu()); });
    for (QWidget* widget : std::initializer_list<QWidget*>{m_group, m_set, m_direction, m_least, m_find, exports})
        layout->addWidget(widget);
    connect(m_group, &QComboBox::currentIndexChanged, this, &ExamplesView::compare);
    connect(m_set, &QComboBox::currentIndexChanged, this, &ExamplesView::compare);
    connect(m_direction, &QComboBox::currentIndexChanged, this, &ExamplesView::filter);
    connect(m_least, &QDoubleSpinBox::valueChanged, this, &ExamplesView::filter);
    connect(m_find, &QLineEdit::textChanged, this, &ExamplesView::filter);
    return bar;
}

QWidget* ExamplesView::makeDetail() {
    auto* detail = new QWidget;
    auto* layout = new QVBoxLayout(detail);
    layout->setContentsMargins(0, 8, 0, 0);
    layout->setSpacing(4);
    m_text->setObjectName(QStringLiteral("examplesText"));
    m_text->setAccessibleName(tr("The chosen example"));
    m_text->setReadOnly(true);
    m_text->setTabChangesFocus(true);
    layout->addWidget(m_heading);
    layout->addWidget(m_text, 1);
    return detail;
}

QString ExamplesView::group() const { return m_group->count() > 0 ? m_group->currentText() : m_wantedGroup; }
QString ExamplesView::set() const { return m_set->count() > 0 ? m_set->currentData().toString() : m_wantedSet; }

void ExamplesView::choose(const QString& group, const QString& set) {
    m_wantedGroup = group;
    m_wantedSet = set;
    fillBoxes();
    compare();
}

void ExamplesView::setActive(bool active) {
    m_active = active;
    active ? askNextTexts() : endAsking();
}

void ExamplesView::show(const std::filesystem::path& project, std::shared_ptr<const Comparison> comparison,
                        std::shared_ptr<const ExampleScores> scores) {
    m_wantedGroup = group();
    m_wantedSet = set();
    if (project != m_project) m_read = {};
    m_project = project;
    m_comparison = std::move(comparison);
    m_scores = std::move(scores);
    fillBoxes();
    compare();
}

void ExamplesView::fillBoxes() {
    const QSignalBlocker quietGroups(m_group), quietSets(m_set);
    m_group->clear();
    m_set->clear();
    if (!m_comparison || !m_comparison->baseline) return;
    for (std::size_t i = 0; i < m_comparison->groups.size(); ++i)
        if (i != *m_comparison->baseline) m_group->addItem(qs(m_comparison->groups[i].name), static_cast<int>(i));
    m_set->addItem(tr("all data sets"), QString());
    for (const ComparedSet& set : m_comparison->sets) m_set->addItem(qs(set.name), qs(set.name));
    // The last group is what a user made last.
    const int wanted = m_group->findText(m_wantedGroup), set = m_set->findData(m_wantedSet);
    m_group->setCurrentIndex(wanted >= 0 ? wanted : m_group->count() - 1);
    m_set->setCurrentIndex(std::max(0, set));
}

void ExamplesView::compare() {
    endAsking();
    m_error->setMessage({});
    if (!m_comparison || !m_comparison->baseline || !m_scores || m_group->currentIndex() < 0) {
        m_model->setChanges({});
        return say();
    }
    m_model->setChanges(example_changes(*m_comparison, *m_scores, *m_comparison->baseline,
                                        static_cast<std::size_t>(m_group->currentData().toInt()), set().toStdString()),
                        sources());
    fitColumns();
    filter();
    askNextTexts();
}

/// The texts share what the numbers leave; they come later than these.
void ExamplesView::fitColumns() {
    QHeaderView* header = m_table->horizontalHeader();
    header->setStretchLastSection(false);
    m_table->fitColumns(widest_name);
    for (const int column : {ExamplesModel::text, ExamplesModel::wanted}) header->setSectionResizeMode(column, QHeaderView::Stretch);
}

void ExamplesView::filter() {
    m_model->setFilter({static_cast<ChangeDirection>(m_direction->currentIndex()), std::max(ChangeFilter{}.at_least, m_least->value()),
                        m_find->text().trimmed().toStdString()});
    goOnReading();
    say();
}

/// At the example that was chosen, where it is shown still; else at the first.
void ExamplesView::goOnReading() {
    if (m_model->rowCount() == 0 || m_table->currentIndex().isValid()) return;
    m_table->setCurrentIndex(m_model->index(std::max(0, m_model->rowOf(m_read.first, m_read.second)), 0));
}

void ExamplesView::say() {
    std::int64_t gained = 0, lost = 0, same = 0;
    for (const ExampleChange& change : m_model->changes().changes)
        ++(change.difference() > 0 ? gained : change.difference() < 0 ? lost : same);
    QStringList notes;
    for (const std::string& note : m_model->changes().notes) notes << qs(note);
    const bool any = gained + lost + same > 0;
    m_summary->setText(any ? tr("%1 against %2: %3 examples gained, %4 lost, %5 stayed the same; %6 shown. Scores are means over seeds.")
                                 .arg(qs(m_model->changes().after), qs(m_model->changes().before), countText(gained), countText(lost),
                                      countText(same), countText(m_model->rowCount()))
                           : tr("Scores of single examples of two groups stand here, once both have any."));
    if (!m_asking) m_status->setText(notes.join(QLatin1Char(' ')));
    m_status->setVisible(!m_status->text().isEmpty());
}

void ExamplesView::showCurrent() {
    const int row = m_table->currentIndex().row();
    if (row < 0 || row >= m_model->rowCount()) {
        m_heading->clear();
        return m_text->clear();
    }
    const ExampleChange& change = m_model->change(row);
    m_read = {change.set, change.example};
    m_heading->setText(tr("%1, example %2: %3 → %4")
                           .arg(qs(change.set), countText(static_cast<std::int64_t>(change.example + 1)), scoreText(change.before),
                                scoreText(change.after)));
    const ScoredText* text = m_model->scored(row);
    const ExampleTexts* all = m_model->textsOf(qs(change.set));
    const QString words = !text                  ? (all ? qs(all->problem) : tr("The text has not been read yet."))
                          : text->wanted.empty() ? qs(text->text)
                                                 : tr("%1\n\nwanted: %2").arg(qs(text->text), qs(text->wanted));
    if (words != m_text->toPlainText()) m_text->setPlainText(words);
}

/// Of the run whose scores stand for the chosen group's texts.
std::string ExamplesView::runFolder() const {
    const auto group = static_cast<std::size_t>(m_group->currentData().toInt());
    return (m_project / "runs" / m_comparison->groups[group].runs.front().info.id).string();
}

/// Of each data set: the run that names it, and the data that it was scored on.
std::map<std::string, std::string> ExamplesView::sources() const {
    std::map<std::string, std::string> all;
    for (const auto& [set, scores] : m_scores->groups[static_cast<std::size_t>(m_group->currentData().toInt())])
        all[set] = runFolder() + '\n' + scores.fingerprint;
    return all;
}

/// One data set after the other, those of the largest differences first.
void ExamplesView::askNextTexts() {
    if (!m_active || m_asking || !m_comparison) return;
    QString next;
    for (const ExampleChange& change : m_model->changes().changes)
        if (!m_model->textsOf(qs(change.set))) {
            next = qs(change.set);
            break;
        }
    if (next.isEmpty()) return say();
    m_asking = true;
    m_status->setText(tr("reading the texts of %1 …").arg(next));
    m_status->show();
    m_call = WorkerClient::shared().request(QStringLiteral("example_texts"), {{"run", runFolder()}, {"set", next.toStdString()}});
    m_call
        .then(this,
              [this, next](const WorkerAnswer& answer) {
                  m_asking = false;
                  m_status->clear();
                  m_model->setTexts(next, textsOf(*answer));
                  goOnReading();
                  askNextTexts();
              })
        .onCanceled(this, [] {})
        .onFailed(this, [this, next](const std::exception& error) {
            m_asking = false;
            m_status->clear();
            m_model->setTexts(next, {{}, error.what()});
            goOnReading();
            m_error->setMessage(QString::fromUtf8(error.what()));
            askNextTexts();
        });
}

void ExamplesView::endAsking() {
    if (!m_asking) return;
    m_asking = false;
    m_status->clear();
    m_call.cancel();
}

void ExamplesView::fillExportMenu(QMenu* menu) {
    menu->clear();
    addTableExports(menu, this, QStringLiteral("examples"),
                    [this](TableFormat format) { return QByteArray::fromStdString(export_table(m_model->table(), format)); });
}

}  // namespace faceter::desktop
