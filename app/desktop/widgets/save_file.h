#pragma once
#include <QByteArray>
#include <QDir>
#include <QMenu>
#include <functional>

#include "figure/table_export.h"

namespace faceter::desktop {

class FigureView;

/// Letters, digits, '.', '_' and '-' of a name from outside: what a save dialog may propose.
QString fileNameFrom(const QString& name);
/// A file of the folder that is not there, by a number behind its name where it must be ("report-2.html"): names may differ in what a
/// file's name cannot hold, or far behind.
QString freeFile(const QDir& folder, const QString& name, const QString& suffix);
/// Asks where to, and writes the bytes whole or not at all; what fails is said in a box with the path.
void askAndSave(QWidget* parent, const QString& proposed, const std::function<QByteArray()>& bytes);
/// The formats that a table leaves the program in: CSV, TSV, Markdown, LaTeX, JSON.
struct TableFormatEntry {
    TableFormat format;
    const char* name;
    const char* suffix;
};
const std::vector<TableFormatEntry>& tableFormats();
/// An action for each of them; `bytes` is asked when one is chosen.
void addTableExports(QMenu* menu, QWidget* parent, const QString& name, const std::function<QByteArray(TableFormat)>& bytes);
/// PDF, SVG, PNG and CSV of what a view shows, as it shows it.
void addFigureExports(QMenu* menu, QWidget* parent, const FigureView* view, const QString& name);

}  // namespace faceter::desktop
