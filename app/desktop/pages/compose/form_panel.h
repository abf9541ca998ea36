#pragma once
#include <QWidget>

#include "pages/compose/form_context.h"

class QLabel;
class QLineEdit;
class QScrollArea;
class QVBoxLayout;

namespace faceter::desktop {

class ErrorBar;
class FieldRow;
class FormGroup;

/// The whole experiment as a form, from the schemas alone, with a search over all settings.
class FormPanel : public QWidget {
    Q_OBJECT
  public:
    explicit FormPanel(ExperimentDocument& document, QWidget* parent = nullptr);
    /// Opens what holds a setting, scrolls to it and gives it the focus.
    void reveal(const YamlPath& path, bool focus);
    bool isBuilt() const { return !m_groups.isEmpty(); }
    QStringList openGroups() const;
    void setOpenGroups(const QStringList& names);

  private:
    void build();
    void refresh();
    void search(const QString& text);

    FormContext m_context;
    QLineEdit* m_search;
    QScrollArea* m_scroll;
    QVBoxLayout* m_layout;
    QLabel* m_notice;
    QList<FieldRow*> m_rows;
    QList<FormGroup*> m_groups;
    QStringList m_open{QStringLiteral("group:tasks"), QStringLiteral("group:variants")}, m_beforeSearch;
};

}  // namespace faceter::desktop
