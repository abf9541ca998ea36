#pragma once
#include "pages/router/router_data.h"
#include "pages/run_page.h"

namespace faceter::desktop {

class GatesView;
class RouteView;

/// How a router chooses among gates: best against routed gate by data set, scores against the number of gates, pilots and training size
/// with the oracles as ceilings, maps, a query of one's own explained, and the gates themselves.
class RouterPage : public RunPageOf<RouterRun> {
    Q_OBJECT
  public:
    enum class View { gates, scores, maps, query, list };
    explicit RouterPage(Workspace& workspace);
    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;
    bool isReady() const override;
    View view() const { return static_cast<View>(viewIndex()); }

  private:
    std::function<RouterDataPtr(Store&)> question() const override;
    const std::vector<std::string>& problemsOf(const RouterRun& run) const override { return run.report.problems; }
    void fillViews() override;
    bool hasView(int view) const override;
    Nothing nothing() const override;
    QString missingPart() const;
    static QString modelPart(const RouterRun* run);
    void addExports(QMenu* menu) override;
    ReportCards* cards(int view) const;

    ReportCards* m_cards[3];  // gates, scores, maps
    RouteView* m_route;
    GatesView* m_gates;
};

}  // namespace faceter::desktop
