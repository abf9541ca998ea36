#pragma once
#include <QPlainTextEdit>

#include "pages/compose/experiment_document.h"

class QCompleter;
class QStandardItemModel;

namespace faceter::desktop {

class YamlHighlighter;

/// The experiment as text: line numbers, colours, completion (Ctrl+Space, and as one types), what is wrong underlined, a hover that says
/// what a setting is.
class YamlEditor : public QPlainTextEdit {
    Q_OBJECT
  public:
    explicit YamlEditor(ExperimentDocument& document, QWidget* parent = nullptr);

    void goTo(std::size_t line, std::size_t column);
    QCompleter* completer() const { return m_completer; }
    int gutterWidth() const;
    void paintGutter(QPaintEvent* event);

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool viewportEvent(QEvent* event) override;

  private:
    void showProblems();
    void complete(bool asked);
    bool finishCompletion(int key);
    void insertCompletion(const QString& text);
    void breakLine();
    bool takeIndent();
    void indent(int direction);
    std::size_t byteAt(int position) const;
    QString hintAt(const QPoint& position) const;
    void dress();

    ExperimentDocument& m_document;
    YamlHighlighter* m_highlighter;
    QWidget* m_gutter;
    QCompleter* m_completer;
    QStandardItemModel* m_completions;
    int m_completionBegin = 0;
};

}  // namespace faceter::desktop
