#pragma once
#include <QFuture>
#include <QSet>
#include <QWidget>

#include "compare/example_changes.h"
#include "worker/worker_client.h"

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QMenu;

namespace faceter::desktop {

class DataTable;
class ErrorBar;
class ExamplesModel;

/// Which queries and texts a group scores better or worse than the baseline: sorted, filtered, with their texts, which the live worker
/// reads from the data that the runs name.
class ExamplesView : public QWidget {
    Q_OBJECT
  public:
    explicit ExamplesView(QWidget* parent = nullptr);
    ~ExamplesView() override;
    /// `project`: whose runs these are. Either pointer may be null: there is nothing to show.
    void show(const std::filesystem::path& project, std::shared_ptr<const Comparison> comparison,
              std::shared_ptr<const ExampleScores> scores);
    /// Texts are asked for while they are wanted only.
    void setActive(bool active);
    bool isReady() const { return !m_asking; }
    QString group() const;
    void choose(const QString& group, const QString& set);
    QString set() const;

  private:
    QWidget* makeBar();
    QWidget* makeDetail();
    void fillBoxes();
    void compare();
    void fitColumns();
    void filter();
    void say();
    void goOnReading();
    void showCurrent();
    std::string runFolder() const;
    std::map<std::string, std::string> sources() const;
    void askNextTexts();
    void endAsking();
    void fillExportMenu(QMenu* menu);

    std::filesystem::path m_project;
    std::shared_ptr<const Comparison> m_comparison;
    std::shared_ptr<const ExampleScores> m_scores;
    ExamplesModel* m_model;
    DataTable* m_table;
    QComboBox* m_group;
    QComboBox* m_set;
    QComboBox* m_direction;
    QDoubleSpinBox* m_least;
    QLineEdit* m_find;
    QLabel* m_summary;
    QLabel* m_status;
    QLabel* m_heading;
    QPlainTextEdit* m_text;
    ErrorBar* m_error;
    QFuture<WorkerAnswer> m_call;
    QString m_wantedGroup, m_wantedSet;
    std::pair<std::string, std::size_t> m_read;  ///< data set and place of the example that was chosen last
    bool m_active = false, m_asking = false;
};

}  // namespace faceter::desktop
