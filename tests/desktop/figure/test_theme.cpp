#include <QDBusVariant>
#include <QDialog>
#include <QFile>
#include <QPainter>
#include <QPushButton>

#include "theme/icons.h"
#include "theme/portal_watch.h"
#include "theme/style_sheet.h"
#include "view_support.h"

namespace faceter::desktop {

using namespace faceter::testing;

class TestTheme : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void cleanup() { Theme::instance().setMode(Theme::Mode::light); }

    void switching_is_told_once_and_changes_the_plots() {
        Theme::instance().setMode(Theme::Mode::light);
        auto view = shown(sample_lines());
        const QImage light = picture(*view);
        QSignalSpy changed(&Theme::instance(), &Theme::changed);
        Theme::instance().setMode(Theme::Mode::dark);
        Theme::instance().setMode(Theme::Mode::dark);
        QCOMPARE(changed.count(), 1);
        QVERIFY(Theme::instance().isDark());
        const QImage dark = picture(*view);
        QVERIFY(light.pixelColor(1, 1).lightness() > 240);
        QVERIFY(dark.pixelColor(1, 1).lightness() < 60);
    }

    void switching_keeps_zoom_and_hidden_series() {
        auto view = shown(sample_lines());
        QTest::keyClick(view.get(), Qt::Key_Plus);
        view->setSeriesVisible(2, false);
        const QCPRange zoomed = view->xRange();
        Theme::instance().setMode(Theme::Mode::dark);
        QCOMPARE(view->xRange(), zoomed);
        QVERIFY(!view->isSeriesVisible(2));
    }

    void text_has_a_contrast_of_four_and_a_half_series_of_three() {
        for (const ThemeColours& c : {ThemeColours::light(), ThemeColours::night()}) {
            for (const QColor& ground : {c.surface, c.window})
                for (const QColor& text : {c.text, c.secondary, c.accent, c.success, c.warning, c.error})
                    QVERIFY2(contrastOf(text, ground) >= 4.5, qPrintable(text.name() + " on " + ground.name()));
            QVERIFY(contrastOf(c.onAccent, c.accent) >= 4.5);
            QVERIFY(contrastOf(c.text, c.selection) >= 4.5);
            for (int place = 0; place < 24; ++place) {
                if (c.dark) QVERIFY(contrastOf(c.series(place), c.surface) >= 3);
                QVERIFY(contrastOf(c.seriesText(place), c.surface) >= 4.5);
            }
        }
    }

    void no_preference_after_dark_is_light() {
        QList<bool> told;
        PortalWatch watch(nullptr, [&told](bool dark) { told << dark; });
        for (const uint scheme : {1U, 0U})  // as GNOME's switch goes
            watch.settingChanged(QStringLiteral("org.freedesktop.appearance"), QStringLiteral("color-scheme"), QDBusVariant(scheme));
        QCOMPARE(told, (QList<bool>{true, false}));
    }

    void texts_are_as_large_as_the_user_has_them() {
        QFont large;
        large.setPixelSize(22);
        const int body = Theme::bodyFont().pixelSize();
        Theme::instance().setUserFont(large);
        QVERIFY(Theme::bodyFont().pixelSize() > body);
        QVERIFY(styleSheet(ThemeColours::light(), Theme::instance().scale()).contains(QStringLiteral("font-size: 18px")));  // 12 px
        large.setPixelSize(12);
        Theme::instance().setUserFont(large);
        QCOMPARE(Theme::bodyFont().pixelSize(), body);  // smaller than look.md has it is not read
    }

    void a_default_button_that_is_disabled_is_seen_to_be() {
        QDialog dialog;
        auto* button = new QPushButton(QStringLiteral("Start"), &dialog);
        button->setDefault(true);
        dialog.resize(200, 80);
        dialog.show();
        const auto ground = [&] { return button->grab().toImage().pixelColor(button->width() / 2, 4); };
        QCOMPARE(ground(), Theme::instance().colours().accent);
        button->setEnabled(false);
        QCOMPARE(ground(), Theme::instance().colours().line);
    }

    void an_icon_is_read_once_and_drawn_from_what_was_read() {
        QCOMPARE(icon(QStringLiteral("pin")).cacheKey(), icon(QStringLiteral("pin")).cacheKey());
        const QPixmap light = icon(QStringLiteral("pin")).pixmap(16, 16);
        Theme::instance().setMode(Theme::Mode::dark);
        QVERIFY(icon(QStringLiteral("pin")).pixmap(16, 16).toImage() != light.toImage());  // in the colour of the moment all the same
    }

    void beyond_eight_series_come_dashes_then_dots() {
        QVERIFY(ThemeColours::seriesDash(7).isEmpty());
        QVERIFY(!ThemeColours::seriesDash(8).isEmpty());
        QVERIFY(ThemeColours::seriesDash(16) != ThemeColours::seriesDash(8));
        QCOMPARE(ThemeColours::light().series(8), ThemeColours::light().series(0));
    }

    void text_on_a_cell_can_be_read() {
        for (double t = 0; t <= 1; t += 0.05)
            QVERIFY(contrastOf(ThemeColours::textOn(ThemeColours::sequential(t)), ThemeColours::sequential(t)) >= 4.5);
    }

    void every_icon_is_on_the_grid_and_takes_the_themes_colour() {
        for (const char* name :
             {"run",      "stop",    "resume", "rerun",  "compare", "export",     "copy",   "pin",      "tag",     "note",  "archive",
              "trash",    "columns", "group",  "filter", "search",  "add",        "close",  "chevron",  "warning", "error", "info",
              "settings", "folder",  "file",   "moon",   "sun",     "zoom-reset", "legend", "log-axis", "smooth",  "link"}) {
            QFile file(QStringLiteral(":/faceter/icons/%1.svg").arg(name));
            QVERIFY2(file.open(QIODevice::ReadOnly), name);
            const QByteArray svg = file.readAll();
            QVERIFY2(svg.contains("viewBox=\"0 0 16 16\"") && svg.contains("currentColor") && svg.contains("stroke-width=\"1.5\""), name);
            const QImage image = icon(name, QColor(255, 0, 0)).pixmap(64, 64).toImage();
            int red = 0, other = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x) {
                    const QColor c = image.pixelColor(x, y);
                    if (c.alpha() > 200) (c.red() > 240 && c.green() < 20 ? red : other)++;
                }
            QVERIFY2(red > 20 && other == 0, name);
        }
    }

    void an_icon_follows_the_theme_without_being_set_again() {
        Theme::instance().setMode(Theme::Mode::light);
        const QIcon one = icon("folder");
        const QImage light = one.pixmap(32, 32).toImage();
        Theme::instance().setMode(Theme::Mode::dark);
        QVERIFY(one.pixmap(32, 32).toImage() != light);
    }

    void the_style_sheet_names_only_icons_and_colours_that_are_there() {
        for (const ThemeColours& c : {ThemeColours::light(), ThemeColours::night()}) {
            const QString sheet = styleSheet(c, 1);
            QVERIFY(!sheet.contains('@'));
            auto urls = QRegularExpression("url\\(([^)]*)\\)").globalMatch(sheet);
            int count = 0;
            while (urls.hasNext()) {
                const QString path = urls.next().captured(1);
                QVERIFY2(QFile::exists(path), qPrintable(path));
                ++count;
            }
            QVERIFY(count > 5);
        }
    }
};

FACETER_TEST(TestTheme)

}  // namespace faceter::desktop

#include "test_theme.moc"
