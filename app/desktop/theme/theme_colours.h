#pragma once
#include <QColor>
#include <QString>
#include <QVector>

namespace faceter::desktop {

/// Every colour of the interface, by what it means. A plain value: an export takes light() whatever the screen shows.
struct ThemeColours {
    bool dark = false;
    QColor window;   ///< behind everything
    QColor surface;  ///< cards, tables, plots
    QColor line;     ///< hairlines, grids
    QColor text;
    QColor secondary;  ///< labels, units; 4.5:1 on window and surface
    QColor accent;     ///< the one active thing
    QColor onAccent;   ///< text on accent
    QColor selection;  ///< behind a selected row
    QColor hover;
    QColor success, warning, error;

    static ThemeColours light();
    static ThemeColours night();

    /// The colour of a series by its place in the palette; on a dark surface lightened until 3:1 against it.
    QColor series(int place) const;
    /// The same with the 4.5:1 that text needs.
    QColor seriesText(int place) const;
    /// QPen's dash pattern in units of the pen's width; empty: solid. Dashes from the ninth place on, dots from the seventeenth.
    static QVector<qreal> seriesDash(int place);
    /// viridis, t in [0, 1].
    static QColor sequential(double t);
    /// blue - white - vermilion, t in [-1, 1].
    static QColor diverging(double t);
    /// Of the dark and the light text colour, the one that is easier to read on `background`.
    static QColor textOn(const QColor& background);
};

/// WCAG's ratio, 1 to 21.
double contrastOf(const QColor& a, const QColor& b);

}  // namespace faceter::desktop
