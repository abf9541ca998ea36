#pragma once
#include <QWidget>

#include "pages/compose/form_context.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QToolButton;

namespace faceter::desktop {

/// One setting of the form: its name, the control that its type asks for, its unit, and what is wrong with it. What the file does not say
/// shows the default as a placeholder; clearing a control takes the setting out of the file.
class FieldRow : public QWidget {
    Q_OBJECT
  public:
    FieldRow(FormContext& context, YamlPath path, Field field, QWidget* parent = nullptr);

    const YamlPath& path() const { return m_path; }
    const Field& field() const { return m_field; }
    /// Shows what the file says now.
    void refresh();
    bool matches(const QString& filter) const;
    QWidget* control() const;

  Q_SIGNALS:
    /// The setting decides what stands beside it (a method).
    void chosen();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void buildChoice();
    void buildLine();
    QToolButton* pathButton();
    QToolButton* promptButton();
    void choosePath(bool folder);
    void commitText(const QString& text);
    void commitChoice();
    std::string valueFor(const QString& text) const;
    bool says(const YamlNode& value) const;
    void showLine(const YamlNode* node, const QString& text);
    void showProblem();

    FormContext& m_context;
    YamlPath m_path;
    Field m_field;
    QLineEdit* m_line = nullptr;
    QComboBox* m_combo = nullptr;
    QToolButton* m_prompts = nullptr;  ///< of settings that stand in front of texts
    QLabel* m_problem;
    bool m_joining = false, m_refreshing = false;
};

}  // namespace faceter::desktop
