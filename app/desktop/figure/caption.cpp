#include "figure/caption.h"

#include <QTextLayout>
#include <cmath>

#include "figure/figure_plot.h"

namespace faceter::desktop {
namespace {

constexpr double side = 12, gap = 6;
constexpr int mostLines = 12;

double lineHeight(const QFont& font) { return std::ceil(QFontMetricsF(font).height()); }

}  // namespace

Caption::Caption(FigurePlot* plot) : QCPLayerable(plot, QStringLiteral("labels")), m_plot(plot) {}

QRectF Caption::viewport() const { return QRectF(m_plot->viewport()).adjusted(side, 8, -side, -8); }

QStringList Caption::wrapped(const QString& text, const QFont& font) const {
    QTextLayout layout(text, font);
    QTextOption option;
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    layout.setTextOption(option);
    layout.beginLayout();
    QStringList lines;
    for (QTextLine line = layout.createLine(); line.isValid() && lines.size() < mostLines; line = layout.createLine()) {
        line.setLineWidth(std::max(40.0, viewport().width()));
        lines << text.mid(line.textStart(), line.textLength()).trimmed();
    }
    layout.endLayout();
    return lines;
}

int Caption::planTitle() {
    m_title.clear();
    if (m_plot->isTitleShown() && !m_plot->figure().title.empty())
        m_title = wrapped(plainText(m_plot->figure().title), m_plot->plotStyle().titleFont());
    return m_title.isEmpty() ? 0
                             : static_cast<int>(lineHeight(m_plot->plotStyle().titleFont()) * static_cast<double>(m_title.size()) + gap);
}

int Caption::planNotes() {
    m_notes.clear();
    if (m_plot->areNotesShown())
        for (const std::string& note : m_plot->figure().notes) m_notes << wrapped(plainText(note), m_plot->plotStyle().font);
    if (m_notes.size() > mostLines) m_notes = m_notes.mid(0, mostLines);
    return m_notes.isEmpty() ? 0 : static_cast<int>(lineHeight(m_plot->plotStyle().font) * static_cast<double>(m_notes.size()) + gap);
}

void Caption::draw(QCPPainter* painter) {
    const PlotStyle& style = m_plot->plotStyle();
    const auto lines = [&](const QStringList& texts, const QFont& font, double top) {
        painter->setFont(font);
        for (const QString& text : texts) {
            painter->drawText(QRectF(viewport().left(), top, viewport().width(), lineHeight(font)),
                              Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine | Qt::TextDontClip, text);
            top += lineHeight(font);
        }
    };
    painter->setPen(style.colours.text);
    lines(m_title, style.titleFont(), viewport().top());
    painter->setPen(style.colours.secondary);
    lines(m_notes, style.font, viewport().bottom() - lineHeight(style.font) * static_cast<double>(m_notes.size()));
    if (m_plot->emptyText().isEmpty()) return;
    painter->setFont(style.font);
    painter->drawText(viewport(), Qt::AlignCenter | Qt::TextWordWrap, m_plot->emptyText());
}

}  // namespace faceter::desktop
