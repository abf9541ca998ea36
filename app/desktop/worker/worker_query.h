#pragma once
#include "worker/worker_client.h"

namespace faceter::desktop {

/// What a widget asks of the live worker, again and again. Latest wins: a newer question withdraws the one before.
class WorkerQuery : public QObject {
    Q_OBJECT
  public:
    explicit WorkerQuery(QObject* parent) : QObject(parent) {}
    ~WorkerQuery() override;
    void ask(const QString& method, const Json& params);
    /// What was asked is not wanted any more.
    void stop();
    bool isBusy() const { return m_busy; }

  Q_SIGNALS:
    void answered(const faceter::desktop::WorkerAnswer& answer);
    void failed(const QString& message);
    void progressed(const faceter::desktop::WorkerProgress& progress);
    void busyChanged(bool busy);

  private:
    void end();
    QFuture<WorkerAnswer> m_call;
    bool m_busy = false;
    int m_turn = 0;
};

}  // namespace faceter::desktop
