#pragma once
#include <QTimer>

#include "pages/explore/explore_data.h"
#include "pages/page.h"
#include "worker/worker_query.h"
#include "workspace/store_query.h"

class QComboBox;
class QLineEdit;
class QListView;
class QMenu;
class QProgressBar;
class QPushButton;
class QSortFilterProxyModel;
class QStackedWidget;
class QStringListModel;
class QToolButton;

namespace faceter::desktop {

class ElidedLabel;
class EmptyState;
class ErrorBar;
class MapView;
class NeighbourTable;

/// One types a text or picks one of a data set: the nearest documents under each chosen task and run, side by side; and the corpus as a
/// map. The live worker reads the data and embeds; at most 20,000 documents of a set.
class ExplorePage : public Page {
    Q_OBJECT
  public:
    enum class View { neighbours, map };
    explicit ExplorePage(Workspace& workspace);
    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;
    bool isReady() const override;
    bool pose() override;
    View view() const;
    QString set() const;

  private:
    QWidget* makeHead();
    void fillExports(QMenu* menu);
    QWidget* makeBar();
    QWidget* makeNeighbours();
    QWidget* makeMap();
    void connectQueries();
    void connectWorker(WorkerQuery* query, std::function<void(const Json&)> take);
    std::vector<ExploreRequest> requests() const;
    std::function<ExploreDataPtr(Store&)> question() const;
    void clear();
    void take(const ExploreDataPtr& data);
    void fillSets();
    void fillChoices();
    QString hint() const;
    void chooseSet();
    void takeCorpus(const Json& answer);
    void showExamples();
    std::vector<ExploreColumn> chosenColumns() const;
    std::vector<ExploreColumn> allColumns() const;
    void columnsChosen();
    void typed();
    void forgetText();
    void askNeighbours(const Json& query);
    void askAgain();
    void takeNeighbours(const Json& answer);
    void tryAgain();
    int missingMap() const;
    void askMaps();
    void takeMap(const Json& answer);
    void showView();
    void showEmpty();
    void showProgress(const WorkerProgress& progress);
    void showBusy();
    Json about() const;
    const ExploreRun* runOfSet() const;

    StoreQuery<ExploreDataPtr>* m_query;
    WorkerQuery* m_corpusQuery;
    WorkerQuery* m_neighbourQuery;
    WorkerQuery* m_mapQuery;
    QComboBox* m_set;
    QComboBox* m_viewChoice;
    QToolButton* m_runs;
    QToolButton* m_tasks;
    QLineEdit* m_text;
    QWidget* m_bar;
    ElidedLabel* m_status;
    QProgressBar* m_progress;
    QPushButton* m_cancel;
    QPushButton* m_again;  ///< for what was cancelled
    QPushButton* m_export;
    ErrorBar* m_error;
    QStackedWidget* m_stack;
    QWidget* m_loading;
    EmptyState* m_empty;
    QWidget* m_neighbours = nullptr;
    QWidget* m_mapPart = nullptr;
    NeighbourTable* m_table;
    NeighbourTable* m_mapTable;
    MapView* m_map;
    QLineEdit* m_search;
    QListView* m_list;
    QStringListModel* m_examples;
    QSortFilterProxyModel* m_found;
    QTimer m_pause;  ///< until somebody who types has stopped

    ExploreDataPtr m_data;
    ExploredCorpusPtr m_corpus;
    std::vector<ExploreColumn> m_asked;  ///< of what the worker is asked, or was last
    std::size_t m_numChosen = 0;         ///< which may be more than can stand beside one another
    std::optional<ExploreColumn> m_askedMap;
    std::vector<ExploreColumn> m_failedMaps;  ///< since the view was shown: not asked for again
    QString m_mapProblem;
    Json m_lastQuestion;
    QString m_wantedSet;
    QStringList m_wantedTasks, m_wantedRuns;  ///< empty: what seems best
    bool m_cancelled = false;
};

}  // namespace faceter::desktop
