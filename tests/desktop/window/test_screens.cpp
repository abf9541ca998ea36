#include <QAbstractButton>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <set>

#include "desktop/support/sample_project.h"
#include "figure/figure_view.h"
#include "pages/page.h"
#include "support/test.h"
#include "theme/theme.h"
#include "widgets/flow_layout.h"
#include "widgets/labels.h"
#include "window/main_window.h"
#include "window/screenshot.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int lowest_plot = 40;  // px between the axes

QString nameOf(const QWidget* widget, const QString& text) {
    return QStringLiteral("%1 \"%2\" (%3 wide)").arg(widget->metaObject()->className(), text).arg(widget->width());
}

/// Labels and buttons whose text does not fit, but those that cut it on purpose.
QStringList clipped(const QWidget& window) {
    QStringList found;
    for (const QLabel* label : window.findChildren<QLabel*>())
        if (label->isVisible() && !label->wordWrap() && !qobject_cast<const ElidedLabel*>(label) && !label->text().isEmpty() &&
            label->sizeHint().width() > label->width() + 1)
            found << nameOf(label, label->text());
    for (const QAbstractButton* button : window.findChildren<QAbstractButton*>())
        if (button->isVisible() && !button->text().isEmpty() && button->sizeHint().width() > button->width() + 1)
            found << nameOf(button, button->text());
    return found;
}

/// Buttons and choices that end beyond the window, where nobody can press them; what is scrolled to them counts as in sight.
QStringList outside(const QWidget& window) {
    QStringList found;
    const auto isScrolled = [](const QWidget* widget) {
        const auto isRoom = [](const QWidget* one) { return one->objectName() == QStringLiteral("pageRoom"); };  // of every page
        while (widget && (isRoom(widget) || !qobject_cast<const QScrollArea*>(widget))) widget = widget->parentWidget();
        return widget != nullptr;
    };
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
        const bool isControl = qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QComboBox*>(widget);
        if (!isControl || !widget->isVisible() || isScrolled(widget)) continue;
        if (widget->mapTo(&window, QPoint(widget->width(), 0)).x() > window.width()) found << nameOf(widget, widget->objectName());
    }
    return found;
}

/// Bars of controls whose last rows are cut.
QStringList squeezed(const QWidget& page) {
    QStringList found;
    for (const QWidget* bar : page.findChildren<QWidget*>())
        if (bar->isVisible() && dynamic_cast<const FlowLayout*>(bar->layout()) && bar->height() < bar->heightForWidth(bar->width()))
            found << QStringLiteral("%1: %2 of %3").arg(bar->objectName()).arg(bar->height()).arg(bar->heightForWidth(bar->width()));
    return found;
}

}  // namespace

