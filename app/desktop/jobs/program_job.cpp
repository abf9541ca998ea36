#include "jobs/program_job.h"

#include <unistd.h>

#include <QProcess>
#include <QRegularExpression>
#include <QTimer>

#include "common/error.h"
#include "experiment/manifest.h"
#include "jobs/progress_terminal.h"

namespace faceter::desktop {
namespace {

constexpr int patience_ms = 5000, patience_at_end_ms = 500;
constexpr qsizetype most_lines = 12, most_warnings = 200;

QString programPath() { return QString::fromStdString((program_folder() / "faceter").string()); }

QProcessEnvironment plainEnvironment() {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("NO_COLOR"), QStringLiteral("1"));
    environment.insert(QStringLiteral("TERM"), QStringLiteral("xterm"));
    environment.insert(QStringLiteral("COLUMNS"), QStringLiteral("200"));
    return environment;
}

/// "embed scifact  1200/5183 texts  80/s ...": the first two numbers.
std::optional<double> shareOf(const QString& line) {
    static const QRegularExpression counts(QStringLiteral("\\s(\\d+)/(\\d+)\\s"));
    const auto match = counts.match(line);
    const double total = match.captured(2).toDouble();
    if (!match.hasMatch() || total <= 0) return std::nullopt;
    return std::min(1.0, match.captured(1).toDouble() / total);
}

}  // namespace

ProgramJob::ProgramJob(JobRequest request, QObject* parent)
    : QObject(parent),
      m_request(std::move(request)),
      m_status(tr("starting")),
      m_terminal(new ProgressTerminal(this)),
      m_process(std::make_unique<QProcess>()) {
    m_since.start();
    QProcess* process = m_process.get();
    process->setProcessEnvironment(plainEnvironment());
    process->setStandardInputFile(QProcess::nullDevice());
    if (const int terminal = m_terminal->programEnd(); terminal >= 0)
        process->setChildProcessModifier([terminal] { ::dup2(terminal, STDERR_FILENO); });
    connect(m_terminal, &ProgressTerminal::said, this, [this](const QString& line) { take(line, true); });
    connect(m_terminal, &ProgressTerminal::progressed, this, [this](const QString& line) { take(line, false); });
    connect(process, &QProcess::readyReadStandardError, this, [this, process] {
        for (const QByteArray& line : process->readAllStandardError().split('\n'))
            if (!line.trimmed().isEmpty()) take(QString::fromUtf8(line), true);
    });
    connect(process, &QProcess::readyReadStandardOutput, this, [this, process] { m_output += process->readAllStandardOutput(); });
    connect(
        process, &QProcess::errorOccurred, this,
        [this, process](QProcess::ProcessError error) {
            if (error == QProcess::FailedToStart)
                end(State::failed, tr("%1 could not be started: %2").arg(programPath(), process->errorString()));
        },
        Qt::QueuedConnection);
    connect(process, &QProcess::finished, this,
            [this](int code, QProcess::ExitStatus status) { takeEnd(code, status == QProcess::CrashExit); });
    process->start(programPath(), m_request.words);
}

ProgramJob::~ProgramJob() {
    m_process->disconnect(this);
    if (m_process->state() == QProcess::NotRunning) return;
    m_process->terminate();
    if (!m_process->waitForFinished(patience_at_end_ms)) m_process->kill();
    m_process->waitForFinished(patience_at_end_ms);
}

void ProgramJob::cancel() {
    if (!isRunning()) return;
    m_cancelled = true;
    m_status = tr("being cancelled");
    m_process->terminate();
    QTimer::singleShot(patience_ms, this, [this] {
        if (isRunning()) m_process->kill();
    });
    Q_EMIT changed();
}

void ProgramJob::take(const QString& line, bool isWhole) {
    if (isWhole) m_lines = (m_lines << line).mid(std::max<qsizetype>(0, m_lines.size() - most_lines));
    if (isWhole && line.startsWith(QLatin1String("warning: ")) && m_warnings.size() < most_warnings) m_warnings << line;
    if (!isRunning() || m_cancelled) return;
    m_status = line.simplified();
    m_share = shareOf(line + QLatin1Char(' '));
    Q_EMIT changed();
}

void ProgramJob::takeEnd(int code, bool crashed) {
    m_terminal->drain();
    m_output += m_process->readAllStandardOutput();
    const QString said = m_lines.join(QLatin1Char('\n')).trimmed();
    if (m_cancelled) return end(State::cancelled, tr("cancelled"));
    if (!crashed && code == 0) return end(State::done, tr("done"));
    const QString how = crashed ? tr("the program was ended by signal %1").arg(code) : tr("exit code %1").arg(code);
    end(State::failed, said.isEmpty() ? how : said);
}

void ProgramJob::end(State state, const QString& status) {
    if (!isRunning()) return;
    m_state = state;
    m_status = status;
    Q_EMIT changed();
    Q_EMIT ended();
}

}  // namespace faceter::desktop
