#pragma once
#include <QDialog>
#include <memory>
#include <optional>

#include "experiment/starter.h"
#include "workspace/data_source.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;
class QTimer;

namespace faceter::desktop {

class DataTable;
class ErrorBar;
class PathEdit;
class TableModel;

/// "New experiment from data…": `faceter init` with a preview. Looks at a table or a data folder beside the interface, shows its columns
/// and the experiment that would be written, and writes it when told so.
class NewFromDataDialog : public QDialog {
    Q_OBJECT
  public:
    /// `source`: a file or folder to look at at once; may be empty.
    explicit NewFromDataDialog(const QString& source, QWidget* parent = nullptr);
    /// Asks nothing where the data can be looked at as they are, and opens where something has to be said first.
    void lookAtOnce();

  Q_SIGNALS:
    /// The experiment file was written.
    void written(const QString& file);
    /// What it would train on and test shall be looked at; nothing was written beside the data.
    void looked(const faceter::desktop::DataSource& source);

  private:
    /// What was asked of the background, so that a late answer to something else is dropped.
    struct Asked {
        QString source, roles, output, model;
        int seeds = 1;
        bool operator==(const Asked&) const = default;
    };
    struct Preview {
        std::shared_ptr<const Survey> survey;  ///< null for a folder
        QString roles;                         ///< as they were taken
        std::shared_ptr<const Starter> starter;
        QString problem;  ///< why there is none; the columns are shown all the same
    };
    void buildForm();
    QWidget* buildPreview();
    void sourceChanged();
    void look();
    void take(const Asked& asked, const Preview& preview);
    void showColumns(const Survey& survey);
    void write();
    void lookAtData();
    void setReady(bool ready);
    Asked asked() const;
    static DataSource sourceOf(const Asked& asked, std::shared_ptr<const Survey> known);
    static Preview previewOf(const Asked& asked, std::shared_ptr<const Survey> known);

    PathEdit *m_source, *m_output;
    QLineEdit *m_roles, *m_model;
    QSpinBox* m_seeds;
    DataTable* m_columns;
    TableModel* m_columnModel;
    QLabel* m_summary;
    QPlainTextEdit* m_text;
    ErrorBar* m_error;
    QPushButton *m_create, *m_lookAt;
    QTimer* m_wait;  ///< until typing pauses
    std::shared_ptr<const Survey> m_survey;
    std::optional<Asked> m_shown;  ///< what the preview is of
    bool m_looking = false;
    bool m_atOnce = false;  ///< the data are looked at as soon as they can be
};

}  // namespace faceter::desktop
