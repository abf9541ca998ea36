#pragma once
#include "pages/experts/experts_data.h"
#include "pages/run_page.h"

namespace faceter::desktop {

class ExpertHistoryView;
class ExpertTextView;

/// Which expert what goes through: the load of token routers over training and by task, a text of one's own by token, and how far task
/// experts have moved from the dense block and from one another.
class ExpertsPage : public RunPageOf<ExpertsRun> {
    Q_OBJECT
  public:
    enum class View { training, tasks, text, moves };
    explicit ExpertsPage(Workspace& workspace);
    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;
    bool isReady() const override;
    View view() const { return static_cast<View>(viewIndex()); }

  private:
    std::function<ExpertsDataPtr(Store&)> question() const override;
    const std::vector<std::string>& problemsOf(const ExpertsRun& run) const override { return run.report.problems; }
    void fillViews() override;
    bool hasView(int view) const override;
    std::vector<int> preferredViews() const override;
    Nothing nothing() const override;
    void addExports(QMenu* menu) override;
    bool followsTraining() const override { return view() == View::training || !hasView(static_cast<int>(View::training)); }

    ExpertHistoryView* m_history;
    ExpertTextView* m_text;
    ReportCards* m_tasks;
    ReportCards* m_moves;
};

}  // namespace faceter::desktop
