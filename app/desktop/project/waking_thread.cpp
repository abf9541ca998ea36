#include "project/waking_thread.h"

#include <utility>

#include "project/runs_snapshot.h"

namespace faceter::desktop {

void WakingThread::wake() {
    const QMutexLocker lock(&m_mutex);
    m_woken = true;
    m_wake.wakeAll();
}

void WakingThread::abandon() {
    const QMutexLocker lock(&m_mutex);
    m_ending = true;
    m_wake.wakeAll();
}

void WakingThread::end() {
    abandon();
    wait();
}

bool WakingThread::sleepUntilWoken(int ms) {
    const QMutexLocker lock(&m_mutex);
    if (!m_woken && !m_ending) m_wake.wait(&m_mutex, static_cast<unsigned long>(ms));
    return !m_ending;
}

bool WakingThread::takeWoken() {
    const QMutexLocker lock(&m_mutex);
    return std::exchange(m_woken, false);
}

void WakingThread::tell(const std::vector<std::string>& warnings) {
    QStringList fresh;
    for (const std::string& warning : warnings)
        if (const QString text = qs(warning); !m_told.contains(text)) fresh << text;
    if (fresh.isEmpty()) return;
    m_told += QSet<QString>(fresh.begin(), fresh.end());
    Q_EMIT warned(fresh);
}

void WakingThread::tellWhatIsOver(const std::vector<std::string>& lasting) {
    QSet<QString> now;
    for (const std::string& warning : lasting) now.insert(qs(warning));
    const QSet<QString> over = std::exchange(m_lasting, now) - now;
    if (over.isEmpty()) return;
    m_told -= over;
    Q_EMIT settled(QStringList(over.begin(), over.end()));
}

void WakingThread::forgetTold(const std::string& warning) { m_told.remove(qs(warning)); }

}  // namespace faceter::desktop
