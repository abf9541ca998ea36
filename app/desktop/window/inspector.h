#pragma once
#include <QWidget>
#include <optional>

#include "window/run_details.h"
#include "workspace/store_query.h"

class QFormLayout;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QTreeWidget;
class QVBoxLayout;

namespace faceter::desktop {

class ErrorBar;

/// Right: what is selected. State, cost, settings (searchable), data cards, machine, tags and a note of the current run; above them what
/// the page in front adds about its own selection.
class Inspector : public QWidget {
    Q_OBJECT
  public:
    explicit Inspector(Workspace& workspace, QWidget* parent = nullptr);
    /// Shows the page's own part (null: none).
    void setPagePart(QWidget* part);
    /// A part of its own on the run, below the buttons.
    void addRunPart(QWidget* part);
    /// There is a run, or something of the page's, to look at.
    bool hasContent() const { return m_pagePart || !m_shownRun.isEmpty(); }
    /// Keeps what was typed, if anything was.
    void keepNote();
    /// The run and what was typed about it, while nobody has asked to keep it or that failed; empty: nothing.
    QString unkeptNote() const;

  private:
    void showCurrent();
    using Facts = QList<QPair<QString, QString>>;
    struct RunAnswer {
        std::string run;
        RunDetails details;
    };
    void showOther(const QString& run);
    void showState();
    void showFacts(const RunRow& run);
    void showTags(const RunRow& run);
    std::function<RunAnswer(Store&)> question() const;
    void showDetails(const RunDetails& details);
    void addFact(const QString& name, const QString& value);
    void addTagClicked();
    void askTakeOver();
    void filterSettings(const QString& wanted);
    QWidget* makeTagRow();
    QWidget* makeButtons();

    Workspace& m_workspace;
    StoreQuery<RunAnswer>* m_query;
    QVBoxLayout* m_layout;
    QWidget* m_pagePart = nullptr;
    QWidget* m_run;
    QLabel* m_hint;
    QLabel* m_title;
    ErrorBar* m_error;
    QPushButton* m_stop = nullptr;
    QPushButton* m_resume = nullptr;
    QPushButton* m_takeOver = nullptr;
    QFormLayout* m_facts;
    QWidget* m_tags;
    QLineEdit* m_newTag;
    QPlainTextEdit* m_note;
    QLineEdit* m_search;
    QTreeWidget* m_settings;
    QString m_shownRun;
    QString m_shownDetailsKey;
    Facts m_details;     // that come from the store
    Facts m_shownFacts;  // as they stand in the form
    QStringList m_shownTags;
    std::optional<QString> m_keptNote;  // on its way to the run: until it stands there, what the run has is older
};

}  // namespace faceter::desktop
