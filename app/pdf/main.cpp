#include <QtCore/QFile>
#include <QtCore/QRegularExpression>
#include <QtCore/QSaveFile>
#include <QtGui/QAbstractTextDocumentLayout>
#include <QtGui/QGuiApplication>
#include <QtGui/QPainter>
#include <QtGui/QPdfWriter>
#include <QtGui/QTextBlock>
#include <QtGui/QTextCursor>
#include <QtGui/QTextDocument>
#include <QtGui/QTextObjectInterface>
#include <QtGui/QTextTable>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "svg_figure.h"
#include "whole_tables.h"

namespace {

constexpr int figure_object = QTextFormat::UserObject + 1;
constexpr int svg_property = 1, width_property = 2, height_property = 3;
constexpr double pixels_per_inch = 96, margin_mm = 15, footer_px = 26;
constexpr double figure_scale = 0.6;  // two beside and two under one another on a page
constexpr int longest_whole_cell = 12;

/// A figure in the text, drawn as vectors.
class FigureObject : public QObject, public QTextObjectInterface {
    Q_OBJECT
    Q_INTERFACES(QTextObjectInterface)
  public:
    using QObject::QObject;
    QSizeF intrinsicSize(QTextDocument* document, int, const QTextFormat& format) override {
        const QSizeF size = figure_scale * QSizeF(format.property(width_property).toDouble(), format.property(height_property).toDouble());
        const double room = document->textWidth() - 2 * document->documentMargin();
        return size.width() > room ? size * (room / size.width()) : size;
    }
    void drawObject(QPainter* painter, const QRectF& place, QTextDocument*, int, const QTextFormat& format) override {
        SvgFigure(format.property(svg_property).toByteArray()).draw(*painter, place);
    }
};

/// Images that are not SVG in the page itself are not looked for.
class Page : public QTextDocument {
  public:
    QVariant loadResource(int, const QUrl&) override { return {}; }
};

/// Images become figure objects.
void take_figures(QTextDocument& page) {
    const QString prefix = QStringLiteral("data:image/svg+xml;base64,");
    QTextCursor cursor(&page);
    while (!cursor.atEnd()) {
        cursor.movePosition(QTextCursor::NextCharacter, QTextCursor::KeepAnchor);
        const QTextImageFormat image = cursor.charFormat().toImageFormat();
        if (cursor.selectedText() == QString(QChar::ObjectReplacementCharacter) && image.isValid() && image.name().startsWith(prefix)) {
            QTextCharFormat figure;
            figure.setObjectType(figure_object);
            figure.setProperty(svg_property, QByteArray::fromBase64(image.name().mid(prefix.size()).toLatin1()));
            figure.setProperty(width_property, image.width());
            figure.setProperty(height_property, image.height());
            cursor.insertText(QString(QChar::ObjectReplacementCharacter), figure);
        }
        cursor.setPosition(cursor.position());
    }
}

/// What a block's figures take of a line; nothing where there is anything but figures in it.
std::optional<double> width_of_figures(const QTextBlock& block) {
    double width = 0;
    for (auto part = block.begin(); !part.atEnd(); ++part) {
        if (part.fragment().text().trimmed().isEmpty()) continue;
        const QTextCharFormat format = part.fragment().charFormat();
        if (format.objectType() != figure_object) return std::nullopt;
        width += figure_scale * format.property(width_property).toDouble() * part.fragment().length();
    }
    return width > 0 ? std::optional(width) : std::nullopt;
}

/// Figures that follow one another share a line where it is wide enough for two.
void set_figures_side_by_side(QTextDocument& page, double room) {
    for (QTextBlock block = page.begin(); block.isValid(); block = block.next()) {
        const std::optional<double> left = width_of_figures(block), right = width_of_figures(block.next());
        if (!left || !right || *left + *right > room) continue;
        QTextCursor cursor(block);
        cursor.movePosition(QTextCursor::EndOfBlock);
        cursor.deleteChar();  // the end of the paragraph
        block = cursor.block();
    }
}

/// Numbers and short names stand on one line, however many columns there are.
void keep_short_cells_whole(const QTextTable& table) {
    for (int row = 0; row < table.rows(); ++row)
        for (int column = 0; column < table.columns(); ++column) {
            QTextCursor cursor = table.cellAt(row, column).firstCursorPosition();
            if (cursor.block().text().size() > longest_whole_cell) continue;
            QTextBlockFormat format = cursor.blockFormat();
            format.setNonBreakableLines(true);
            cursor.setBlockFormat(format);
        }
}

/// Lines as the page's style sheet has them for browsers, which Qt's subset of CSS does not know.
void rule_tables(QTextFrame* frame) {
    for (QTextFrame* child : frame->childFrames()) {
        if (auto* table = qobject_cast<QTextTable*>(child)) {
            QTextTableFormat format = table->format();
            format.setBorder(0.5);
            format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
            format.setBorderBrush(QColor(0xc4, 0xc9, 0xd0));
            format.setBorderCollapse(true);
            format.setCellPadding(3);
            format.setHeaderRowCount(std::max(1, format.headerRowCount()));  // a row of groups above the names, too
            table->setFormat(format);
            keep_short_cells_whole(*table);
        }
        rule_tables(child);
    }
}

/// Where the widest table ends.
double widest_table(const QTextDocument& page, const QTextFrame* frame) {
    double right = 0;
    for (const QTextFrame* child : frame->childFrames()) {
        if (qobject_cast<const QTextTable*>(child))
            right = std::max(right, page.documentLayout()->frameBoundingRect(const_cast<QTextFrame*>(child)).right());
        right = std::max(right, widest_table(page, child));
    }
    return right;
}

/// `scale`: of the text, on pages that are so much larger.
void draw_pages(QTextDocument& page, QPdfWriter& writer, const QSizeF& paper, double scale) {
    QPainter painter(&writer);
    painter.scale(writer.resolution() / pixels_per_inch, writer.resolution() / pixels_per_inch);
    const int count = page.pageCount();
    for (int i = 0; i < count; ++i) {
        if (i > 0) writer.newPage();
        const QRectF part(0, i * page.pageSize().height(), page.pageSize().width(), page.pageSize().height());
        painter.save();
        painter.scale(scale, scale);
        painter.translate(0, -part.top());
        QAbstractTextDocumentLayout::PaintContext context;
        context.clip = part;
        context.palette.setColor(QPalette::Text, Qt::black);
        painter.setClipRect(part);
        page.documentLayout()->draw(&painter, context);
        painter.restore();
        QFont small(page.defaultFont().family());
        small.setPixelSize(10);  // points would be scaled a second time
        painter.setFont(small);
        painter.drawText(QRectF(0, paper.height() - footer_px + 6, paper.width(), footer_px - 6), Qt::AlignCenter,
                         QStringLiteral("%1 / %2").arg(i + 1).arg(count));
    }
}

/// A narrow column is as wide as its longest word.
QTextOption words_stay_whole() {
    QTextOption option;
    option.setWrapMode(QTextOption::WordWrap);
    return option;
}

/// What a browser folds away, every setting of every run, would be most of the pages.
QString without_folded_parts(QString html) {
    static const QRegularExpression folded(QStringLiteral("(<details>.*</details>\\s*)+"), QRegularExpression::DotMatchesEverythingOption);
    return html.replace(folded, QStringLiteral("<p>They stand in the HTML page of this report, and in each run's record.</p>"));
}

int fail(const QString& message) {
    std::fprintf(stderr, "faceter-pdf: %s\n", message.toUtf8().constData());
    return 5;
}

int write_pdf(const QString& in, const QString& out, const QString& title) {
    QFile source(in);
    if (!source.open(QIODevice::ReadOnly)) return fail(in + QStringLiteral(": cannot be read: ") + source.errorString());
    QSaveFile target(out);
    if (!target.open(QIODevice::WriteOnly)) return fail(out + QStringLiteral(": cannot be written: ") + target.errorString());
    QPdfWriter writer(&target);
    writer.setTitle(title);
    writer.setCreator(QStringLiteral("Faceter"));
    writer.setResolution(300);
    writer.setPageLayout(QPageLayout(QPageSize(QPageSize::A4), QPageLayout::Landscape,
                                     QMarginsF(margin_mm, margin_mm, margin_mm, margin_mm), QPageLayout::Millimeter));
    const QSizeF paper = writer.pageLayout().paintRect(QPageLayout::Inch).size() * pixels_per_inch;
    Page page;
    FigureObject figures;
    page.documentLayout()->registerHandler(figure_object, &figures);
    page.setDefaultFont(QFont(QStringLiteral("Noto Sans"), 8));
    page.setDefaultTextOption(words_stay_whole());
    page.setHtml(without_folded_parts(QString::fromUtf8(source.readAll())));
    page.setDocumentMargin(0);
    page.setPageSize({paper.width(), paper.height() - footer_px});
    {
        QTextCursor changes(&page);
        changes.beginEditBlock();  // else the page is laid out anew for each cell
        rule_tables(page.rootFrame());
        take_figures(page);
        changes.endEditBlock();
        set_figures_side_by_side(page, page.pageSize().width());
    }
    // No column is cut off: where a table is wider than the paper, all is set smaller.
    const double wide = std::ceil(widest_table(page, page.rootFrame())), scale = std::min(1.0, paper.width() / std::max(1.0, wide));
    if (scale < 1) page.setPageSize(page.pageSize() / scale);
    keep_tables_whole(page);
    draw_pages(page, writer, paper, scale);
    if (!target.commit()) return fail(out + QStringLiteral(": cannot be written: ") + target.errorString());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    QGuiApplication app(argc, argv);
    const QStringList arguments = QGuiApplication::arguments();
    if (arguments.size() < 3 || arguments.size() > 4) {
        std::fprintf(stderr, "usage: faceter-pdf IN.html OUT.pdf [TITLE]\n");
        return 2;
    }
    return write_pdf(arguments[1], arguments[2], arguments.value(3));
}

#include "main.moc"
