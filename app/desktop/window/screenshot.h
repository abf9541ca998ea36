#pragma once
#include <QSize>
#include <QString>

namespace faceter::desktop {

class MainWindow;

/// Shows `page`, waits until it has what it asked for (30 s at most), and writes the window as PNG. False with a message in `error` where
/// that failed.
bool takeScreenshot(MainWindow& window, const QString& page, const QString& file, QString& error);

}  // namespace faceter::desktop
