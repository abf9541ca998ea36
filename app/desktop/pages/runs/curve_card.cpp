#include "pages/runs/curve_card.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QStackedLayout>
#include <QVBoxLayout>

#include "figure/figure_view.h"
#include "widgets/labels.h"

namespace faceter::desktop {

CurveCard::CurveCard(Workspace& workspace, QWidget* parent)
    : QFrame(parent),
      m_workspace(workspace),
      m_title(headingLabel(QStringLiteral("loss"))),
      m_what(new ElidedLabel),
      m_choice(new QComboBox),
      m_none(secondaryLabel(tr("No curves yet: they appear when a run has logged its first steps."))),
      m_view(new FigureView) {
    setProperty("card", true);
    setObjectName(QStringLiteral("curveCard"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 8, 8, 4);
    layout->setSpacing(4);
    auto* head = new QHBoxLayout;
    head->setSpacing(8);
    m_what->setProperty("role", QStringLiteral("secondary"));
    static_cast<ElidedLabel*>(m_what)->setFullText(tr("mean and spread over seeds, by step"));
    m_choice->setObjectName(QStringLiteral("curveSeries"));
    m_choice->setAccessibleName(tr("Series to draw"));
    m_choice->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_choice->setMaximumWidth(220);
    head->addWidget(m_title);
    head->addWidget(m_what, 1);
    head->addWidget(m_choice);
    layout->addLayout(head);
    m_stack = new QStackedLayout;
    layout->addLayout(m_stack, 1);  // first: a stack without a parent shows its first widget as a window of its own
    m_none->setAlignment(Qt::AlignCenter);
    m_view->setTitleShown(false);
    m_view->setObjectName(QStringLiteral("runsCurves"));
    m_stack->addWidget(m_none);
    m_stack->addWidget(m_view);
    setMinimumHeight(120);
    connect(m_choice, &QComboBox::currentTextChanged, this, [this](const QString& name) {
        if (m_filling) return;
        m_wanted = name;
        ask();
    });
}

void CurveCard::show(const std::vector<CurveGroup>& groups, bool anew) {
    if (groups == m_groups && !anew) return;
    m_groups = groups;
    ask();
}

void CurveCard::ask() {
    if (m_asking) {
        m_again = true;
        return;
    }
    ProjectSession* session = m_workspace.session();
    if (!session) return;
    m_asking = true;
    session->query([groups = m_groups, wanted = m_wanted.toStdString()](Store& store) { return readCurves(store, groups, wanted); })
        .then(this, [this](const CurveAnswer& answer) { take(answer); })
        .onFailed([this](const std::exception& error) {
            m_asking = false;
            m_none->setText(QString::fromUtf8(error.what()));
            m_stack->setCurrentWidget(m_none);
        });
}

void CurveCard::take(const CurveAnswer& answer) {
    m_asking = false;
    if (std::exchange(m_again, false)) return ask();
    m_filling = true;
    QStringList names;
    for (const std::string& name : answer.names) names << qs(name);
    QStringList shown;
    for (int i = 0; i < m_choice->count(); ++i) shown << m_choice->itemText(i);
    if (names != shown) {
        m_choice->clear();
        m_choice->addItems(names);
    }
    m_choice->setCurrentText(qs(answer.series));
    m_choice->setVisible(names.size() > 1);
    m_filling = false;
    m_title->setText(qs(answer.series));
    m_stack->setCurrentWidget(answer.figure.series.empty() ? static_cast<QWidget*>(m_none) : m_view);
    if (!answer.figure.series.empty()) m_view->setFigure(answer.figure, true);
}

}  // namespace faceter::desktop
