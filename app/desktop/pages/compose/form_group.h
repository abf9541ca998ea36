#pragma once
#include <QWidget>

#include "pages/compose/form_context.h"

class QLabel;
class QToolButton;
class QVBoxLayout;

namespace faceter::desktop {

class FieldRow;

/// A collapsible part of the form, made from a Field that holds others: a section's settings, a map's named entries, a list's items. What
/// is in it is made when it is first opened, and anew when its parts change (a task more, another method).
class FormGroup : public QWidget {
    Q_OBJECT
  public:
    FormGroup(FormContext& context, YamlPath path, const QString& title, int depth, QWidget* parent = nullptr);

    const YamlPath& path() const { return m_path; }
    bool isOpen() const { return m_open; }
    void setOpen(bool open);
    void refresh();
    /// Shows only what matches; empty: everything. Returns whether anything does.
    bool filter(const QString& text);
    /// Opens what holds the setting and returns its control; null where there is none.
    QWidget* reveal(const YamlPath& path);
    QList<FormGroup*> groups() const { return m_groups; }

  Q_SIGNALS:
    void opened();

  private:
    struct Part {
        YamlPath path;
        QString title;
        bool group = false;
        std::string signature;  // what must be the same for a widget to stay
    };
    void setTitle(const QString& title);
    void buildHeader(const QString& title);
    QList<Part> parts() const;
    void rebuild(const QList<Part>& parts);
    /// The name of what has the keyboard within it.
    QString focused() const;
    bool focus(const QString& name);
    void addPart(const Part& part);
    void addButtons();
    void add();
    void rename();
    void remove();
    std::string newItem() const;
    QString summary() const;
    void showHeader();
    bool isMember() const;  // of a map or list: can be removed

    FormContext& m_context;
    YamlPath m_path;
    int m_depth;
    bool m_open = false, m_built = false;
    std::string m_signature;
    QToolButton* m_header;
    QLabel* m_summary;
    QWidget* m_body;
    QVBoxLayout* m_bodyLayout;
    QList<FieldRow*> m_rows;
    QList<FormGroup*> m_groups;
};

}  // namespace faceter::desktop
