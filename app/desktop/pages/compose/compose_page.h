#pragma once
#include "pages/compose/experiment_document.h"
#include "pages/page.h"

class QListView;
class QPushButton;
class QSplitter;
class QTabWidget;

namespace faceter::desktop {

class DiskNotice;
class ElidedLabel;
class ErrorBar;
class EstimatePanel;
class FormPanel;
class LaunchBar;
class PreviewPanel;
class ProblemModel;
class RunList;
class RunListModel;
class YamlEditor;

/// Composes an experiment: form and YAML in step, what is wrong, the runs that it makes, real examples, an estimate, and the launch.
class ComposePage : public Page {
    Q_OBJECT
  public:
    explicit ComposePage(Workspace& workspace, QWidget* parent = nullptr);
    ~ComposePage() override;

    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;
    bool isReady() const override;
    void shown() override;

    ExperimentDocument& document() { return m_document; }
    /// Opens a file (empty: a new experiment), after asking about unsaved changes.
    void open(const QString& file);

  private:
    void lookAround();
    void showFolderProblem();
    QWidget* buildHeader();
    QWidget* buildCentre();
    QWidget* buildPanels();
    void giveRoomToPanel();
    bool eventFilter(QObject* watched, QEvent* event) override;
    void buildShortcuts();
    void askAboutChanges(const std::function<void()>& then);
    void load(const QString& file);
    void chooseAndOpen();
    void save(const std::function<void()>& then = {});
    void askAboutTheirs(const std::function<void()>& then);
    void saveAs(const std::function<void()>& then = {});
    /// A text on its way to a file.
    struct Write {
        QString file, text;
        int opened = 0;  ///< of the document, when it was saved
        std::function<void()> then;
    };
    void write(const QString& file, const std::function<void()>& then);
    void writeNext();
    void takeWritten(const Write& write);
    void takeReport();
    void showTicks();
    void showFile();
    void lookAtData();
    void jumpTo(int row);
    void launch();
    void launchChecked();
    void startRuns(const std::shared_ptr<const Experiment>& experiment);
    void launchInto(const QString& folder, const std::shared_ptr<const Experiment>& experiment);
    void keepDraft();

    ExperimentDocument m_document;
    ElidedLabel* m_name;
    ErrorBar* m_error;
    DiskNotice* m_disk;
    FormPanel* m_form;
    YamlEditor* m_editor;
    QSplitter* m_centre;
    QSplitter* m_vertical;
    QTabWidget* m_tabs;
    QListView* m_problems;
    ProblemModel* m_problemModel;
    RunListModel* m_runModel;
    RunList* m_runs;
    PreviewPanel* m_preview;
    EstimatePanel* m_estimate;
    LaunchBar* m_launch;
    QTimer m_draft;
    QList<Write> m_writes;  ///< the first one is under way
    int m_loading = 0, m_asked = 0;
    int m_launchRevision = 0;  ///< of the text that is launched when it has been checked; 0: none
};

}  // namespace faceter::desktop
