#include "widgets/save_file.h"

#include <QPointer>
#include <QRegularExpression>
#include <QSaveFile>

#include "common/error.h"
#include "figure/figure_view.h"
#include "theme/icons.h"

namespace faceter::desktop {
namespace {

void writeWhole(const QString& path, const QByteArray& bytes) {
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
        throw failure("{}: cannot be written ({}). Choose another folder or free some space.", path.toStdString(),
                      file.errorString().toStdString());
}

}  // namespace

QString fileNameFrom(const QString& name) {
    QString safe = name.left(80);
    safe.replace(QRegularExpression(QStringLiteral("[^A-Za-z0-9_.-]+")), QStringLiteral("_"));
    while (safe.startsWith(QLatin1Char('.'))) safe.remove(0, 1);
    return safe.isEmpty() ? QStringLiteral("export") : safe;
}

QString freeFile(const QDir& folder, const QString& name, const QString& suffix) {
    QString free = name + QLatin1Char('.') + suffix;
    for (int number = 2; folder.exists(free); ++number) free = QStringLiteral("%1-%2.%3").arg(name).arg(number).arg(suffix);
    return folder.filePath(free);
}

void askAndSave(QWidget* parent, const QString& proposed, const std::function<QByteArray()>& bytes) {
    askAndWrite(parent->window(), parent, proposed, [&bytes](const QString& path) { writeWhole(path, bytes()); });
}

const std::vector<TableFormatEntry>& tableFormats() {
    static const std::vector<TableFormatEntry> formats = {{TableFormat::csv, "CSV", "csv"},
                                                          {TableFormat::tsv, "TSV", "tsv"},
                                                          {TableFormat::md, "Markdown", "md"},
                                                          {TableFormat::latex, "LaTeX", "tex"},
                                                          {TableFormat::json, "JSON", "json"}};
    return formats;
}

void addTableExports(QMenu* menu, QWidget* parent, const QString& name, const std::function<QByteArray(TableFormat)>& bytes) {
    for (const TableFormatEntry& entry : tableFormats()) {
        QAction* action = menu->addAction(icon(QStringLiteral("export")), QObject::tr("Table as %1…").arg(QLatin1String(entry.name)));
        action->setObjectName(QStringLiteral("exportTable_") + QLatin1String(entry.suffix));
        QObject::connect(action, &QAction::triggered, parent, [parent, name, bytes, entry] {
            askAndSave(parent, fileNameFrom(name) + QLatin1Char('.') + QLatin1String(entry.suffix), [&] { return bytes(entry.format); });
        });
    }
}

void addFigureExports(QMenu* menu, QWidget* parent, const FigureView* view, const QString& name) {
    for (const ExportFormat format : {ExportFormat::pdf, ExportFormat::svg, ExportFormat::png, ExportFormat::csv}) {
        const QString suffix = exportSuffix(format);
        QAction* action = menu->addAction(icon(QStringLiteral("export")), QObject::tr("Figure as %1…").arg(suffix.toUpper()));
        action->setObjectName(QStringLiteral("exportFigure_") + suffix);
        action->setEnabled(view->hasValues());
        QObject::connect(action, &QAction::triggered, parent, [parent, format, suffix, name, shown = QPointer<const FigureView>(view)] {
            askAndWrite(parent->window(), shown.data(), fileNameFrom(name) + QLatin1Char('.') + suffix,
                        [&](const QString& path) { shown->exportTo(path, format); });
        });
    }
}

}  // namespace faceter::desktop
