#pragma once
#include <functional>

#include "pages/data/data_sets.h"
#include "pages/page.h"
#include "workspace/data_source.h"
#include "workspace/store_query.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QMenu;
class QProgressBar;
class QPushButton;
class QStackedWidget;
class QTabWidget;
class QTimer;

namespace faceter::desktop {

class DataTable;
class ElidedLabel;
class EmptyState;
class ErrorBar;
class FigureView;
class RowsView;
class TableModel;
class WorkerQuery;

/// The data sets of a run, or of the experiment that Compose holds: card, examples, lengths, what stands twice, and what of the tests
/// stands in the training data. The live worker reads them; a part is asked for when it is looked at.
class DataPage : public Page {
    Q_OBJECT
  public:
    enum class Part { card, examples, lengths, duplicates, overlap };
    explicit DataPage(Workspace& workspace);
    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;
    void shown() override;
    bool isReady() const override;

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    /// A tab: who asks for it, and of what its content is.
    struct Answer {
        WorkerQuery* query = nullptr;
        QString method;
        Json asked;  ///< null: nothing yet
    };
    QWidget* makeHead();
    QWidget* makeBody();
    QWidget* makeCard();
    QWidget* makeExamples();
    QWidget* makeLengths();
    QWidget* makeStatus();
    void addPart(const QString& title, QWidget* body, const QString& method, std::function<void(const Json&)> take);
    void fillSources();
    void showSource();
    void takeSettings(const Json& settings);
    void fillSets();
    void showSet();
    void askPart();
    Json questionOf(Part part) const;
    void turnPage(int pages);
    void searchAgain();
    void stopAll();
    void showTurns();
    void showBusy();
    void cancel();
    void showCancelled();
    void takeCard(const Json& card);
    void leaveRoomForValues();
    void takeExamples(const Json& answer);
    void takeLengths(const Json& answer);
    void fillExports(QMenu* menu);
    const DataSetRef* set() const;
    Part part() const;

    QComboBox* m_source;
    QWidget* m_actions;
    QListWidget* m_list;
    QTabWidget* m_tabs;
    DataTable* m_card;
    TableModel* m_cardModel;
    RowsView *m_examples, *m_duplicates, *m_overlap;
    QLineEdit* m_search;
    QPushButton *m_back, *m_on, *m_cancel;
    FigureView* m_lengths;
    QLabel* m_lengthsText;
    QProgressBar* m_progress;
    ElidedLabel* m_status;
    ErrorBar* m_error;
    QStackedWidget* m_stack;
    EmptyState* m_empty;
    QWidget* m_body = nullptr;
    QTimer* m_pause;  ///< until typing pauses
    StoreQuery<std::shared_ptr<const Json>>* m_query;
    std::vector<Answer> m_parts;
    std::vector<DataSetRef> m_sets;
    Json m_settings;
    std::size_t m_offset = 0;  ///< of the examples that are asked for
    bool m_waits = false;      ///< for another page's request
    /// The examples that are shown: what the buttons Back and On start from.
    struct {
        std::size_t offset = 0, end = 0, found = 0;
        QString search;
    } m_shown;
    QString m_inspected;  ///< run that the inspector showed last
    QString m_wantedSet;
};

}  // namespace faceter::desktop
