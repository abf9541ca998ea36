#include "pages/runs/curve_card.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QStackedLayout>
#include <QVBoxLayout>
#include <utility>

#include "curves/save_points.h"
#include "figure/figure_view.h"
#include "widgets/labels.h"

namespace faceter::desktop {
namespace {

QString titleOf(const std::string& series) { return series == loss_by_task ? CurveCard::tr("loss by task") : qs(series); }

}  // namespace

CurveCard::CurveCard(Workspace& workspace, QWidget* parent)
    : QFrame(parent),
      m_query(new StoreQuery<CurveAnswer>(
          workspace, this,
          [this] {
              return [groups = m_groups, wanted = m_wanted.toStdString()](Store& store) { return readCurves(store, groups, wanted); };
          },
          [this](const CurveAnswer& answer) { take(answer); })),
      m_title(headingLabel(QStringLiteral("loss"))),
      m_what(new ElidedLabel),
      m_choice(new QComboBox),
      m_none(secondaryLabel()),
      m_view(new FigureView) {
    setProperty("card", true);
    setObjectName(QStringLiteral("curveCard"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 8, 8, 4);
    layout->setSpacing(4);
    auto* head = new QHBoxLayout;
    head->setSpacing(8);
    m_what->setProperty("role", QStringLiteral("secondary"));
    m_what->setObjectName(QStringLiteral("curveWhat"));
    m_what->setFullText(tr("mean and spread over seeds, by step"));
    m_choice->setObjectName(QStringLiteral("curveSeries"));
    m_choice->setAccessibleName(tr("Series to draw"));
    m_choice->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_choice->setMaximumWidth(220);
    m_choice->hide();
    head->addWidget(m_title);
    head->addWidget(m_what, 1);
    head->addWidget(m_choice);
    layout->addLayout(head);
    m_stack = new QStackedLayout;
    layout->addLayout(m_stack, 1);  // first: a stack without a parent shows its first widget as a window of its own
    m_none->setAlignment(Qt::AlignCenter);
    m_none->setWordWrap(true);
    m_view->setTitleShown(false);
    m_view->setCsvWriter([this, &workspace](const QString& path) {
        CurveRequest request;
        request.series = m_drawn;
        request.groups = m_groups;
        savePoints(workspace, this, request, path);
    });
    m_view->setObjectName(QStringLiteral("runsCurves"));
    m_stack->addWidget(m_none);
    m_stack->addWidget(m_view);
    setMinimumHeight(120);
    connect(m_choice, &QComboBox::currentIndexChanged, this, [this] {
        if (m_filling) return;
        m_wanted = m_choice->currentData().toString();
        m_query->ask();
    });
    connect(m_query, &StoreQueryBase::failed, this, [this](const QString& message) {
        if (!message.isEmpty()) say(message);
    });
}

void CurveCard::show(const std::vector<CurveGroup>& groups, bool anew, bool all) {
    const QString what = tr("mean and spread over seeds, by step");
    m_what->setFullText(all ? what : what + tr(" · the first %1").arg(groups.size()));
    if (groups == m_groups && !anew && m_asked) return;
    m_groups = groups;
    m_asked = true;
    m_query->ask();
}

void CurveCard::clear() {
    m_groups.clear();
    m_asked = false;
    m_shown.clear();
    m_choice->hide();
    say(tr("No run is shown."));
}

void CurveCard::say(const QString& text) {
    m_none->setText(text);
    m_stack->setCurrentWidget(m_none);
}

void CurveCard::take(const CurveAnswer& answer) {
    m_filling = true;
    QStringList names;
    for (const std::string& name : answer.names) names << qs(name);
    QStringList shown;
    for (int i = 0; i < m_choice->count(); ++i) shown << m_choice->itemData(i).toString();
    if (names != shown) {
        m_choice->clear();
        for (const std::string& name : answer.names) m_choice->addItem(titleOf(name), qs(name));
    }
    m_choice->setCurrentIndex(m_choice->findData(qs(answer.series)));
    m_choice->setVisible(names.size() > 1);
    m_filling = false;
    m_drawn = answer.drawn;
    const bool all = answer.series != loss_by_task || answer.drawn.size() == answer.numTasks;
    m_title->setText(all ? titleOf(answer.series) : tr("loss of the first %1 of %2 tasks").arg(answer.drawn.size()).arg(answer.numTasks));
    if (answer.figure.series.empty())
        return say(tr("The runs that are shown have logged no steps: a run that trains does so from its first one, a start model never."));
    m_stack->setCurrentWidget(m_view);
    m_view->setFigure(answer.figure, true);
    if (std::exchange(m_shown, answer.series) != answer.series) m_view->resetView();  // a zoom is of one series
}

}  // namespace faceter::desktop
