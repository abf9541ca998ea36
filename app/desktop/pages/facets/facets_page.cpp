#include "pages/facets/facets_page.h"

#include <QDir>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QMenu>
#include <QSet>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <utility>

#include "compare/counted_run.h"
#include "figure/figure_view.h"
#include "pages/facets/density_card.h"
#include "pages/facets/matrix_view.h"
#include "pages/facets/pairs_view.h"
#include "pages/facets/plane_view.h"
#include "pages/facets/test_part.h"
#include "pages/facets/texts_view.h"
#include "widgets/labels.h"
#include "widgets/save_file.h"

namespace faceter::desktop {
namespace {

const PageRegistration registration{
    {QStringLiteral("facets"), QStringLiteral("Facets"), 5, true, [](Workspace& workspace) { return new FacetsPage(workspace); }}};

std::vector<FacetRequest> requestsOf(const Workspace& workspace) {
    std::vector<FacetRequest> requests;
    const RunsSnapshotPtr snapshot = workspace.runs();
    for (const RunGroupRef& group : workspace.shownGroups()) {
        const bool isStart = group.runs.front()->info.is_baseline();
        FacetRequest request{group.key.toStdString(), group.label.toStdString(), group.colour, isStart, {}, {}, {}};
        for (const RunRow* run : counting_first(group.runs)) {
            request.runs.push_back(run->info.id);
            request.names.push_back(run->info.shown_name());
            request.seeds.push_back(run->info.seed);
        }
        requests.push_back(std::move(request));
    }
    return requests;
}

}  // namespace

FacetsPage::FacetsPage(Workspace& workspace)
    : Page(workspace),
      m_bar(new FacetsBar),
      m_subtitle(wrappedSecondaryLabel()),
      m_stack(new QStackedWidget),
      m_pairs(new PairsView),
      m_matrix(new MatrixView),
      m_texts(new TextsView),
      m_empty(new EmptyState({}, {}, tr("Open the composer"))),
      m_loading(new QWidget),
      m_error(new ErrorBar),
      m_query(new StoreQuery<FacetsDataPtr>(
          workspace, this,
          [this] {
              return [requests = requestsOf(this->workspace())](Store& store) -> FacetsDataPtr {
                  return std::make_shared<FacetsData>(loadFacets(store, requests));
              };
          },
          [this](const FacetsDataPtr& data) { take(data); })),
      m_part(new TestPart(this)),
      m_data(std::make_shared<FacetsData>()),
      m_picture(std::make_shared<FacetsPicture>()) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(12);
    layout->addWidget(makeHead());
    layout->addWidget(m_error);
    for (QWidget* view : std::initializer_list<QWidget*>{m_pairs, m_matrix, m_texts, m_empty, m_loading}) m_stack->addWidget(view);
    layout->addWidget(m_stack, 1);
    auto* loading = new QVBoxLayout(m_loading);
    QLabel* loadingText = secondaryLabel(tr("Reading the runs' similarities…"));
    loadingText->hide();  // until it takes long
    loading->addWidget(loadingText, 0, Qt::AlignHCenter);
    loading->addStretch(1);
    m_part->hide();
    connect(m_query, &StoreQueryBase::late, loadingText, &QWidget::setVisible);
    connect(m_query, &StoreQueryBase::failed, this, [this](const QString& message) {
        if (message.isEmpty()) return;
        take(std::make_shared<FacetsData>());
        m_error->setMessage(message);
    });
    connect(m_empty, &EmptyState::clicked, this, [this] { this->workspace().requestPage(QStringLiteral("compose")); });
    connect(&workspace, &Workspace::shownChanged, m_query, &StoreQueryBase::ask);
    connect(&workspace, &Workspace::projectChanged, this, &FacetsPage::clear);
    connect(&workspace, &Workspace::baselineChanged, this, [this] {
        FacetsChoice choice = m_wanted;
        choice.baseline = this->workspace().baseline().toStdString();
        if (choice.baseline != m_choice.baseline && m_data->find(choice.baseline)) choose(choice);
    });
    clear();
    m_query->ask();
}

FacetsPage::~FacetsPage() = default;

