#pragma once
#include <QFrame>
#include <QTimer>

#include "curves/curve_data.h"
#include "pages/curves/panel_spec.h"
#include "workspace/store_query.h"

class QHBoxLayout;
class QMenu;
class QToolButton;

namespace faceter::desktop {

class ElidedLabel;
class FigureView;
class PanelHandle;

/// The series that its patterns match, over all shown groups. It asks the store for what its pixels can show, again whenever it is zoomed,
/// panned or resized, so that a series of a million points costs what one of a thousand does.
class CurvePanel : public QFrame {
    Q_OBJECT
  public:
    CurvePanel(Workspace& workspace, const PanelSpec& spec, QWidget* parent = nullptr);

    const PanelSpec& spec() const { return m_spec; }
    void setSpec(const PanelSpec& spec);
    /// Of these it shows what its patterns match. False where it shows what it has shown.
    bool setNames(const QStringList& names);
    bool hasSeries() const { return !m_series.isEmpty(); }
    FigureView* view() const { return m_view; }
    /// What the page asks of all panels (one request for all: it names each of ten thousand runs); the range, and what the spec says, are
    /// the panel's own.
    void setRequest(std::shared_ptr<const CurveRequest> request, int pageSmoothing);
    /// Asks again: the runs have grown.
    void refresh();
    bool isReady() const { return !hasSeries() || (m_answered && !m_query->isBusy() && !m_debounce.isActive()); }

  Q_SIGNALS:
    void closed();
    void specChanged();
    /// By so many places among the panels that are shown.
    void moveAsked(int by);
    void dropped(const QPoint& global);
    void resizeAsked(const QSize& size);

  private:
    QToolButton* addButton(QHBoxLayout* head, const QString& icon, const QString& name, const char* objectName);
    void buildHead(class QVBoxLayout* layout);
    void fillMenu(QMenu* menu);
    void openOptions();
    void describe();
    void send();
    CurveRequest request() const;
    /// The request with what the panel's pixels can show.
    std::function<CurveResult(Store&)> question() const;
    void showResult(const CurveResult& result);
    void rangeChanged();
    void resizeEvent(QResizeEvent* event) override;

    Workspace& m_workspace;
    StoreQuery<CurveResult>* m_query;
    PanelSpec m_spec;
    QStringList m_names, m_series;
    std::shared_ptr<const CurveRequest> m_common;
    CurveRequest m_asked;  // without its groups
    int m_pageSmoothing = 0;
    FigureView* m_view;
    ElidedLabel* m_title;
    PanelHandle* m_corner;
    QSize m_sizeWhenTaken;
    QTimer m_debounce;
    double m_from = 0, m_to = 0;  // all there is
    bool m_zoomed = false, m_showing = false, m_answered = false, m_otherAxes = false;
};

}  // namespace faceter::desktop
