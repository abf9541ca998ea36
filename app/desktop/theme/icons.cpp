#include "theme/icons.h"

#include <QDir>
#include <QFile>
#include <QHash>
#include <QIconEngine>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>
#include <memory>
#include <optional>

#include "theme/theme.h"

namespace faceter::desktop {
namespace {

const auto folder = QStringLiteral(":/faceter/icons/");

/// Draws the SVG at every size and in the colour of the moment, so that a change of theme or screen needs no new icon. It is parsed once a
/// colour.
class SvgIconEngine : public QIconEngine {
  public:
    SvgIconEngine(QString name, QByteArray svg, std::optional<QColor> colour)
        : m_name(std::move(name)), m_svg(std::move(svg)), m_colour(colour) {}

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
        rendererFor(colour(mode)).render(painter, QRectF(rect));
    }
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
        QPixmap image(size);
        if (image.isNull()) return image;  // of a button that was squeezed to nothing
        image.fill(Qt::transparent);
        QPainter painter(&image);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return image;
    }
    QString key() const override { return QStringLiteral("faceter-svg"); }
    QString iconName() override { return m_name; }
    QIconEngine* clone() const override { return new SvgIconEngine(*this); }

  private:
    QColor colour(QIcon::Mode mode) const {
        const ThemeColours& colours = Theme::instance().colours();
        if (mode == QIcon::Disabled) return colours.dark ? colours.secondary.darker(150) : colours.secondary.lighter(160);
        return m_colour.value_or(colours.text);
    }
    QSvgRenderer& rendererFor(const QColor& colour) {
        std::shared_ptr<QSvgRenderer>& renderer = m_parsed[colour.rgb()];
        if (!renderer) renderer = std::make_shared<QSvgRenderer>(QByteArray(m_svg).replace("currentColor", colour.name().toLatin1()));
        return *renderer;
    }

    QString m_name;
    QByteArray m_svg;
    std::optional<QColor> m_colour;
    QHash<QRgb, std::shared_ptr<QSvgRenderer>> m_parsed;
};

QIcon read(const QString& name, std::optional<QColor> colour) {
    QFile file(folder + name + QStringLiteral(".svg"));
    if (!file.open(QIODevice::ReadOnly)) {
        qWarning("there is no icon '%s' in resources/icons", qPrintable(name));
        return {};
    }
    return QIcon(new SvgIconEngine(name, file.readAll(), colour));
}

/// Delegates ask for the same few at every row that they paint.
QIcon load(const QString& name, std::optional<QColor> colour) {
    static auto* known = new QHash<QString, QIcon>;  // outlives every widget, as the theme does
    const QString key = colour ? name + colour->name() : name;
    if (!known->contains(key)) known->insert(key, read(name, colour));
    return known->value(key);
}

}  // namespace

QIcon icon(const QString& name) { return load(name, std::nullopt); }

QIcon icon(const QString& name, const QColor& colour) { return load(name, colour); }

QStringList iconNames() {
    QStringList names = QDir(folder).entryList({QStringLiteral("*.svg")}, QDir::Files, QDir::Name);
    for (QString& name : names) name.chop(4);
    return names;
}

}  // namespace faceter::desktop