QWidget* FacetsPage::makeHead() {
    auto* head = new QWidget;
    auto* layout = new QVBoxLayout(head);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    auto* top = new QHBoxLayout;
    top->addWidget(titleLabel(tr("Facets")), 1);
    top->addWidget(m_bar->actions());
    layout->addLayout(top);
    layout->addWidget(m_subtitle);
    layout->addSpacing(8);
    layout->addWidget(m_bar);
    connect(m_bar, &FacetsBar::baselineChosen, this, [this](const std::string& key) {
        FacetsChoice choice = m_wanted;
        std::replace(choice.compared.begin(), choice.compared.end(), key, m_choice.baseline);  // they change places
        choice.baseline = key;
        choose(choice);
        workspace().setBaseline(qs(key));
    });
    connect(m_bar, &FacetsBar::comparedChosen, this, [this](const std::vector<std::string>& keys) {
        FacetsChoice choice = m_wanted;
        choice.compared = keys;
        choose(choice);
    });
    connect(m_bar, &FacetsBar::textsChosen, this, [this](const std::string& key) {
        FacetsChoice choice = m_wanted;
        choice.texts = key;
        choose(choice);
    });
    connect(m_bar, &FacetsBar::testChosen, this, &FacetsPage::showTest);
    connect(m_bar, &FacetsBar::viewChosen, this, &FacetsPage::showView);
    connect(m_bar->exportMenu(), &QMenu::aboutToShow, this, &FacetsPage::fillExportMenu);
    connect(m_part, &TestPart::testWanted, m_bar, &FacetsBar::setTest);
    return head;
}

/// Another project's similarities must not stand under this one's name.
void FacetsPage::clear() {
    m_done = ++m_asked;
    m_data = std::make_shared<FacetsData>();
    m_error->setMessage({});
    showPicture(std::make_shared<const FacetsPicture>());
    m_stack->setCurrentWidget(m_loading);
}

void FacetsPage::take(FacetsDataPtr data) {
    // What stood here is let go beside the interface, too: similarities of thousands of runs take their time.
    ProjectSession::background([old = std::exchange(m_data, std::move(data))] {});
    QStringList problems;
    for (const std::string& problem : m_data->problems) problems << qs(problem);
    m_error->setMessage(problems.join(QLatin1Char('\n')));
    choose(m_wanted);
}

/// What a person chose is found again when its runs are; what nobody chose is not kept as if somebody had.
void FacetsPage::choose(const FacetsChoice& wanted) {
    m_wanted = wanted;
    FacetsChoice choice = wanted;
    if (choice.baseline.empty()) choice.baseline = workspace().baseline().toStdString();
    m_choice = complete(*m_data, choice);
    draw();
}

/// Statistics and densities of thousands of texts take their time: beside the interface.
void FacetsPage::draw() {
    const int ask = ++m_asked;
    m_bar->setData(*m_data, m_choice);
    ProjectSession::background([data = m_data, choice = m_choice]() -> std::shared_ptr<const FacetsPicture> {
        return std::make_shared<const FacetsPicture>(drawFacets(*data, choice));
    })
        .then(this,
              [this, ask](const std::shared_ptr<const FacetsPicture>& picture) {
                  if (ask == m_asked) showPicture(picture);
              })
        .onFailed([this, ask](const std::exception& error) {
            if (ask != m_asked) return;
            showPicture(std::make_shared<const FacetsPicture>());
            m_error->setMessage(QString::fromUtf8(error.what()));
        });
}

void FacetsPage::showPicture(std::shared_ptr<const FacetsPicture> picture) {
    m_picture = std::move(picture);
    m_bar->setVisible(!m_picture->groups.empty());
    m_bar->actions()->setVisible(!m_picture->groups.empty());
    if (m_picture->groups.empty()) {
        m_subtitle->setText(tr("Cosine similarity of the same texts under two instructions."));
        showEmpty();
    } else {
        m_subtitle->setText(tr("Cosine similarity of the same %1 texts under two instructions; the lower, the further apart the tasks.")
                                .arg(m_picture->groups.front().set.num_texts()));
        m_pairs->setPicture(*m_picture);
        m_matrixIsOld = m_textsAreOld = true;
        showView();
    }
    showTest();
    m_done = m_asked;
}

void FacetsPage::showTest() {
    m_pairs->setTest(*m_picture, m_bar->test());
    m_part->setPicture(*m_picture, m_bar->test());
}

void FacetsPage::showView() {
    if (m_picture->groups.empty()) return;
    const FacetsBar::View view = m_bar->view();
    if (view == FacetsBar::View::matrix && std::exchange(m_matrixIsOld, false)) m_matrix->setPicture(*m_picture);
    if (view == FacetsBar::View::texts && std::exchange(m_textsAreOld, false)) m_texts->setPicture(*m_picture);
    m_stack->setCurrentWidget(view == FacetsBar::View::pairs    ? static_cast<QWidget*>(m_pairs)
                              : view == FacetsBar::View::matrix ? static_cast<QWidget*>(m_matrix)
                                                                : m_texts);
}

