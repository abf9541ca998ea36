#include "figure/plot_style.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "common/strings.h"
#include "figure/text_width.h"

namespace faceter::desktop {

QString plainText(const std::string& text) { return QString::fromStdString(printable(text)); }

QString axisTitle(const Axis& axis) {
    return plainText(axis.unit.empty() ? axis.label : axis.label.empty() ? axis.unit : axis.label + " (" + axis.unit + ")");
}

static QString withThinSpaces(QString digits) {
    const int start = digits.startsWith(QLatin1Char('-')) ? 1 : 0;
    if (digits.size() - start > 4)
        for (auto i = digits.size() - 3; i > start; i -= 3) digits.insert(i, QChar(0x2009));
    return digits;
}

QString exactNumber(double value) {
    if (std::isnan(value)) return QCoreApplication::translate("PlotStyle", "no value");
    if (std::isinf(value)) return value > 0 ? QStringLiteral("inf") : QStringLiteral("-inf");
    if (value == std::floor(value) && std::abs(value) < 1e15) return withThinSpaces(QString::number(value, 'f', 0));
    const std::string shortest = format_double(value);
    if (shortest.size() <= 9) return QString::fromStdString(shortest);
    return QString::number(value, 'g', 6);
}

QString printedNumber(double value, int decimals) {
    QString text = QString::number(value, 'f', decimals);
    if (!text.startsWith(QLatin1Char('-'))) return text;
    const bool zero = std::none_of(text.begin(), text.end(), [](QChar c) { return c >= QLatin1Char('1') && c <= QLatin1Char('9'); });
    return zero ? text.mid(1) : QChar(0x2212) + text.mid(1);
}

/// `pixels` where the names of axes have their usual 11, in proportion where they have more.
static QFont inProportion(QFont font, int pixels) {
    constexpr double usual = 11;
    if (font.pixelSize() > 0) font.setPixelSize(static_cast<int>(std::lround(pixels * font.pixelSize() / usual)));
    return font;
}

QFont PlotStyle::titleFont() const {
    QFont title = inProportion(font, 13);
    title.setWeight(QFont::DemiBold);
    return title;
}

QFont PlotStyle::smallFont() const { return inProportion(font, 10); }

int PlotStyle::place(const Figure& figure, int series) const {
    return figure.series[static_cast<std::size_t>(series)].colour.value_or(series);
}

QColor PlotStyle::series(const Figure& figure, int series) const { return colours.series(place(figure, series)); }

QColor PlotStyle::seriesText(const Figure& figure, int series) const { return colours.seriesText(place(figure, series)); }

QPen PlotStyle::seriesPen(const Figure& figure, int series) const {
    QPen pen(this->series(figure, series), lineWidth, Qt::SolidLine, Qt::FlatCap, Qt::BevelJoin);
    const QVector<qreal> dash =
        figure.series[static_cast<std::size_t>(series)].dashed ? QVector<qreal>{4, 2.7} : ThemeColours::seriesDash(place(figure, series));
    if (!dash.isEmpty()) pen.setDashPattern(dash);
    return pen;
}

QColor withOpacity(QColor colour, double opacity) {
    colour.setAlphaF(static_cast<float>(opacity));
    return colour;
}

}  // namespace faceter::desktop
