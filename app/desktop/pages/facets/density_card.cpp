#include "pages/facets/density_card.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "figure/figure_view.h"
#include "project/runs_snapshot.h"
#include "theme/theme.h"
#include "widgets/labels.h"

namespace faceter::desktop {
namespace {
constexpr int plotHeight = 116;
}

DensityCard::DensityCard(QWidget* parent) : QFrame(parent), m_title(new ElidedLabel), m_p(secondaryLabel()), m_figure(new FigureView) {
    setProperty("card", true);
    setObjectName(QStringLiteral("densityCard"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(2, 8, 2, 2);
    layout->setSpacing(0);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(10, 0, 10, 0);
    head->setSpacing(8);
    m_title->setProperty("role", QStringLiteral("heading"));
    head->addWidget(m_title, 1);
    m_p->setFont(Theme::tableFont());
    m_p->setObjectName(QStringLiteral("densityCardP"));
    head->addWidget(m_p);
    layout->addLayout(head);
    m_figure->setTitleShown(false);
    m_figure->setNotesShown(false);
    m_figure->setCompact(true);
    m_figure->setFixedHeight(plotHeight);
    layout->addWidget(m_figure);
}

void DensityCard::setFigure(const Figure& figure) {
    m_title->setFullText(qs(figure.title));
    m_figure->setFigure(figure);
}

void DensityCard::setTest(const QString& p, const QString& exact) {
    m_p->setText(p);
    m_p->setToolTip(exact.toHtmlEscaped().replace(QLatin1Char('\n'), QLatin1String("<br>")));
    setAccessibleName(m_title->fullText() + QStringLiteral(", ") + p);
}

QString DensityCard::p() const { return m_p->text(); }

}  // namespace faceter::desktop
