#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <QStringList>
#include <memory>
#include <optional>

class QProcess;

namespace faceter::desktop {

class ProgressTerminal;

/// What `faceter` is asked to do beside the window.
struct JobRequest {
    QString title;      ///< "Report on 3 runs"
    QStringList words;  ///< of the command, without the program
    QString result{};   ///< file or folder that it makes; empty: none
};

/// One command of `faceter` at work: the very program that a terminal would run, so its checks, messages and files are the same, and what
/// goes wrong in it costs nothing here.
class ProgramJob : public QObject {
    Q_OBJECT
  public:
    enum class State { running, done, failed, cancelled };

    /// Starts at once; `ended` comes later, also where it could not be started.
    explicit ProgramJob(JobRequest request, QObject* parent = nullptr);
    /// Ends what still runs.
    ~ProgramJob() override;

    const JobRequest& request() const { return m_request; }
    State state() const { return m_state; }
    bool isRunning() const { return m_state == State::running; }
    /// Where it is, as the program says it; of one that is over, how it ended. A sentence.
    QString status() const { return m_status; }
    /// Done of all, 0 to 1, where the program says it.
    std::optional<double> share() const { return m_share; }
    double seconds() const { return static_cast<double>(m_since.elapsed()) / 1000; }
    /// What it warned of, a line each.
    const QStringList& warnings() const { return m_warnings; }
    /// What it printed (standard output), once it is over.
    const QByteArray& output() const { return m_output; }
    /// Asks it to end; what does not hear is killed.
    void cancel();

  Q_SIGNALS:
    void changed();
    void ended();

  private:
    void take(const QString& line, bool isWhole);
    void end(State state, const QString& status);
    void takeEnd(int code, bool crashed);

    JobRequest m_request;
    State m_state = State::running;
    QString m_status;
    QStringList m_lines;  ///< last ones
    QStringList m_warnings;
    std::optional<double> m_share;
    QByteArray m_output;
    QElapsedTimer m_since;
    ProgressTerminal* m_terminal;
    std::unique_ptr<QProcess> m_process;
    bool m_cancelled = false;
};

}  // namespace faceter::desktop
