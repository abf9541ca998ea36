#pragma once
#include <QMutex>
#include <QSet>
#include <QStringList>
#include <QThread>
#include <QWaitCondition>
#include <atomic>
#include <filesystem>

namespace faceter::desktop {

/// Looks after a project's folder in rounds: when it is woken and whenever some time has passed, until it ends.
class WakingThread : public QThread {
    Q_OBJECT
  public:
    /// The next round comes at once, and takeWoken() says so in it.
    void wake();
    /// Asks it to end soon, without waiting for it: `finished` says when it has.
    void abandon();

  Q_SIGNALS:
    /// What has not been told before: a folder that stays as it is is warned of whenever its turn comes.
    void warned(const QStringList& warnings);
    /// What was warned of is over.
    void settled(const QStringList& warnings);

  protected:
    explicit WakingThread(std::filesystem::path folder) : m_folder(std::move(folder)) {}
    /// Waits for run(). The destructor of the class that has it calls this, while its members are there.
    void end();
    /// False: the thread is to end.
    bool sleepUntilWoken(int ms);
    bool takeWoken();
    void tell(const std::vector<std::string>& warnings);
    /// Of what was told: `lasting` goes on; what went on before and does not any more is over, and may be told again.
    void tellWhatIsOver(const std::vector<std::string>& lasting);
    void forgetTold() { m_told.clear(); }
    /// It may be told again: what it warned of is over.
    void forgetTold(const std::string& warning);

    const std::filesystem::path m_folder;
    QMutex m_mutex;  // of what other threads set before they wake this one
    std::atomic<bool> m_ending = false;

  private:
    QWaitCondition m_wake;
    bool m_woken = true;
    QSet<QString> m_told, m_lasting;
};

}  // namespace faceter::desktop
