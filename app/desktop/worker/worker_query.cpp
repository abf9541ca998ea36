#include "worker/worker_query.h"

#include <QPointer>

namespace faceter::desktop {

WorkerQuery::~WorkerQuery() {
    if (m_busy) m_call.cancel();
}

void WorkerQuery::end() {
    m_busy = false;
    Q_EMIT busyChanged(false);
}

void WorkerQuery::stop() {
    if (!m_busy) return;
    ++m_turn;
    m_call.cancel();
    end();
}

void WorkerQuery::ask(const QString& method, const Json& params) {
    stop();
    const int turn = ++m_turn;
    m_busy = true;
    Q_EMIT busyChanged(true);
    const QPointer<WorkerQuery> query(this);
    m_call = WorkerClient::shared().request(method, params, [query, turn](const WorkerProgress& progress) {
        if (query && query->m_busy && query->m_turn == turn) Q_EMIT query->progressed(progress);
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

}  // namespace faceter::desktop
