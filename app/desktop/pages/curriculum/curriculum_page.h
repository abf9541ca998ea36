#pragma once
#include "pages/curriculum/curriculum_data.h"
#include "pages/page.h"
#include "workspace/store_query.h"

class QComboBox;
class QGridLayout;
class QLabel;
class QMenu;
class QScrollArea;
class QStackedWidget;

namespace faceter::desktop {

class BatchStrip;
class DataTable;
class EmptyState;
class ErrorBar;
class FigureView;
class TableModel;
class TourRing;

/// The order in which the shown runs met their tasks: Data-CUBE's tour, similarities and annealing; difficulty and underfitting by task;
/// and the batches of every run as they were trained.
class CurriculumPage : public Page {
    Q_OBJECT
  public:
    enum class View { tour, difficulty, batches };
    explicit CurriculumPage(Workspace& workspace);
    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;
    bool isReady() const override { return !m_query->isBusy(); }
    View view() const;
    void setView(View view);

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
    QWidget* makeHead();
    QWidget* makeTour();
    QWidget* makeDifficulty();
    QWidget* makeBatches();
    QWidget* makeCard(const std::string& figure);
    QWidget* makeTable(const std::string& name, const QString& accessible);
    void connectQuery();
    std::function<CurriculumDataPtr(Store&)> question() const;
    void clear();
    void take(CurriculumDataPtr data);
    void fillRuns();
    void showRun();
    void showRing(const CurriculumRun& run);
    void showLegend();
    void showView();
    void showEmpty();
    void fillExportMenu(QMenu* menu);
    const CurriculumRun* chosenRun() const;

    StoreQuery<CurriculumDataPtr>* m_query;
    QComboBox* m_run;
    QComboBox* m_viewChoice;
    QWidget* m_actions;
    QLabel* m_subtitle;
    ErrorBar* m_error;
    QStackedWidget* m_stack;
    QWidget* m_loading;
    EmptyState* m_empty;
    TourRing* m_ring;
    QWidget* m_ringCard = nullptr;
    BatchStrip* m_strip;
    QWidget* m_legend;
    QWidget* m_views[3] = {};
    std::vector<Card> m_cards;
    std::vector<TablePart> m_tables;
    CurriculumDataPtr m_data;
    std::map<std::string, int> m_colours;  // of tasks
    QString m_wantedRun;
};

}  // namespace faceter::desktop
