#pragma once
#include <QFont>
#include <QPen>
#include <QString>
#include <string>

#include "figure/figure.h"
#include "theme/theme_colours.h"

namespace faceter::desktop {

/// Text from outside as one plain line: control characters and bidirectional overrides are replaced. Never markup.
QString plainText(const std::string& text);
/// "label (unit)".
QString axisTitle(const Axis& axis);
/// A number as a person wants it exactly: all digits where they are few, else six significant ones; thin spaces in large counts.
QString exactNumber(double value);

/// With so many decimals and a minus sign (U+2212), as figures print it; nothing of the locale.
QString printedNumber(double value, int decimals);

/// Colours, fonts and pens of one plot.
struct PlotStyle {
    ThemeColours colours = ThemeColours::light();
    QFont font;

    QFont titleFont() const;
    QFont smallFont() const;  ///< values in bars and cells, labels of points
    int place(const Figure& figure, int series) const;
    QColor series(const Figure& figure, int series) const;
    QColor seriesText(const Figure& figure, int series) const;
    QPen seriesPen(const Figure& figure, int series) const;
};

constexpr double lineWidth = 1.5, bandOpacity = 0.2, rawOpacity = 0.35, fillOpacity = 0.25, barOpacity = 0.85;

QColor withOpacity(QColor colour, double opacity);

}  // namespace faceter::desktop
