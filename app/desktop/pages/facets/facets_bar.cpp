#include "pages/facets/facets_bar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QSignalBlocker>

#include "project/runs_snapshot.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/as_written.h"
#include "widgets/colour_dot.h"
#include "widgets/flow_layout.h"
#include "widgets/name_box.h"

namespace faceter::desktop {
namespace {

QVariant keyData(const std::string& key) { return qs(key); }

void choose(QComboBox* box, const std::string& key) { box->setCurrentIndex(std::max(0, box->findData(keyData(key)))); }

}  // namespace

QComboBox* FacetsBar::makeBox(const char* name, const QString& accessible, int widest) {
    auto* box = new NameBox(this);
    box->setObjectName(QLatin1String(name));
    box->setAccessibleName(accessible);
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    box->setMaximumWidth(widest);
    box->setToolTip(accessible);
    return box;
}

FacetsBar::FacetsBar(QWidget* parent)
    : QWidget(parent),
      m_actions(new QWidget),
      m_baseline(makeBox("facetsBaseline", tr("Baseline: the runs that the others are compared with"), 230)),
      m_second(makeBox("facetsSecond", tr("The runs that are compared with the baseline"), 210)),
      m_texts(makeBox("facetsTexts", tr("The texts that the analysis embedded"), 230)),
      m_test(makeBox("facetsTest", tr("The test behind p and stars"), 190)),
      m_view(makeBox("facetsView", tr("View"), 170)),
      m_more(new QPushButton(tr("+ run"))),
      m_export(new QPushButton(tr("Export"))),
      m_moreMenu(new QMenu(this)),
      m_exportMenu(new QMenu(this)) {
    auto* layout = new FlowLayout(this);
    for (const SimilarityTestKind kind : {SimilarityTestKind::paired, SimilarityTestKind::welch, SimilarityTestKind::welch_two_sided})
        m_test->addItem(qs(similarity_test_name(kind)).replace(0, 1, qs(similarity_test_name(kind)).left(1).toUpper()),
                        static_cast<int>(kind));
    m_view->addItems({tr("Densities"), tr("Matrix"), tr("Texts in 2-D")});
    m_more->setMenu(m_moreMenu);
    m_more->setObjectName(QStringLiteral("facetsMore"));
    m_more->setAccessibleName(tr("Further runs"));
    m_export->setMenu(m_exportMenu);
    m_export->setObjectName(QStringLiteral("facetsExport"));
    for (QWidget* widget : std::initializer_list<QWidget*>{m_baseline, m_second, m_more, m_texts, m_test}) layout->addWidget(widget);
    auto* actions = new QHBoxLayout(m_actions);
    actions->setContentsMargins(0, 0, 0, 0);
    actions->setSpacing(8);
    actions->addWidget(m_view);
    actions->addWidget(m_export);
    connect(m_baseline, &QComboBox::activated, this, [this] { Q_EMIT baselineChosen(m_baseline->currentData().toString().toStdString()); });
    connect(m_second, &QComboBox::activated, this, [this] {
        std::vector<std::string> keys = m_choice.compared;
        const std::string key = m_second->currentData().toString().toStdString();
        std::erase(keys, key);
        if (keys.empty() || keys.size() < m_choice.compared.size())
            keys.insert(keys.begin(), key);
        else
            keys.front() = key;
        Q_EMIT comparedChosen(keys);
    });
    connect(m_texts, &QComboBox::activated, this, [this] { Q_EMIT textsChosen(m_texts->currentData().toString().toStdString()); });
    connect(m_test, &QComboBox::currentIndexChanged, this, &FacetsBar::testChosen);
    connect(m_view, &QComboBox::currentIndexChanged, this, &FacetsBar::viewChosen);
    connect(m_moreMenu, &QMenu::aboutToShow, this, &FacetsBar::fillMore);
}

void FacetsBar::setData(const FacetsData& data, const FacetsChoice& choice) {
    m_choice = choice;
    m_groups.clear();
    const QSignalBlocker blockers[] = {QSignalBlocker(m_baseline), QSignalBlocker(m_second), QSignalBlocker(m_texts)};
    m_baseline->clear();
    m_second->clear();
    m_texts->clear();
    for (const FacetTexts& texts : data.texts) m_texts->addItem(qs(texts.label), keyData(texts.key));
    choose(m_texts, choice.texts);
    for (const FacetGroup& group : data.groups) {
        m_groups.emplace_back(group.request, group.has(choice.texts));
        if (!group.has(choice.texts)) continue;
        const std::string& key = group.request.key;
        m_baseline->addItem(dotIcon(group.request.colour),
                            key == choice.baseline ? tr("%1 (baseline)").arg(qs(group.request.label)) : qs(group.request.label),
                            keyData(key));
        if (key != choice.baseline) m_second->addItem(dotIcon(group.request.colour), qs(group.request.label), keyData(key));
    }
    choose(m_baseline, choice.baseline);
    if (!choice.compared.empty()) choose(m_second, choice.compared.front());
    m_second->setVisible(m_second->count() > 0);
    m_more->setVisible(m_second->count() > 1);
    m_more->setText(choice.compared.size() < 2    ? tr("+ run")
                    : choice.compared.size() == 2 ? tr("+ 1 run")
                                                  : tr("+ %1 runs").arg(choice.compared.size() - 1));
}

/// All but the baseline; the second group stays ticked.
void FacetsBar::fillMore() {
    m_moreMenu->clear();
    for (const auto& [request, hasTexts] : m_groups) {
        if (!hasTexts || request.key == m_choice.baseline) continue;
        QAction* action = m_moreMenu->addAction(asWritten(qs(request.label)));  // an icon would cover the tick
        action->setCheckable(true);
        const bool shown = std::find(m_choice.compared.begin(), m_choice.compared.end(), request.key) != m_choice.compared.end();
        action->setChecked(shown);
        action->setEnabled(!shown || m_choice.compared.size() > 1);
        connect(action, &QAction::triggered, this, [this, key = request.key](bool on) {
            std::vector<std::string> keys = m_choice.compared;
            std::erase(keys, key);
            if (on) keys.push_back(key);
            Q_EMIT comparedChosen(keys);
        });
    }
}

void FacetsBar::setTest(SimilarityTestKind kind) { m_test->setCurrentIndex(std::max(0, m_test->findData(static_cast<int>(kind)))); }
SimilarityTestKind FacetsBar::test() const { return static_cast<SimilarityTestKind>(m_test->currentData().toInt()); }
void FacetsBar::setView(View view) { m_view->setCurrentIndex(static_cast<int>(view)); }
FacetsBar::View FacetsBar::view() const { return static_cast<View>(std::clamp(m_view->currentIndex(), 0, 2)); }

}  // namespace faceter::desktop
