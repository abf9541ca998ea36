#include "help/help_page.h"

#include <QDir>
#include <QImageReader>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>
#include <algorithm>

namespace faceter::desktop {
namespace {

QSize fitted(const QSize& size, int room) {
    return size.width() > room ? QSize(room, std::max(1, size.height() * room / size.width())) : size;
}

QPixmap drawn(const QString& file, int room, qreal ratio) {
    QSvgRenderer renderer(file);
    const QSize size = fitted(renderer.defaultSize(), room);
    if (!renderer.isValid() || size.isEmpty()) return {};
    QPixmap pixmap(size * ratio);
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    renderer.render(&painter, QRectF(QPointF(), size));
    return pixmap;
}

QPixmap scaled(const QString& file, int room, qreal ratio) {
    QImageReader reader(file);
    const QImage image = reader.read();
    if (image.isNull()) return {};
    const QSize size = fitted(image.size(), room) * ratio;
    QPixmap pixmap = QPixmap::fromImage(image.scaled(size, Qt::IgnoreAspectRatio, Qt::SmoothTransformation));
    pixmap.setDevicePixelRatio(ratio);
    return pixmap;
}

}  // namespace

HelpPage::HelpPage(QWidget* parent) : QTextBrowser(parent) {
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);  // pictures that fit beside it alone would make it come and go
}

void HelpPage::showMarkdown(const QString& markdown) {
    m_pictures.clear();
    m_fitted = room();
    setMarkdown(markdown);
}

int HelpPage::room() const { return std::max(1, viewport()->width() - 2 * static_cast<int>(document()->documentMargin())); }

QPixmap HelpPage::picture(const QUrl& name) const {
    const QDir folder(m_folder);
    const QString file = QDir::cleanPath(folder.filePath(name.path()));
    if (!name.isRelative() || !file.startsWith(QDir::cleanPath(folder.path()) + QLatin1Char('/'))) return {};
    return name.path().endsWith(QStringLiteral(".svg")) ? drawn(file, room(), devicePixelRatioF())
                                                        : scaled(file, room(), devicePixelRatioF());
}

QVariant HelpPage::loadResource(int type, const QUrl& name) {
    if (type != QTextDocument::ImageResource) return QTextBrowser::loadResource(type, name);
    m_pictures.insert(name);
    return picture(name);
}

void HelpPage::resizeEvent(QResizeEvent* event) {
    QTextBrowser::resizeEvent(event);
    if (m_pictures.isEmpty() || std::exchange(m_fitted, room()) == room()) return;
    for (const QUrl& name : std::as_const(m_pictures)) document()->addResource(QTextDocument::ImageResource, name, picture(name));
    document()->markContentsDirty(0, document()->characterCount());
}

}  // namespace faceter::desktop
