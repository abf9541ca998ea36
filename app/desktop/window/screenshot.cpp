#include "window/screenshot.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QFileInfo>
#include <QImageReader>
#include <QPixmap>
#include <QStringList>
#include <QTimer>

#include "pages/page.h"
#include "window/main_window.h"

namespace faceter::desktop {
namespace {

constexpr int patience_ms = 120'000;  // the first look at the package index takes half of it on a busy machine
constexpr int quiet_ms = 400;         // nothing asked and nothing open for so long: drawn
constexpr int quiet_looks = 10;       // and for so many turns of the event loop: on a busy machine little happens in a time

void processFor(int ms) {
    QEventLoop loop;
    QTimer::singleShot(ms, &loop, &QEventLoop::quit);
    loop.exec();
}

bool isSettled(const MainWindow& window) {
    const Page* page = window.frontPage();
    if (!page) return true;
    const ProjectSession* session = page->workspace().session();
    return page->isReady() && (!session || (session->isLoaded() && !session->isLooking() && session->isIdle()));
}

/// Waits until nothing is asked and nothing open any more; false: in vain.
bool settle(const MainWindow& window) {
    QElapsedTimer patience, quiet;
    patience.start();
    quiet.start();
    int looks = 0;
    while (patience.elapsed() < patience_ms && (quiet.elapsed() < quiet_ms || looks < quiet_looks)) {
        processFor(40);
        ++looks;
        if (isSettled(window)) continue;
        quiet.restart();
        looks = 0;
    }
    return isSettled(window);
}

/// What a picture would take the place of, were its name another argument's.
bool holdsSomethingElse(const QString& file) { return QFileInfo(file).size() > 0 && QImageReader::imageFormat(file) != "png"; }

}  // namespace

bool takeScreenshot(MainWindow& window, const QString& page, const QString& file, QString& error) {
    if (holdsSomethingElse(file)) {
        error = QStringLiteral("%1: it is there and is no PNG; nothing was written. Expected: --screenshot PAGE FILE.png").arg(file);
        return false;
    }
    if (!window.goTo(page)) {
        QStringList known{QStringLiteral("start")};
        for (const PageEntry& entry : pageEntries()) known << entry.id;
        error = QStringLiteral("no page '%1' (known: %2)").arg(page, known.join(QStringLiteral(", ")));
        return false;
    }
    Page* front = window.frontPage();
    if (!settle(window) || (front && front->pose() && !settle(window))) {
        error = QStringLiteral("page '%1' was not ready after %2 s").arg(page).arg(patience_ms / 1000);
        return false;
    }
    constexpr int smallest = 0;  // of PNG's qualities: it loses nothing, and takes its time
    if (!window.grab().save(file, "PNG", smallest)) {
        error = QStringLiteral("%1: cannot write").arg(file);
        return false;
    }
    return true;
}

}  // namespace faceter::desktop
