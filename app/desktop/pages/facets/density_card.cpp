#include "pages/facets/density_card.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "figure/figure_view.h"
#include "project/runs_snapshot.h"
#include "theme/theme.h"
#include "widgets/labels.h"

namespace faceter::desktop {
namespace {
constexpr int plotHeight = 116, side = 8, gap = 6;
}

DensityCard::DensityCard(QWidget* parent) : QFrame(parent), m_title(new ElidedLabel), m_p(secondaryLabel()), m_figure(new FigureView) {
    setProperty("card", true);
    setObjectName(QStringLiteral("densityCard"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(2, 8, 2, 2);
    layout->setSpacing(0);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(side, 0, side, 0);
    head->setSpacing(gap);
    QFont name = Theme::tableFont();
    name.setWeight(QFont::DemiBold);
    m_title->setFont(name);
    head->addWidget(m_title, 1);
    m_p->setFont(Theme::plotFont());
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

int DensityCard::wantedWidth() const {
    const int corner = QFontMetrics(m_p->font()).horizontalAdvance(QStringLiteral("p < 0.001"));
    return QFontMetrics(m_title->font()).horizontalAdvance(m_title->fullText()) + corner + gap + 2 * side + 8;
}

}  // namespace faceter::desktop