/// What a person sees: every page of a project with results, drawn as --screenshot draws it.
class TestScreens : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

  private Q_SLOTS:
    void initTestCase() {
        make_directories(folder_.path() / "runs");
        make_sample_project(folder_.path());
    }
    void cleanup() { Theme::instance().setMode(Theme::Mode::light); }

    void every_page_is_drawn_with_nothing_clipped_and_no_empty_plot_data() {
        QTest::addColumn<QString>("page");
        QTest::addColumn<bool>("dark");
        QTest::addColumn<QSize>("size");
        for (const PageEntry& entry : pageEntries())
            for (const bool dark : {false, true})
                for (const QSize size : {QSize(1280, 800), QSize(1024, 700), QSize(800, 600)})
                    QTest::addRow("%s %s %d", qPrintable(entry.id), dark ? "dark" : "light", size.width()) << entry.id << dark << size;
    }
    void every_page_is_drawn_with_nothing_clipped_and_no_empty_plot() {
        QFETCH(QString, page);
        QFETCH(bool, dark);
        QFETCH(QSize, size);
        QSettings().clear();
        Theme::instance().setMode(dark ? Theme::Mode::dark : Theme::Mode::light);
        Workspace workspace;
        MainWindow window(workspace);
        window.resize(size);
        window.show();
        QVERIFY(window.openPath(QString::fromStdString(folder_.path().string())));
        QTRY_COMPARE(workspace.groups().size(), std::size_t(3));
        QString error;
        const QString file = QString::fromStdString((folder_.path() / "page.png").string());
        QVERIFY2(takeScreenshot(window, page, file, error), qPrintable(error));
        const QImage image(file);
        QVERIFY(image.size().width() >= size.width());
        std::set<QRgb> colours;
        for (int y = 0; y < image.height(); y += 3)
            for (int x = 0; x < image.width(); x += 3) colours.insert(image.pixel(x, y));
        QVERIFY2(colours.size() > 20, qPrintable(QString::number(colours.size())));
        for (const FigureView* view : window.findChildren<FigureView*>())
            if (view->isVisible()) {
                QVERIFY2(view->hasValues(), qPrintable(view->accessibleName() + QStringLiteral(" is empty")));
                const int height = view->plot()->axisRect()->height();
                QVERIFY2(height >= lowest_plot, qPrintable(QStringLiteral("%1: %2 px").arg(view->accessibleName()).arg(height)));
            }
        const QStringList cut = clipped(window);
        QVERIFY2(cut.isEmpty(), qPrintable(cut.join(QLatin1Char('\n'))));
    }
    void a_narrow_window_has_every_control_in_sight_data() {
        QTest::addColumn<QString>("page");
        for (const PageEntry& entry : pageEntries()) QTest::newRow(qPrintable(entry.id)) << entry.id;
    }
    void a_narrow_window_has_every_control_in_sight() {
        QFETCH(QString, page);
        QSettings().clear();
        Workspace workspace;
        MainWindow window(workspace);
        window.resize(640, 700);
        window.show();
        QVERIFY(window.openPath(QString::fromStdString(folder_.path().string())));
        QTRY_COMPARE(workspace.groups().size(), std::size_t(3));
        QString error;
        QVERIFY2(takeScreenshot(window, page, QString::fromStdString((folder_.path() / "page.png").string()), error), qPrintable(error));
        const QStringList cut = clipped(window) + outside(window);
        QVERIFY2(cut.isEmpty(), qPrintable(cut.join(QLatin1Char('\n'))));
    }
    void a_small_screen_has_the_whole_window_data() { a_narrow_window_has_every_control_in_sight_data(); }
    void a_small_screen_has_the_whole_window() {
        QFETCH(QString, page);
        QSettings().clear();
        Workspace workspace;
        MainWindow window(workspace);
        const QSize small(640, 400);  // 1280x800 at 200 %
        window.resize(small);
        window.show();
        QVERIFY(window.openPath(QString::fromStdString(folder_.path().string())));
        QTRY_COMPARE(workspace.groups().size(), std::size_t(3));
        QString error;
        QVERIFY2(takeScreenshot(window, page, QString::fromStdString((folder_.path() / "page.png").string()), error), qPrintable(error));
        QCOMPARE(window.size(), small);
        const auto* navigator = window.findChild<QWidget*>(QStringLiteral("navigator"));
        const auto* inspector = window.findChild<QWidget*>(QStringLiteral("inspector"));
        QVERIFY(navigator->isVisible() != inspector->isVisible());
        const auto* room = window.findChild<QScrollArea*>(QStringLiteral("pageRoom"));
        QVERIFY(room->mapTo(&window, QPoint(room->width(), room->height())).y() <= small.height());
        QVERIFY(room->width() + (navigator->isVisible() ? navigator : inspector)->width() <= small.width());
        QVERIFY(room->widget()->height() >= window.page(page)->minimumSizeHint().height());  // what is lower is scrolled
        const QStringList cut = squeezed(*window.page(page));
        QVERIFY2(cut.isEmpty(), qPrintable(cut.join(QLatin1Char('\n'))));
        window.resize(1280, 800);
        QTRY_VERIFY(navigator->isVisible());
        QTRY_COMPARE(room->widget()->height(), room->viewport()->height());
        QTRY_VERIFY(!room->verticalScrollBar()->isVisible());
    }
    void the_start_page_is_whole_in_a_narrow_window_and_beside_long_names() {
        QSettings().clear();
        const fs::path deep = folder_.path() / std::string(90, 'a') / std::string(90, 'b');
        make_directories(deep);
        QSettings().setValue(QStringLiteral("projects/recent"), QStringList{QString::fromStdString(deep.string())});
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        auto* start = window.findChild<QWidget*>(QStringLiteral("startPage"));
        for (const int width : {640, 800, 1280}) {
            window.resize(width, 700);
            QString error;
            const QString file = QString::fromStdString((folder_.path() / "start.png").string());
            QVERIFY2(takeScreenshot(window, QStringLiteral("start"), file, error), qPrintable(error));
            const auto* scroll = start->findChild<QScrollArea*>();
            QCOMPARE(scroll->widget()->width(), scroll->viewport()->width());
            for (const QPushButton* button : start->findChildren<QPushButton*>())
                QVERIFY2(button->geometry().right() <= button->parentWidget()->width(), qPrintable(button->text()));
        }
    }
    void the_start_page_is_drawn_also_where_a_project_is_open() {
        QSettings().clear();
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(window.openPath(QString::fromStdString(folder_.path().string())));
        QTRY_COMPARE(workspace.groups().size(), std::size_t(3));
        QString error;
        const QString file = QString::fromStdString((folder_.path() / "start.png").string());
        QVERIFY2(takeScreenshot(window, QStringLiteral("start"), file, error), qPrintable(error));
        QVERIFY(window.findChild<QWidget*>(QStringLiteral("startPage"))->isVisible());
        QVERIFY(!window.frontPage());
    }
    void a_picture_takes_the_place_of_nothing_but_a_picture() {
        Workspace workspace;
        MainWindow window(workspace);
        const fs::path experiment = folder_.path() / "mine.yaml";
        write_file_atomic(experiment, "name: mine\n");
        QString error;
        QVERIFY(!takeScreenshot(window, QStringLiteral("start"), QString::fromStdString(experiment.string()), error));
        QVERIFY2(error.contains(QStringLiteral("is no PNG")), qPrintable(error));
        QCOMPARE(read_file(experiment), std::string("name: mine\n"));
    }
};

FACETER_TEST(TestScreens)
#include "test_screens.moc"
