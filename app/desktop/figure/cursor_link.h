#pragma once
#include <QList>
#include <QObject>
#include <QPointer>

#include "figure/figure_view.h"

namespace faceter::desktop {

/// Joins views over the same x: the pointer in one shows as a cursor in all, and with linked ranges a zoom or pan along x moves all.
class CursorLink : public QObject {
    Q_OBJECT
  public:
    explicit CursorLink(QObject* parent = nullptr) : QObject(parent) {}
    void add(FigureView* view);
    void remove(FigureView* view);
    /// Off at first.
    void setRangesLinked(bool linked);
    bool areRangesLinked() const { return m_rangesLinked; }

  private:
    void passCursor(const FigureView* from, double x);
    void passRange(const FigureView* from, const QCPRange& range);

    QList<QPointer<FigureView>> m_views;
    bool m_rangesLinked = false, m_passing = false;
};

}  // namespace faceter::desktop