void FacetsPage::showEmpty() {
    const bool any = !workspace().shownGroups().empty();
    m_empty->setText(
        any ? tr("No run has inter-task similarities yet") : tr("No run is shown"),
        any ? tr("How far apart each run holds its tasks would be here: densities, means and tests for every two tasks. Add this to the "
                 "experiment, "
                 "and run it:\n\nanalyses:\n  - {method: inter_task_similarity, texts: {source: debian, view: descriptions, count: 128}}")
            : tr("Tick runs in the navigator, or start an experiment that has the analysis inter_task_similarity."));
    m_stack->setCurrentWidget(m_empty);
}

QWidget* FacetsPage::inspector() { return m_part; }

void FacetsPage::fillExportMenu() {
    QMenu* menu = m_bar->exportMenu();
    menu->clear();
    QMenu* figures = menu->addMenu(tr("All figures into a folder"));
    for (const ExportFormat format : {ExportFormat::pdf, ExportFormat::svg, ExportFormat::png, ExportFormat::csv}) {
        const QString suffix = exportSuffix(format);
        QAction* action = figures->addAction(tr("as %1…").arg(suffix.toUpper()), this, [this, suffix] { exportAllFigures(suffix); });
        action->setObjectName(QStringLiteral("exportAll_") + suffix);
    }
    if (m_picture->comparisons.empty()) return;
    menu->addSeparator();
    addTableExports(menu, this, QStringLiteral("inter_task_similarity"), [picture = m_picture](TableFormat format) {
        return QByteArray::fromStdString(export_similarity(picture->comparisons, format));
    });
}

/// With the names of their files.
std::vector<std::pair<FigureView*, QString>> FacetsPage::figuresInFront() const {
    std::vector<std::pair<FigureView*, QString>> views;
    const FacetsBar::View view = m_bar->view();
    const auto add = [&](FigureView* figure, const QString& of) {
        const QString name = qs(figure->figure().name);
        views.emplace_back(figure, of.isEmpty() ? name : name + QLatin1Char('-') + of);
    };
    if (view == FacetsBar::View::pairs)
        for (const DensityCard* card : m_pairs->cards()) add(card->figure(), {});
    std::size_t matrix = 0, plane = 0;
    for (std::size_t i = 0; i < m_picture->groups.size(); ++i) {
        const QString of = qs(m_picture->groups[i].name);
        if (view == FacetsBar::View::matrix) add(m_matrix->views()[matrix++], of);
        if (view == FacetsBar::View::texts && m_picture->planes[i]) add(m_texts->planes()[plane++], of);
    }
    return views;
}

/// The figures of the view in front, each under its name, as light as a paper wants them.
void FacetsPage::exportAllFigures(const QString& suffix) {
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Export all figures into a folder"), {}, QFileDialog::ShowDirsOnly);
    if (folder.isEmpty()) return;
    const std::vector<std::pair<FigureView*, QString>> views = figuresInFront();
    try {
        for (const auto& [view, name] : views) {
            const QString file = freeFile(QDir(folder), fileNameFrom(name), suffix);
            for (const ExportFormat format : {ExportFormat::pdf, ExportFormat::svg, ExportFormat::png, ExportFormat::csv})
                if (exportSuffix(format) == suffix) view->exportTo(file, format);
        }
        workspace().say(tr("%1 figures written into %2").arg(views.size()).arg(folder));
    } catch (const std::exception& error) {
        m_error->setMessage(QString::fromUtf8(error.what()));
    }
}

QJsonObject FacetsPage::state() const {
    QJsonArray compared;
    for (const std::string& key : m_wanted.compared) compared.append(qs(key));
    return {{QStringLiteral("baseline"), qs(m_wanted.baseline)},
            {QStringLiteral("compared"), compared},
            {QStringLiteral("texts"), qs(m_wanted.texts)},
            {QStringLiteral("test"), static_cast<int>(m_bar->test())},
            {QStringLiteral("view"), static_cast<int>(m_bar->view())}};
}

void FacetsPage::restore(const QJsonObject& state) {
    FacetsChoice choice;
    choice.baseline = state.value(QStringLiteral("baseline")).toString().toStdString();
    choice.texts = state.value(QStringLiteral("texts")).toString().toStdString();
    for (const QJsonValue& key : state.value(QStringLiteral("compared")).toArray()) choice.compared.push_back(key.toString().toStdString());
    m_bar->setTest(static_cast<SimilarityTestKind>(std::clamp(state.value(QStringLiteral("test")).toInt(), 0, 2)));
    m_bar->setView(static_cast<FacetsBar::View>(std::clamp(state.value(QStringLiteral("view")).toInt(), 0, 2)));
    if (m_data->groups.empty())
        m_wanted = choice;  // until the data comes
    else
        choose(choice);
}

}  // namespace faceter::desktop
