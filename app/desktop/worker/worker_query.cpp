#include "worker/worker_query.h"

#include <QCoreApplication>
#include <QPointer>

namespace faceter::desktop {

WorkerQuery::~WorkerQuery() {
    if (!m_busy) return;
    LiveRequests::shared().remove(this);
    m_call.cancel();
}

void WorkerQuery::end() {
    m_busy = false;
    LiveRequests::shared().remove(this);
    Q_EMIT busyChanged(false);
}

void WorkerQuery::stop() {
    if (!m_busy) return;
    ++m_turn;
    m_call.cancel();
    end();
}

void WorkerQuery::cancel() {
    if (!m_busy) return;
    stop();
    Q_EMIT cancelled();
}

void WorkerQuery::ask(const QString& method, const Json& params) {
    stop();
    const int turn = ++m_turn;
    m_busy = true;
    m_method = method;
    m_progress = {};
    LiveRequests::shared().add(this);
    Q_EMIT busyChanged(true);
    const QPointer<WorkerQuery> query(this);
    m_call = WorkerClient::shared().request(method, params, [query, turn](const WorkerProgress& progress) {
        if (!query || !query->m_busy || query->m_turn != turn) return;
        query->m_progress = progress;
        Q_EMIT query->progressed(progress);
        Q_EMIT LiveRequests::shared().changed();
    });
    m_call
        .then(this,
              [this, turn](const WorkerAnswer& answer) {
                  if (turn != m_turn) return;
                  end();
                  Q_EMIT answered(answer);
              })
        .onCanceled(this, [] {})
        .onFailed(this, [this, turn](const std::exception& error) {
            if (turn != m_turn) return;
            end();
            Q_EMIT failed(QString::fromUtf8(error.what()));
        });
}

LiveRequests& LiveRequests::shared() {
    static QPointer<LiveRequests> requests;
    if (!requests) requests = new LiveRequests(QCoreApplication::instance());
    return *requests;
}

void LiveRequests::add(WorkerQuery* query) {
    m_busy.append(query);
    Q_EMIT changed();
}

void LiveRequests::remove(WorkerQuery* query) {
    if (m_busy.removeAll(query) > 0) Q_EMIT changed();
}

}  // namespace faceter::desktop
