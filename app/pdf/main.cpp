#include <QtCore/QFile>
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
#include <QtSvg/QSvgRenderer>
#include <cstdio>

namespace {

constexpr int figure_object = QTextFormat::UserObject + 1;
constexpr int svg_property = 1, width_property = 2, height_property = 3;
constexpr double pixels_per_inch = 96, margin_mm = 15, footer_px = 26;

/// A figure in the text, drawn as vectors.
class FigureObject : public QObject, public QTextObjectInterface {
    Q_OBJECT
    Q_INTERFACES(QTextObjectInterface)
  public:
    using QObject::QObject;
    QSizeF intrinsicSize(QTextDocument* document, int, const QTextFormat& format) override {
        const QSizeF size(format.property(width_property).toDouble(), format.property(height_property).toDouble());
        const double room = document->textWidth() - 2 * document->documentMargin();
        return size.width() > room ? size * (room / size.width()) : size;
    }
    void drawObject(QPainter* painter, const QRectF& place, QTextDocument*, int, const QTextFormat& format) override {
        QSvgRenderer renderer(format.property(svg_property).toByteArray());
        renderer.render(painter, place);
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
            format.setHeaderRowCount(1);
            table->setFormat(format);
        }
        rule_tables(child);
    }
}

void draw_pages(QTextDocument& page, QPdfWriter& writer, const QSizeF& paper) {
    QPainter painter(&writer);
    painter.scale(writer.resolution() / pixels_per_inch, writer.resolution() / pixels_per_inch);
    const int count = page.pageCount();
    for (int i = 0; i < count; ++i) {
        if (i > 0) writer.newPage();
        const QRectF part(0, i * page.pageSize().height(), page.pageSize().width(), page.pageSize().height());
        painter.save();
        painter.translate(0, -part.top());
        QAbstractTextDocumentLayout::PaintContext context;
        context.clip = part;
        context.palette.setColor(QPalette::Text, Qt::black);
        painter.setClipRect(part);
        page.documentLayout()->draw(&painter, context);
        painter.restore();
        painter.setFont(QFont(page.defaultFont().family(), 7));
        painter.drawText(QRectF(0, paper.height() - footer_px + 6, paper.width(), footer_px - 6), Qt::AlignCenter,
                         QStringLiteral("%1 / %2").arg(i + 1).arg(count));
    }
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
    page.setHtml(QString::fromUtf8(source.readAll()));
    page.setDocumentMargin(0);
    page.setPageSize({paper.width(), paper.height() - footer_px});
    rule_tables(page.rootFrame());
    take_figures(page);
    draw_pages(page, writer, paper);
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
