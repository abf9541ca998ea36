#pragma once
#include <QtCore/QByteArray>
#include <QtCore/QList>
#include <QtCore/QRectF>
#include <QtCore/QString>
#include <QtGui/QColor>

class QPainter;

/// A figure of the report as core/figure/svg_canvas writes it. Its texts are drawn as texts: Qt's SVG module makes an outline of every
/// letter, which is a megabyte for a heat map.
class SvgFigure {
  public:
    explicit SvgFigure(const QByteArray& svg);
    /// Fits it into `place`, whose sides have the figure's proportions.
    void draw(QPainter& painter, const QRectF& place) const;

  private:
    struct Label {
        double x = 0, y = 0, angle = 0;  ///< of the baseline's beginning, middle or end
        double size = 11;
        bool bold = false;
        QString anchor, text;
        QColor colour;
    };
    void draw_label(QPainter& painter, const Label& label) const;

    QByteArray marks_;  ///< the figure without its texts
    QList<Label> labels_;
    QRectF view_box_;
};
