#pragma once
#include <QWidget>

#include "worker/worker_query.h"

class QComboBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QVBoxLayout;

namespace faceter::desktop {

class ErrorBar;

/// A text that one types, asked of a run's model by the live worker under a task: the bar, how the question stands, and below them what
/// the answer says. The text stays where another run comes, and is asked again where it was asked before.
class TextQuestion : public QWidget {
    Q_OBJECT
  public:
    /// The run's model, empty where it has none to ask, and the tasks that it can be asked under.
    void setModel(const QString& folder, const std::vector<std::string>& tasks);
    /// The model is another one than before.
    void askAgain();
    bool isBusy() const { return m_query->isBusy(); }
    QString text() const;
    void setText(const QString& text);

  protected:
    struct Texts {
        QString id;  ///< objects are named after it
        QString method;
        QString textName, taskName, placeholder;
        QString ask, hint;  ///< on the button; while nothing is asked
    };
    explicit TextQuestion(const Texts& texts, QWidget* parent);
    void addToBar(QWidget* widget);
    /// Below the bar, at the end.
    void add(QWidget* widget);
    void setStatus(const QString& text);
    virtual void take(const Json& answer) = 0;
    /// What was answered is of another model.
    virtual void hideAnswer() = 0;

  private:
    QWidget* makeBar(const Texts& texts);
    void connectQuery();
    void showError(const QString& message);
    void ask();

    WorkerQuery* m_query;
    QLineEdit* m_text;
    QComboBox* m_task;
    QPushButton* m_ask;
    QHBoxLayout* m_bar = nullptr;
    QVBoxLayout* m_body = nullptr;
    ErrorBar* m_error;
    QLabel* m_status;
    QString m_method, m_askText, m_hint, m_folder;
    bool m_asked = false;
};

}  // namespace faceter::desktop
