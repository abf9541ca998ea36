#include "theme/theme_colours.h"

#include <algorithm>

#include "figure/colours.h"

namespace faceter::desktop {
namespace {

constexpr int paletteSize = 8;

QColor toQt(const Colour& c) {
    return QColor::fromRgbF(static_cast<float>(std::clamp(c.red, 0.0, 1.0)), static_cast<float>(std::clamp(c.green, 0.0, 1.0)),
                            static_cast<float>(std::clamp(c.blue, 0.0, 1.0)));
}

Colour fromQt(const QColor& c) { return {c.redF(), c.greenF(), c.blueF()}; }

faceter::Theme coreTheme(bool dark) { return dark ? faceter::Theme::night() : faceter::Theme::light(); }

}  // namespace

ThemeColours ThemeColours::light() {
    ThemeColours c;
    c.window = QColor(0xF6F7F8);
    c.surface = QColor(0xFFFFFF);
    c.line = QColor(0xDADDE1);
    c.text = QColor(0x1B1F24);
    c.secondary = QColor(0x5B6470);
    c.accent = QColor(0x0B66C3);
    c.onAccent = QColor(0xFFFFFF);
    c.selection = QColor(0xE3EEF9);
    c.hover = QColor(0xEEF1F4);
    c.success = QColor(0x00734F);
    c.warning = QColor(0x8A5A00);
    c.error = QColor(0xB23C00);
    return c;
}

ThemeColours ThemeColours::night() {
    ThemeColours c;
    c.dark = true;
    c.window = QColor(0x16191D);
    c.surface = QColor(0x1E2227);
    c.line = QColor(0x343A42);
    c.text = QColor(0xE6E9ED);
    c.secondary = QColor(0x9AA4B0);
    c.accent = QColor(0x5AA9F7);
    c.onAccent = QColor(0x10151B);
    c.selection = QColor(0x24364A);
    c.hover = QColor(0x282D34);
    c.success = QColor(0x3DBE92);
    c.warning = QColor(0xE0A83C);
    c.error = QColor(0xF0824A);
    return c;
}

QColor ThemeColours::series(int place) const { return toQt(coreTheme(dark).series(std::max(0, place))); }

QColor ThemeColours::seriesText(int place) const { return toQt(coreTheme(dark).series_text(std::max(0, place))); }

QVector<qreal> ThemeColours::seriesDash(int place) {
    switch (std::max(0, place) / paletteSize % 3) {
        case 1:
            return {4, 2};
        case 2:
            return {1.2, 1.6};
        default:
            return {};
    }
}

QColor ThemeColours::sequential(double t) { return toQt(faceter::sequential(t)); }

QColor ThemeColours::diverging(double t) { return toQt(faceter::diverging(t)); }

QColor ThemeColours::textOn(const QColor& background) {
    const QColor dark(0, 0, 0), light(255, 255, 255);  // on middle tones only pure black reaches 4.5:1
    return contrastOf(background, dark) >= contrastOf(background, light) ? dark : light;
}

double contrastOf(const QColor& a, const QColor& b) { return contrast(fromQt(a), fromQt(b)); }

}  // namespace faceter::desktop
