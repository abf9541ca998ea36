#include "svg_figure.h"

#include <QtCore/QXmlStreamReader>
#include <QtCore/QXmlStreamWriter>
#include <QtGui/QFontMetricsF>
#include <QtGui/QPainter>
#include <QtSvg/QSvgRenderer>

namespace {

double number(const QXmlStreamAttributes& attributes, const char* name, double fallback) {
    bool ok = false;
    const double value = attributes.value(QLatin1String(name)).toDouble(&ok);
    return ok ? value : fallback;
}

/// "rotate(-90 22 223)" -> -90
double angle_of(QStringView transform) {
    const auto open = transform.indexOf(QLatin1Char('('));
    return open < 0 ? 0 : transform.mid(open + 1).split(QLatin1Char(' ')).first().toDouble();
}

}  // namespace

SvgFigure::SvgFigure(const QByteArray& svg) {
    QXmlStreamReader in(svg);
    QXmlStreamWriter out(&marks_);
    while (!in.atEnd()) {
        in.readNext();
        if (!in.isStartElement() || in.name() != QLatin1String("text")) {
            if (in.isStartElement() || in.isEndElement() || in.isCharacters()) out.writeCurrentToken(in);
            continue;
        }
        const QXmlStreamAttributes attributes = in.attributes();
        Label label;
        label.x = number(attributes, "x", 0);
        label.y = number(attributes, "y", 0);
        label.angle = angle_of(attributes.value(QLatin1String("transform")));
        label.size = number(attributes, "font-size", 11);
        label.bold = number(attributes, "font-weight", 400) >= 600;
        label.anchor = attributes.value(QLatin1String("text-anchor")).toString();
        label.colour = QColor(attributes.value(QLatin1String("fill")).toString());
        label.text = in.readElementText(QXmlStreamReader::IncludeChildElements);
        labels_.append(label);
    }
    view_box_ = QSvgRenderer(marks_).viewBoxF();
}

void SvgFigure::draw(QPainter& painter, const QRectF& place) const {
    if (view_box_.isEmpty()) return;
    QSvgRenderer(marks_).render(&painter, place);
    painter.save();
    painter.translate(place.topLeft());
    painter.scale(place.width() / view_box_.width(), place.height() / view_box_.height());
    for (const Label& label : labels_) draw_label(painter, label);
    painter.restore();
}

void SvgFigure::draw_label(QPainter& painter, const Label& label) const {
    QFont font(painter.font().family());
    font.setPixelSize(qRound(label.size));
    font.setBold(label.bold);
    const double width = QFontMetricsF(font).horizontalAdvance(label.text);
    const double before = label.anchor == QLatin1String("end") ? width : label.anchor == QLatin1String("middle") ? width / 2 : 0;
    painter.save();
    painter.translate(label.x, label.y);
    painter.rotate(label.angle);
    painter.setFont(font);
    painter.setPen(label.colour);
    painter.drawText(QPointF(-before, 0), label.text);
    painter.restore();
}
