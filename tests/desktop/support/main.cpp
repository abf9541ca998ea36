#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>

#include "support/run_tests.h"
#include "theme/theme.h"

/// Off screen, and with settings of its own: a test must neither read nor change what the user's workbench restores.
static void prepare() {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    static const QTemporaryDir settings;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, settings.path());
    QCoreApplication::setOrganizationName(QStringLiteral("faceter-tests"));
    QCoreApplication::setApplicationName(QStringLiteral("faceter-desktop"));
}

int main(int argc, char** argv) {
    prepare();
    QApplication application(argc, argv);
    faceter::desktop::Theme::instance().setMode(faceter::desktop::Theme::Mode::light);
    faceter::desktop::Theme::instance().apply();
    return faceter::testing::run_tests(argc, argv);
}
