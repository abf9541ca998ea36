#pragma once
#include <QTimer>
#include <QWidget>
#include <functional>

#include "workspace/workspace.h"

namespace faceter::desktop {

/// What a widget asks of the open project's store, again and again. Latest wins: one question at a time, and what has changed meanwhile is
/// asked when its answer has come. A hidden widget's question waits until it is shown, one of a project that is still being read until its
/// runs are there. What has failed is asked again when the runs change or the store's problem is over. When the project changes, the old
/// one's answer is dropped and the new one is asked: nothing waits for ever.
class StoreQueryBase : public QObject {
    Q_OBJECT
  public:
    void ask();
    /// Something was asked whose answer has not come; what a hidden widget would like to know does not count.
    bool isBusy() const;

  Q_SIGNALS:
    /// The answer takes longer than a person notices; false when it has come, or is not waited for any more.
    void late(bool isLate);
    /// Why there is no answer; empty when there is one again.
    void failed(const QString& message);

  protected:
    StoreQueryBase(Workspace& workspace, QWidget* asker);
    bool eventFilter(QObject* watched, QEvent* event) override;
    /// Asks `session`; the answer counts while `turn` does.
    virtual void send(ProjectSession& session, int turn) = 0;
    bool isCurrent(int turn) const { return turn == m_turn; }
    /// An answer is there, or (with a message) will not come.
    void end(const QString& message);
    /// Sends what is wanted, where it can be asked now.
    void next();

  private:
    void followProject();
    void askWhereFailed();

    Workspace& m_workspace;
    QWidget* m_asker;
    QTimer m_patience;
    bool m_wanted = false, m_underWay = false, m_failed = false;
    int m_turn = 0;
};

/// `question()` is called when it can be asked and gives what runs on the store thread; `take` gets the answer in the interface's thread.
template <typename T>
class StoreQuery : public StoreQueryBase {
  public:
    using Question = std::function<T(Store&)>;
    StoreQuery(Workspace& workspace, QWidget* asker, std::function<Question()> question, std::function<void(const T&)> take)
        : StoreQueryBase(workspace, asker), m_question(std::move(question)), m_take(std::move(take)) {}

  private:
    void send(ProjectSession& session, int turn) override {
        session.query(m_question())
            .then(this,
                  [this, turn](const T& answer) {
                      if (!isCurrent(turn)) return;
                      end({});
                      m_take(answer);
                      next();
                  })
            .onFailed([this, turn](const std::exception& error) {
                if (!isCurrent(turn)) return;
                end(QString::fromUtf8(error.what()));
                next();
            });
    }

    std::function<Question()> m_question;
    std::function<void(const T&)> m_take;
};

}  // namespace faceter::desktop
