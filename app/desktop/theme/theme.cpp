#include "theme/theme.h"

#include <QApplication>
#include <QFontInfo>
#include <QPalette>
#include <QStyleFactory>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "theme/style_sheet.h"
#include "theme/system_scheme.h"

namespace faceter::desktop {
namespace {

constexpr double usual_pixels = 14.7, most_scale = 2;  // 11 pt, the largest that a desktop has by itself

/// `pixels` where the user's system has its usual size, larger in proportion where a larger one was chosen.
QFont sized(int pixels, QFont::Weight weight = QFont::Normal) {
    QFont font = QApplication::font();
    font.setPixelSize(static_cast<int>(std::lround(pixels * Theme::instance().scale())));
    font.setWeight(weight);
    return font;
}

QPalette paletteOf(const ThemeColours& c) {
    QPalette p;
    p.setColor(QPalette::Window, c.window);
    p.setColor(QPalette::Base, c.surface);
    p.setColor(QPalette::AlternateBase, c.window);
    p.setColor(QPalette::Button, c.surface);
    p.setColor(QPalette::ToolTipBase, c.surface);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText}) p.setColor(role, c.text);
    p.setColor(QPalette::PlaceholderText, c.secondary);
    p.setColor(QPalette::BrightText, c.onAccent);
    p.setColor(QPalette::Highlight, c.selection);
    p.setColor(QPalette::HighlightedText, c.text);
    p.setColor(QPalette::Link, c.accent);
    p.setColor(QPalette::LinkVisited, c.accent);
    for (const auto role : {QPalette::Light, QPalette::Midlight, QPalette::Mid}) p.setColor(role, c.line);
    p.setColor(QPalette::Dark, c.secondary);
    p.setColor(QPalette::Shadow, c.line);
    QColor faint = c.secondary;
    faint.setAlphaF(0.6f);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) p.setColor(QPalette::Disabled, role, faint);
    return p;
}

}  // namespace

Theme::Theme() { refresh(); }

Theme& Theme::instance() {
    static Theme* theme = new Theme;  // outlives every widget; nothing to free at exit
    return *theme;
}

void Theme::setMode(Mode mode) {
    m_mode = mode;
    refresh();
}

void Theme::refresh() {
    const bool dark = m_mode == Mode::dark || (m_mode == Mode::system && m_systemIsDark);
    const bool other = dark != m_colours.dark;
    m_colours = dark ? ThemeColours::night() : ThemeColours::light();
    if (!other) return;
    if (m_applied) dress();
    Q_EMIT changed();
}

void Theme::apply() {
    if (!m_applied) {
        m_systemIsDark = systemPaletteIsDark();
        watchSystemScheme(qApp, [this](bool dark) {
            m_systemIsDark = dark;
            refresh();
        });
        // Off screen there is no user: Qt's own fallback stands for nobody's wish.
        if (QGuiApplication::platformName() != QStringLiteral("offscreen")) setUserFont(QApplication::font());
        QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));  // the one whose every part a style sheet reaches
    }
    m_applied = true;
    refresh();
    dress();
}

void Theme::setUserFont(const QFont& font) {
    const double pixels = QFontInfo(font).pixelSize();
    m_scale = std::clamp(pixels / usual_pixels, 1.0, most_scale);
    if (m_applied) dress();
}

void Theme::dress() const {
    QApplication::setFont(bodyFont());
    QToolTip::setFont(tableFont());
    QApplication::setPalette(paletteOf(m_colours));
    qApp->setStyleSheet(styleSheet(m_colours, m_scale));
}

QFont Theme::bodyFont() { return sized(13); }
QFont Theme::plotFont() { return sized(11); }
QFont Theme::titleFont() { return sized(18, QFont::DemiBold); }
QFont Theme::headingFont() { return sized(13, QFont::DemiBold); }

QFont Theme::tableFont() {
    QFont font = sized(12);
#if QT_VERSION >= QT_VERSION_CHECK(6, 7, 0)
    font.setFeature("tnum", 1);
#endif
    return font;
}

}  // namespace faceter::desktop
