#pragma once
#include <QFrame>
#include <QTimer>

#include "curves/curve_data.h"
#include "workspace/store_query.h"

class QLabel;
class QToolButton;

namespace faceter::desktop {

class FigureView;

/// One series over all shown groups. It asks the store for what its pixels can show, again whenever it is zoomed, panned or resized, so
/// that a series of a million points costs what one of a thousand does.
class CurvePanel : public QFrame {
    Q_OBJECT
  public:
    CurvePanel(Workspace& workspace, const QString& series, QWidget* parent = nullptr);

    QString series() const { return m_series; }
    FigureView* view() const { return m_view; }
    /// Everything but the range, which is the panel's own.
    void setRequest(CurveRequest request);
    /// Asks again: the runs have grown.
    void refresh();
    bool isReady() const { return m_answered && !m_query->isBusy() && !m_debounce.isActive(); }

  Q_SIGNALS:
    void closed(const QString& series);

  private:
    /// The request with what the panel's pixels can show.
    std::function<CurveResult(Store&)> question() const;
    void showResult(const CurveResult& result);
    void rangeChanged();

    Workspace& m_workspace;
    StoreQuery<CurveResult>* m_query;
    QString m_series;
    CurveRequest m_request;
    FigureView* m_view;
    QLabel* m_title;
    QTimer m_debounce;
    double m_from = 0, m_to = 0;  // all there is
    bool m_zoomed = false, m_showing = false, m_answered = false, m_otherAxes = false;
};

}  // namespace faceter::desktop
