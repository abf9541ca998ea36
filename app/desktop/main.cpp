#include <QApplication>
#include <QCommandLineParser>
#include <QSettings>
#include <algorithm>
#include <cstdio>
#include <initializer_list>

#include "common/error.h"
#include "pages/page.h"
#include "theme/theme.h"
#include "window/main_window.h"
#include "window/screenshot.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

int fail(ExitCode code, const QString& message) {
    std::fprintf(stderr, "faceter-desktop: %s\n", message.toUtf8().constData());
    return static_cast<int>(code);
}

/// "1280x800".
QSize sizeFrom(const QString& text) {
    const QStringList parts = text.split(QLatin1Char('x'));
    if (parts.size() != 2) return {};
    const QSize size(parts[0].toInt(), parts[1].toInt());
    return size.width() >= 320 && size.height() >= 240 && size.width() <= 10000 && size.height() <= 10000 ? size : QSize();
}

QString pageNames() {
    QStringList names{QStringLiteral("start")};
    for (const PageEntry& entry : pageEntries()) names << entry.id;
    return names.join(QStringLiteral(", "));
}

void describe(QCommandLineParser& parser) {
    parser.setApplicationDescription(
        QStringLiteral("Faceter's workbench: compose, run and compare experiments with task-specialised text embeddings.\n\n"
                       "Example:\n  faceter-desktop --project ~/quickstart\n"
                       "  faceter-desktop --project ~/quickstart --screenshot compare compare.png --size 1280x800 --dark"));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addOptions({{QStringLiteral("project"), QStringLiteral("Open this project folder; one that is empty or not there is made."),
                        QStringLiteral("DIR")},
                       {QStringLiteral("screenshot"),
                        QStringLiteral("Render PAGE (%1) into the PNG file given as argument, off screen, and exit.").arg(pageNames()),
                        QStringLiteral("PAGE")},
                       {QStringLiteral("size"), QStringLiteral("Size of the window, as in 1280x800."), QStringLiteral("WxH")},
                       {QStringLiteral("dark"), QStringLiteral("Dark instead of what the system says.")},
                       {QStringLiteral("light"), QStringLiteral("Light instead of what the system says.")}});
    parser.addPositionalArgument(
        QStringLiteral("PATH"),
        QStringLiteral(
            "A project, run folder or experiment file to open, in the project of --project where that is given; with --screenshot "
            "the PNG file."),
        QStringLiteral("[PATH]"));
}

int shoot(MainWindow& window, const QCommandLineParser& parser) {
    if (parser.positionalArguments().isEmpty())
        return fail(ExitCode::usage, QStringLiteral("--screenshot PAGE FILE.png: the file is missing"));
    const QString page = parser.value(QStringLiteral("screenshot"));
    if (!pageNames().split(QStringLiteral(", ")).contains(page))
        return fail(ExitCode::usage, QStringLiteral("no page '%1' (known: %2)").arg(page, pageNames()));
    QString error;
    if (!takeScreenshot(window, page, parser.positionalArguments().first(), error)) return fail(ExitCode::failed, error);
    return 0;
}

int start(QApplication& application) {
    QCommandLineParser parser;
    describe(parser);
    if (!parser.parse(application.arguments()))
        return fail(ExitCode::usage, parser.errorText() + QStringLiteral("; --help lists the options"));
    if (parser.isSet(QStringLiteral("help"))) parser.showHelp();
    if (parser.isSet(QStringLiteral("version"))) parser.showVersion();
    const bool screenshot = parser.isSet(QStringLiteral("screenshot"));
    const QStringList paths = parser.positionalArguments();
    if (paths.size() > 1)
        return fail(ExitCode::usage,
                    QStringLiteral("%1: one PATH is opened, and %2 is one already; --help lists the options").arg(paths[1], paths[0]));
    Theme& theme = Theme::instance();
    const QSettings settings;
    theme.setMode(parser.isSet(QStringLiteral("dark")) ? Theme::Mode::dark
                  : parser.isSet(QStringLiteral("light")) || screenshot
                      ? Theme::Mode::light
                      : static_cast<Theme::Mode>(settings.value(QStringLiteral("theme"), 0).toInt()));
    theme.apply();

    Workspace workspace;
    MainWindow window(workspace);
    if (parser.isSet(QStringLiteral("size"))) {
        const QSize size = sizeFrom(parser.value(QStringLiteral("size")));
        if (!size.isValid())
            return fail(ExitCode::usage,
                        QStringLiteral("--size %1: expected WIDTHxHEIGHT, as in 1280x800").arg(parser.value(QStringLiteral("size"))));
        window.resize(size);
    }
    window.show();
    const QString project = parser.value(QStringLiteral("project"));
    const bool isOpen = project.isEmpty() || window.openOrMakeProject(project);
    if (screenshot) return isOpen ? shoot(window, parser) : fail(ExitCode::data, window.complaint());
    if (isOpen && !paths.isEmpty()) window.openPath(paths.first());
    const QString last = settings.value(QStringLiteral("project")).toString();
    if (project.isEmpty() && paths.isEmpty() && !last.isEmpty()) window.openRemembered(last);
    return application.exec();
}

bool isGiven(int argc, char** argv, std::initializer_list<const char*> options) {
    return std::any_of(argv + 1, argv + std::max(argc, 1), [&](const QByteArray& argument) {
        return std::any_of(options.begin(), options.end(),
                           [&](const char* option) { return argument == option || argument.startsWith(QByteArray(option) + '='); });
    });
}

bool hasDisplay() {
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
        if (!qEnvironmentVariableIsEmpty(name)) return true;
    return false;
}

/// Neither a screenshot nor the help needs a display, and a screenshot must not change what the user's next start restores. False: there is
/// no display to open a window on, where Qt would abort.
bool prepare(int argc, char** argv) {
    const bool screenshot = isGiven(argc, argv, {"--screenshot", "-screenshot"});
    const bool windowless = screenshot || isGiven(argc, argv, {"--help", "-h", "--help-all", "--version", "-v"});
    if (windowless && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    if (screenshot) QCoreApplication::setOrganizationName(QStringLiteral("faceter-screenshot"));
    return hasDisplay() || isGiven(argc, argv, {"-platform", "--platform"});
}

}  // namespace
}  // namespace faceter::desktop

int main(int argc, char** argv) {
    QCoreApplication::setOrganizationName(QStringLiteral("faceter"));
    QCoreApplication::setApplicationName(QStringLiteral("faceter-desktop"));
    QCoreApplication::setApplicationVersion(QStringLiteral(FACETER_VERSION));
    if (!faceter::desktop::prepare(argc, argv))
        return faceter::desktop::fail(
            faceter::ExitCode::failed,
            QStringLiteral(
                "there is no display to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is set); log in at a desktop, or by "
                "ssh -X. In a terminal 'faceter' does the same, and --screenshot PAGE FILE.png needs no display"));
    QApplication application(argc, argv);
    return faceter::desktop::start(application);
}
