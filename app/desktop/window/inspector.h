#pragma once
#include <QWidget>

class QFormLayout;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QTreeWidget;
class QVBoxLayout;

namespace faceter::desktop {

class Page;
class Workspace;
struct RunDetails;

/// Right: what is selected. State, cost, settings (searchable), data cards, machine, tags and a note of the current run; above them what
/// the page in front adds about its own selection.
class Inspector : public QWidget {
    Q_OBJECT
  public:
    explicit Inspector(Workspace& workspace, QWidget* parent = nullptr);
    /// Shows the page's own part (null: none).
    void setPagePart(QWidget* part);

  private:
    void showCurrent();
    void showState();
    void fetchDetails();
    void showDetails(const RunDetails& details);
    void addFact(const QString& name, const QString& value);
    void addTagClicked();
    void keepNote();
    void filterSettings(const QString& wanted);
    QWidget* makeTagRow();
    QWidget* makeButtons();

    Workspace& m_workspace;
    QVBoxLayout* m_layout;
    QWidget* m_pagePart = nullptr;
    QWidget* m_run;
    QLabel* m_hint;
    QLabel* m_title;
    QFormLayout* m_facts;
    QWidget* m_tags;
    QLineEdit* m_newTag;
    QPlainTextEdit* m_note;
    QLineEdit* m_search;
    QTreeWidget* m_settings;
    QString m_shownRun;
    QString m_shownDetailsKey;
    QList<QPair<QString, QString>> m_details;  // facts that come from the store
};

}  // namespace faceter::desktop
