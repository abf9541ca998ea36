#pragma once
#include <QImage>
#include <QPointer>
#include <QSize>
#include <QString>
#include <QWidget>
#include <functional>

namespace faceter::desktop {

class FigurePlot;

/// How a figure leaves the program: light, with its title, at a size that suits a column or a page.
struct ExportOptions {
    QSize size{640, 400};  ///< px of the layout; in PDF 640 px are 160 mm. It gets higher where a legend has more names than that
    bool dark = false;
    bool title = true, notes = true;
};

enum class ExportFormat { pdf, svg, png, csv };

/// The suffix without a dot.
QString exportSuffix(ExportFormat format);
/// Writes the plot as it is shown (range, visible series) to `path`, whole or not at all. Throws faceter::Error naming the path.
void exportFigure(const FigurePlot& plot, const QString& path, ExportFormat format, const ExportOptions& options = {});
/// Asks where to, over the window `over`, and has `write` make the file; a name without an ending gets that of `proposed`. What fails is
/// said in a box with the path, also that `subject` has gone while a person chose: figures are drawn anew where runs change.
void askAndWrite(QWidget* over, const QPointer<const QWidget>& subject, const QString& proposed,
                 const std::function<void(const QString& path)>& write);
/// At 2x.
QImage figureImage(const FigurePlot& plot, const ExportOptions& options = {});
/// The numbers behind what is shown: visible series, points in the visible range. Columns by kind; RFC 4180, full precision.
QString figureCsv(const FigurePlot& plot);
/// The same between tabs, for the clipboard.
QString figureTsv(const FigurePlot& plot);

}  // namespace faceter::desktop
