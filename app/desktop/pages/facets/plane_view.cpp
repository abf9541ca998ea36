#include "pages/facets/plane_view.h"

#include <algorithm>

namespace faceter::desktop {
namespace {

/// Labels name the texts in their order: not drawn here, where a list stands beside.
Figure withoutLabels(Figure figure) {
    for (Series& series : figure.series) series.labels.clear();
    return figure;
}

int textAt(const Series& series, double x, double y) {
    for (std::size_t i = 0; i < series.x.size(); ++i)
        if (series.x[i] == x && series.y[i] == y) return static_cast<int>(i);
    return -1;
}

}  // namespace

PlaneView::PlaneView(const Figure& plane, QWidget* parent) : FigureView(withoutLabels(plane), parent) {
    setNotesShown(false);
    setTitleShown(false);
    connect(this, &FigureView::pointClicked, this, [this](int series, double x, double y) {
        if (series < 0 || series >= static_cast<int>(figure().series.size())) return;
        if (const int text = desktop::textAt(figure().series[static_cast<std::size_t>(series)], x, y); text >= 0) Q_EMIT textClicked(text);
    });
    connect(&Theme::instance(), &Theme::changed, this, &PlaneView::drawMark);
}

void PlaneView::markText(int text) {
    m_marked = text;
    drawMark();
}

void PlaneView::drawMark() {
    plot()->clearItems();
    const QPen pen(Theme::instance().colours().text, 1.2);
    QPointF before;
    bool any = false;
    plot()->setCurrentLayer(QStringLiteral("overlay"));
    for (const Series& series : figure().series) {
        if (m_marked < 0 || m_marked >= static_cast<int>(series.x.size())) continue;
        const auto i = static_cast<std::size_t>(m_marked);
        const QPointF at(series.x[i], series.y[i]);
        if (any) {
            auto* line = new QCPItemLine(plot());
            line->start->setCoords(before);
            line->end->setCoords(at);
            line->setPen(pen);
            line->setSelectable(false);
        }
        auto* ring = new QCPItemTracer(plot());
        ring->position->setCoords(at);
        ring->setStyle(QCPItemTracer::tsCircle);
        ring->setSize(11);
        ring->setPen(pen);
        ring->setBrush(Qt::NoBrush);
        ring->setSelectable(false);
        before = at;
        any = true;
    }
    plot()->setCurrentLayer(QStringLiteral("main"));
    plot()->replot(QCustomPlot::rpQueuedReplot);
}

QPoint PlaneView::pointOf(int task, int text) const {
    const Series& series = figure().series[static_cast<std::size_t>(task)];
    const auto i = static_cast<std::size_t>(text);
    const QPointF pixel(plot()->xAxis->coordToPixel(series.x[i]), plot()->yAxis->coordToPixel(series.y[i]));
    return pixel.toPoint();
}

}  // namespace faceter::desktop
