#include "workspace/store_query.h"

#include <QEvent>

namespace faceter::desktop {
namespace {

constexpr int patience_ms = 150;

}  // namespace

StoreQueryBase::StoreQueryBase(Workspace& workspace, QWidget* asker) : QObject(asker), m_workspace(workspace), m_asker(asker) {
    m_patience.setSingleShot(true);
    m_patience.setInterval(patience_ms);
    connect(&m_patience, &QTimer::timeout, this, [this] { Q_EMIT late(true); });
    connect(&workspace, &Workspace::projectChanged, this, &StoreQueryBase::followProject);
    // The project's first runs are there, or why they are not.
    connect(&workspace, &Workspace::runsChanged, this, &StoreQueryBase::askWhereFailed);
    connect(&workspace, &Workspace::storeProblem, this, [this](const QString& problem) { problem.isEmpty() ? askWhereFailed() : next(); });
    asker->installEventFilter(this);
}

void StoreQueryBase::ask() {
    m_wanted = m_workspace.session() != nullptr;
    next();
}

void StoreQueryBase::askWhereFailed() { m_failed ? ask() : next(); }

bool StoreQueryBase::isBusy() const { return m_underWay || (m_wanted && m_asker->isVisible()); }

bool StoreQueryBase::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_asker && event->type() == QEvent::Show) next();
    return QObject::eventFilter(watched, event);
}

void StoreQueryBase::next() {
    ProjectSession* session = m_workspace.session();
    if (!m_wanted || m_underWay || !session || !m_asker->isVisible()) return;
    if (!m_patience.isActive()) m_patience.start();
    if (!session->isLoaded()) return;
    m_wanted = false;
    m_underWay = true;
    send(*session, ++m_turn);
}

void StoreQueryBase::end(const QString& message) {
    m_underWay = false;
    m_failed = !message.isEmpty();
    m_patience.stop();
    Q_EMIT late(false);
    Q_EMIT failed(message);
}

/// It is told twice of a change: first that there is no project.
void StoreQueryBase::followProject() {
    if (m_workspace.session()) return m_underWay ? void() : ask();
    ++m_turn;
    m_wanted = false;
    end({});
}

}  // namespace faceter::desktop
