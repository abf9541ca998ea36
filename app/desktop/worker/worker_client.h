#pragma once
#include <QFuture>
#include <QObject>
#include <QPromise>
#include <functional>
#include <map>
#include <memory>

#include "common/json.h"

class QProcess;

namespace faceter::desktop {

/// How far a request is; `total` 0 where that is not known.
struct WorkerProgress {
    QString what;
    qint64 done = 0, total = 0;
};

/// A pointer, since a QFuture of JSON would itself pass for JSON in a continuation. Never null.
using WorkerAnswer = std::shared_ptr<const Json>;

/// The live worker: one `faceter-worker session` for all pages, started by the first request, asked and answered in JSON lines
/// (app/worker). Everything is asynchronous. A worker that ends on its own fails what was asked of it with a message that says so, and the
/// next request starts a new one.
class WorkerClient : public QObject {
    Q_OBJECT
  public:
    explicit WorkerClient(QObject* parent = nullptr);
    ~WorkerClient() override;
    /// The one of the application.
    static WorkerClient& shared();

    using Progress = std::function<void(const WorkerProgress&)>;
    /// Asks `method`. Take the answer with .then(this, [](const WorkerAnswer&) {...}), withdrawal with .onCanceled(this, []{...}), and last
    /// a failure with .onFailed(this, [](const std::exception&) {...}). cancel() of the future withdraws the request; only before it is
    /// answered (Qt 6.4 follows a pointer to a continuation that is gone). `progress` is called in this object's thread.
    QFuture<WorkerAnswer> request(const QString& method, const Json& params, Progress progress = {});
    bool isRunning() const;
    /// Requests that have not been answered.
    int numWaiting() const { return static_cast<int>(m_calls.size()); }

  private:
    struct Call {
        QPromise<WorkerAnswer> promise;
        Progress progress;
    };
    void start();
    void send(const Json& message);
    void readLines();
    void take(const QByteArray& line);
    void takeUnreadable(const QByteArray& line);
    void withdraw(qint64 id);
    void ended(const QString& how);
    QString lastWords() const;

    std::unique_ptr<QProcess> m_process;
    std::map<qint64, std::shared_ptr<Call>> m_calls;
    qint64 m_nextId = 1;
    QByteArray m_buffer, m_errors;
};

}  // namespace faceter::desktop
