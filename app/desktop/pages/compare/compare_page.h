#pragma once
#include <QLabel>
#include <QPointer>
#include <memory>
#include <stop_token>

#include "pages/compare/compare_data.h"
#include "pages/compare/compare_inspector.h"
#include "pages/page.h"
#include "workspace/store_query.h"

class QComboBox;
class QScrollArea;
class QStackedWidget;
class QTimer;
class QVBoxLayout;

namespace faceter::desktop {

class CompareBar;
class CompareCards;
class CompareModel;
class DataTable;
class EmptyState;
class ErrorBar;
class ExamplesView;
class WishBar;

/// Groups of runs against a baseline: a table of data sets, the test behind its stars, gains, wins, one group against another. The store is
/// read on the store thread; tests run beside the interface, and a newer choice stops the one before.
class ComparePage : public Page {
    Q_OBJECT
  public:
    explicit ComparePage(Workspace& workspace);
    ~ComparePage() override;
    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;
    bool isReady() const override;
    QWidget* inspector() override;

    /// The bytes of an export as the menu writes them; empty where nothing is compared.
    std::string exportText(ComparisonLayout layout, TableFormat format) const;
    /// Null until there is something to show.
    std::shared_ptr<const ComparisonView> view() const { return m_view; }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    using DataPtr = std::shared_ptr<const CompareData>;
    /// Scores of single examples, and the data whose runs they are of.
    struct Examples {
        DataPtr of;
        std::shared_ptr<const ExampleScores> scores;
    };
    void buildContent();
    void connectQueries();
    std::function<DataPtr(Store&)> question() const;
    void clear();
    void take(DataPtr data);
    void setBaseline(int group);
    void followBaseline();
    void followMarks();
    bool isComparable() const;
    void recompute();
    void takeExamples(const Examples& examples);
    void compute();
    void takeView(std::shared_ptr<const Comparison> comparison, std::shared_ptr<const ComparisonView> view);
    void showPublished();
    void showSelectedSet();
    /// The table of scores, or the examples that changed.
    void showView();
    bool showsExamples() const;
    void fitTable();
    void say();
    void finishOne();
    void exportTo(ComparisonLayout layout, TableFormat format);
    std::string baselineRun() const;

    std::shared_ptr<const CompareData> m_data;
    std::shared_ptr<const CompareData> m_viewOf;      ///< what m_view was computed from: m_data, or the one before while that is computed
    std::shared_ptr<const ExampleScores> m_examples;  ///< of m_data's groups
    std::shared_ptr<const Comparison> m_comparison;   ///< m_viewOf's with the chosen baseline
    std::shared_ptr<const ComparisonView> m_view;
    std::string m_baselineRun;
    std::vector<int> m_colours;
    QString m_selectedSet;
    std::stop_source m_stop;
    std::uint64_t m_marks = 0;  ///< tags, pins and notes of the shown runs
    int m_generation = 0, m_pending = 0;
    int m_fittedWidth = 0;  ///< of the table

    StoreQuery<DataPtr>* m_query;
    StoreQuery<Examples>* m_exampleQuery;
    QStackedWidget* m_stack;
    QWidget* m_blank;  ///< until it is known what there is
    EmptyState* m_empty;
    QLabel* m_subtitle;
    QLabel* m_busy;
    QTimer* m_slow;  ///< what takes longer than this says that it goes on
    ErrorBar* m_error;
    CompareBar* m_bar;
    WishBar* m_wishes;
    CompareModel* m_model;
    DataTable* m_table;
    CompareCards* m_cards;
    QComboBox* m_viewChoice;
    ExamplesView* m_changed;
    QPointer<CompareInspector> m_inspector;  ///< the window's inspector holds it while the page is in front, and may go first
};

}  // namespace faceter::desktop
