#pragma once
#include "pages/curriculum/curriculum_data.h"
#include "pages/run_page.h"

class QMenu;
class QScrollArea;

namespace faceter::desktop {

class BatchExamples;
class BatchStrip;
class DataTable;
class FigureView;
class TableModel;
class TourRing;
class WorkerQuery;

/// The order in which the shown runs met their tasks: Data-CUBE's tour, similarities and annealing; difficulty and underfitting by task;
/// and the batches of every run as they were trained.
class CurriculumPage : public RunPageOf<CurriculumRun> {
    Q_OBJECT
  public:
    enum class View { tour, difficulty, batches };
    explicit CurriculumPage(Workspace& workspace);
    bool isReady() const override;
    View view() const { return static_cast<View>(viewIndex()); }
    void setView(View view) { setViewIndex(static_cast<int>(view)); }

  private:
    /// A figure of the report in a card of its own; hidden where the run has none.
    struct Card {
        std::string name;
        QWidget* frame = nullptr;
        FigureView* figure = nullptr;
    };
    struct TablePart {
        std::string name;
        DataTable* table = nullptr;
        TableModel* model = nullptr;
    };
    QWidget* makeTour();
    QWidget* makeDifficulty();
    QWidget* makeBatches();
    QWidget* makeCard(const std::string& figure);
    QWidget* makeTable(const std::string& name, const QString& accessible);
    std::function<CurriculumDataPtr(Store&)> question() const override;
    const std::vector<std::string>& problemsOf(const CurriculumRun& run) const override { return run.problems; }
    bool canBeChosen(const CurriculumRun& run) const override { return run.hasReport(); }
    void fillViews() override;
    bool hasView(int view) const override;
    /// The order of batches is known of any run.
    std::vector<int> preferredViews() const override { return {static_cast<int>(View::tour), static_cast<int>(View::batches)}; }
    bool isOfOneRun(int view) const override { return static_cast<View>(view) != View::batches; }
    Nothing nothing() const override;
    void addExports(QMenu* menu) override;
    bool followsTraining() const override { return view() == View::batches; }
    void showBatches();
    void showExamples(const QString& id, qint64 step);
    void planOrder(const QString& id);
    QString labelOf(const QString& id) const;
    void showReport(const CurriculumRun* run);
    void showRing(const CurriculumRun& run);
    void showLegend();

    TourRing* m_ring;
    QWidget* m_ringCard = nullptr;
    BatchStrip* m_strip;
    QScrollArea* m_strips = nullptr;  // around it
    QWidget* m_legend;
    BatchExamples* m_examples;
    std::vector<Card> m_cards;
    std::vector<TablePart> m_tables;
    std::map<std::string, int> m_colours;  // of tasks
    CurriculumDataPtr m_drawn;             // whose batches are in the strip
    CurriculumDataPtr m_stripped;          // the same with the orders that were planned
    WorkerQuery* m_plan;
    QString m_planning;                             // the run whose order is being planned
    std::map<std::string, TrainedOrder> m_planned;  // of runs that had not begun
};

}  // namespace faceter::desktop
