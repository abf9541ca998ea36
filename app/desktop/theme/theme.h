#pragma once
#include <QFont>
#include <QObject>

#include "theme/theme_colours.h"

namespace faceter::desktop {

/// The look of the application: light, dark, or whatever the system says. One instance; widgets that paint themselves repaint on changed().
class Theme : public QObject {
    Q_OBJECT
  public:
    enum class Mode { system, light, dark };
    Q_ENUM(Mode)

    static Theme& instance();

    Mode mode() const { return m_mode; }
    /// Switches at run time; emits changed() where colours change.
    void setMode(Mode mode);
    bool isDark() const { return m_colours.dark; }
    const ThemeColours& colours() const { return m_colours; }

    /// Gives the QApplication its fonts, palette and style sheet, now and whenever the theme changes. Call once after its construction.
    void apply();
    /// The user's interface font: where it is larger than systems have it by themselves, all texts are, in proportion.
    void setUserFont(const QFont& font);
    double scale() const { return m_scale; }

    static QFont bodyFont();     ///< 13 px
    static QFont tableFont();    ///< 12 px, figures of equal width where the font offers them
    static QFont plotFont();     ///< 11 px
    static QFont titleFont();    ///< 18 px, semibold
    static QFont headingFont();  ///< 13 px, semibold

  Q_SIGNALS:
    void changed();

  private:
    Theme();
    void refresh();
    void dress() const;

    Mode m_mode = Mode::system;
    ThemeColours m_colours = ThemeColours::light();
    bool m_systemIsDark = false, m_applied = false;
    double m_scale = 1;
};

}  // namespace faceter::desktop
