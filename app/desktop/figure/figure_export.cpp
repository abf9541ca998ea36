#include "figure/figure_export.h"

#include <QBuffer>
#include <QFileDialog>
#include <QMessageBox>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <memory>

#include "common/error.h"
#include "figure/figure_data.h"
#include "figure/figure_plot.h"

namespace faceter::desktop {
namespace {

constexpr double millimetresPerPixel = 0.25, pngScale = 2;
constexpr int textSize = 11;  // px: on paper it is not the size that the user needs on the screen
constexpr int highest = 4000;

void layOut(FigurePlot& plot, const QSize& size) {
    plot.resize(size);
    plot.setViewport(QRect(QPoint(), size));
    plot.replot(QCustomPlot::rpImmediateRefresh);
}

/// A second plot of the same figure, range and visible series, in the export's size and colours.
std::unique_ptr<FigurePlot> copyOf(const FigurePlot& plot, const ExportOptions& options) {
    auto copy = std::make_unique<FigurePlot>();
    copy->setAttribute(Qt::WA_DontShowOnScreen);
    copy->setColours(options.dark ? ThemeColours::night() : ThemeColours::light());
    copy->setTextSize(textSize);
    copy->setFigure(plot.figure());
    copy->setReferenceMarks(plot.referenceMarks());
    copy->setTitleShown(options.title);
    copy->setNotesShown(options.notes);
    for (int s = 0; s < plot.seriesCount(); ++s) copy->setSeriesVisible(s, plot.isSeriesVisible(s));
    copy->xAxis->setRange(plot.xAxis->range());
    copy->yAxis->setRange(plot.yAxis->range());
    layOut(*copy, options.size);
    if (const int more = copy->lackingHeight(); more > 0)  // on paper no pointer asks what a line is called
        layOut(*copy, {options.size.width(), std::max(options.size.height(), std::min(options.size.height() + more, highest))});
    return copy;
}

void paint(FigurePlot& plot, QPaintDevice* device, double scale) {
    QCPPainter painter;
    if (!painter.begin(device)) throw failure("the figure cannot be drawn for export");
    painter.setMode(QCPPainter::pmVectorized);
    painter.setMode(QCPPainter::pmNoCaching);
    painter.scale(scale, scale);
    plot.toPainter(&painter, plot.viewport().width(), plot.viewport().height());
}

QByteArray pdf(FigurePlot& plot) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    const QSizeF size = QSizeF(plot.viewport().size()) * millimetresPerPixel;
    writer.setPageSize(QPageSize(size, QPageSize::Millimeter, QString(), QPageSize::ExactMatch));
    writer.setPageMargins(QMarginsF(0, 0, 0, 0));
    writer.setTitle(plainText(plot.figure().title.empty() ? plot.figure().name : plot.figure().title));
    writer.setCreator(QStringLiteral("Faceter"));
    writer.setResolution(1200);
    paint(plot, &writer, writer.resolution() / 25.4 * millimetresPerPixel);
    return bytes;
}

QByteArray svg(FigurePlot& plot) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(plot.viewport().size());
    generator.setViewBox(plot.viewport());
    generator.setResolution(96);
    generator.setTitle(plainText(plot.figure().title.empty() ? plot.figure().name : plot.figure().title));
    generator.setDescription(QStringLiteral("Faceter"));
    paint(plot, &generator, 1);
    return bytes;
}

QByteArray png(const QImage& image) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    if (!image.save(&buffer, "PNG")) throw failure("the figure cannot be written as PNG");
    return bytes;
}

QByteArray contents(const FigurePlot& plot, ExportFormat format, const ExportOptions& options) {
    if (format == ExportFormat::csv) return figureCsv(plot).toUtf8();
    if (format == ExportFormat::png) return png(figureImage(plot, options));
    const auto copy = copyOf(plot, options);
    return format == ExportFormat::pdf ? pdf(*copy) : svg(*copy);
}

}  // namespace

QString exportSuffix(ExportFormat format) {
    switch (format) {
        case ExportFormat::pdf:
            return QStringLiteral("pdf");
        case ExportFormat::svg:
            return QStringLiteral("svg");
        case ExportFormat::png:
            return QStringLiteral("png");
        case ExportFormat::csv:
            return QStringLiteral("csv");
    }
    return {};
}

QImage figureImage(const FigurePlot& plot, const ExportOptions& options) {
    const auto copy = copyOf(plot, options);
    const QSize size = copy->viewport().size();
    QImage image(size * pngScale, QImage::Format_ARGB32_Premultiplied);
    image.fill(copy->plotStyle().colours.surface);
    QCPPainter painter;
    painter.begin(&image);
    painter.setMode(QCPPainter::pmNoCaching);
    painter.scale(pngScale, pngScale);
    copy->toPainter(&painter, size.width(), size.height());
    painter.end();
    image.setDotsPerMeterX(static_cast<int>(1000 / millimetresPerPixel * pngScale));
    image.setDotsPerMeterY(image.dotsPerMeterX());
    return image;
}

void exportFigure(const FigurePlot& plot, const QString& path, ExportFormat format, const ExportOptions& options) {
    const QByteArray bytes = contents(plot, format, options);
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
        throw failure("{}: the figure cannot be written ({}). Choose another folder or free some space.", path.toStdString(),
                      file.errorString().toStdString());
}

void askAndWrite(QWidget* over, const QPointer<const QWidget>& subject, const QString& proposed,
                 const std::function<void(const QString& path)>& write) {
    const QString suffix = proposed.section(QLatin1Char('.'), -1);
    QFileDialog dialog(over, QObject::tr("Export"), {}, QObject::tr("%1 file (*.%2)").arg(suffix.toUpper(), suffix));
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setDefaultSuffix(suffix);
    dialog.selectFile(proposed);
    if (dialog.exec() != QDialog::Accepted) return;
    const QString path = dialog.selectedFiles().value(0);
    try {
        if (!subject)
            throw failure(
                "{}: nothing was written, since what was to be exported was drawn anew meanwhile: runs have changed. Export it "
                "again.",
                path.toStdString());
        write(path);
    } catch (const std::exception& error) {
        QMessageBox box(QMessageBox::Warning, QObject::tr("Export"), QString::fromUtf8(error.what()), QMessageBox::Ok, over);
        box.setTextFormat(Qt::PlainText);
        box.exec();
    }
}

QString figureCsv(const FigurePlot& plot) { return figureData(plot).csv(); }

QString figureTsv(const FigurePlot& plot) { return figureData(plot).tsv(); }

}  // namespace faceter::desktop
