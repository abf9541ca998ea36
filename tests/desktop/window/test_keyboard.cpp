#include <QAbstractButton>
#include <QAbstractSlider>
#include <QAccessible>
#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QSettings>
#include <QTabBar>
#include <QTest>
#include <set>

#include "desktop/support/sample_project.h"
#include "pages/page.h"
#include "support/test.h"
#include "theme/theme.h"
#include "window/main_window.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 30000, most_stops = 400;

QString nameOf(const QWidget* widget) {
    return QStringLiteral("%1 '%2'").arg(QLatin1String(widget->metaObject()->className()), widget->objectName());
}

bool takesTab(const QWidget* widget) {
    return widget->isVisible() && widget->isEnabled() && (widget->focusPolicy() & Qt::TabFocus) == Qt::TabFocus && !widget->focusProxy();
}

/// What a screen reader says of it.
QString spokenName(QWidget* widget) {
    QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(widget);
    if (!interface) return {};
    for (const auto text : {QAccessible::Name, QAccessible::Value})
        if (const QString spoken = interface->text(text); !spoken.isEmpty()) return spoken;
    return {};
}

/// The widgets that Tab leads to, from the tabs of pages round to them again.
QList<QWidget*> walk(MainWindow& window) {
    auto* tabs = window.findChild<QTabBar*>(QStringLiteral("pageTabs"));
    tabs->setFocus(Qt::TabFocusReason);
    QList<QWidget*> visited;
    for (int i = 0; i < most_stops; ++i) {
        QWidget* before = QApplication::focusWidget();
        QTest::keyClick(before, Qt::Key_Tab);
        if (QApplication::focusWidget() == before)
            QTest::keyClick(before, Qt::Key_Tab, Qt::ControlModifier);  // where Tab is a part of the text
        QWidget* now = QApplication::focusWidget();
        if (!now || now == tabs || now == before) break;
        visited << now;
    }
    return visited;
}

}  // namespace

/// The workbench without a mouse, and through a screen reader.
class TestKeyboard : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    Workspace workspace_;
    std::unique_ptr<MainWindow> window_;

    void rows() {
        QTest::addColumn<QString>("page");
        for (const PageEntry& entry : pageEntries()) QTest::addRow("%s", qPrintable(entry.id)) << entry.id;
    }
    void open(const QString& page) {
        QVERIFY(window_->goTo(page));
        QTRY_VERIFY_WITH_TIMEOUT(window_->page(page)->isReady() && workspace_.session()->isIdle(), patience_ms);
    }

  private Q_SLOTS:
    void initTestCase() {
        QSettings().clear();
        make_sample_project(folder_.path());
        window_ = std::make_unique<MainWindow>(workspace_);
        window_->show();
        window_->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(window_.get()));
        QVERIFY(window_->openPath(QString::fromStdString(folder_.path().string())));
        QTRY_COMPARE_WITH_TIMEOUT(workspace_.groups().size(), std::size_t(3), patience_ms);
        QTRY_VERIFY_WITH_TIMEOUT(!workspace_.session()->isLooking(), patience_ms);
    }

    void tab_leads_to_all_of_a_page_and_out_of_it_data() { rows(); }
    void tab_leads_to_all_of_a_page_and_out_of_it() {
        QFETCH(QString, page);
        open(page);
        QList<QWidget*> wanted;
        for (QWidget* widget : window_->page(page)->findChildren<QWidget*>())
            if (takesTab(widget)) wanted << widget;
        const QList<QWidget*> visited = walk(*window_);
        QVERIFY2(!visited.isEmpty() && QApplication::focusWidget()->objectName() == QStringLiteral("pageTabs"),
                 qPrintable(QStringLiteral("Tab stays at ") + nameOf(QApplication::focusWidget())));
        QStringList missed;
        for (const QWidget* widget : std::as_const(wanted))
            if (takesTab(widget) && !visited.contains(widget)) missed << nameOf(widget);
        QVERIFY2(missed.isEmpty(), qPrintable(missed.join(QStringLiteral(", "))));
    }

    /// Not to a choice in its head: arrows would change what is shown.
    void a_page_gives_the_keyboard_to_what_it_is_about_data() { rows(); }
    void a_page_gives_the_keyboard_to_what_it_is_about() {
        QFETCH(QString, page);
        open(page == QStringLiteral("runs") ? QStringLiteral("results") : QStringLiteral("runs"));
        open(page);
        QWidget* focus = QApplication::focusWidget();
        QVERIFY(focus && window_->page(page)->isAncestorOf(focus));
        const bool isChoice = qobject_cast<QComboBox*>(focus) || qobject_cast<QCheckBox*>(focus);
        QVERIFY2(!isChoice, qPrintable(nameOf(focus)));
    }

    void whatever_takes_the_keyboard_has_a_name_that_is_spoken_data() { rows(); }
    void whatever_takes_the_keyboard_has_a_name_that_is_spoken() {
        QFETCH(QString, page);
        open(page);
        QStringList nameless;
        for (QWidget* widget : window_->findChildren<QWidget*>())
            if (takesTab(widget) && spokenName(widget).isEmpty()) nameless << nameOf(widget);
        QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join(QStringLiteral(", "))));
    }

    /// Of the views that were not chosen, too: what can be chosen, typed or pressed there has a name of its own, whatever its value.
    void what_a_hidden_view_has_is_named_as_well_data() {
        QTest::addColumn<QString>("page");
        for (const char* page : {"facets", "experts", "router", "curriculum", "results", "explore", "data"})
            QTest::addRow("%s", page) << QString::fromLatin1(page);
    }
    void what_a_hidden_view_has_is_named_as_well() {
        QFETCH(QString, page);
        open(page);
        QStringList nameless;
        for (QWidget* widget : window_->page(page)->findChildren<QWidget*>()) {
            const bool isControl = qobject_cast<QComboBox*>(widget) || qobject_cast<QLineEdit*>(widget) ||
                                   qobject_cast<QAbstractButton*>(widget) || qobject_cast<QAbstractSlider*>(widget);
            if (!isControl || (widget->focusPolicy() & Qt::TabFocus) != Qt::TabFocus || widget->focusProxy()) continue;
            QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(widget);
            if (!interface || interface->text(QAccessible::Name).isEmpty()) nameless << nameOf(widget);
        }
        QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join(QStringLiteral(", "))));
    }

    void what_has_the_keyboard_is_seen_to_have_it_data() { rows(); }
    void what_has_the_keyboard_is_seen_to_have_it() {
        QFETCH(QString, page);
        open(page);
        QStringList unseen;
        for (QWidget* widget : walk(*window_)) {
            window_->findChild<QTabBar*>(QStringLiteral("pageTabs"))->setFocus(Qt::OtherFocusReason);
            const QImage without = widget->grab().toImage();
            widget->setFocus(Qt::TabFocusReason);
            if (widget->grab().toImage() == without) unseen << nameOf(widget);
        }
        QVERIFY2(unseen.isEmpty(), qPrintable(unseen.join(QStringLiteral(", "))));
    }
};

FACETER_TEST(TestKeyboard)
#include "test_keyboard.moc"
