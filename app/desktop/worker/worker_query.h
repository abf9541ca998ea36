#pragma once
#include <QList>

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
    /// The same where a person says so elsewhere than on the page that asked, which is told.
    void cancel();
    bool isBusy() const { return m_busy; }
    /// "Overlap of data sets": what stands in Activity while it takes long; the method until it is said.
    void setTitle(const QString& title) { m_title = title; }
    QString title() const { return m_title.isEmpty() ? m_method : m_title; }
    /// The last one; empty until there is one.
    const WorkerProgress& progress() const { return m_progress; }

  Q_SIGNALS:
    void answered(const faceter::desktop::WorkerAnswer& answer);
    void failed(const QString& message);
    void cancelled();
    void progressed(const faceter::desktop::WorkerProgress& progress);
    void busyChanged(bool busy);

  private:
    void end();
    QFuture<WorkerAnswer> m_call;
    QString m_title, m_method;
    WorkerProgress m_progress;
    bool m_busy = false;
    int m_turn = 0;
};

/// The queries that wait for the live worker, in the order in which they were asked; the worker is at the first of them.
class LiveRequests : public QObject {
    Q_OBJECT
  public:
    static LiveRequests& shared();
    const QList<WorkerQuery*>& busy() const { return m_busy; }

  Q_SIGNALS:
    /// One came, went or got further.
    void changed();

  private:
    friend class WorkerQuery;
    using QObject::QObject;
    void add(WorkerQuery* query);
    void remove(WorkerQuery* query);
    QList<WorkerQuery*> m_busy;
};

}  // namespace faceter::desktop
