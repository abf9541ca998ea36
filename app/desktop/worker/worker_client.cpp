#include "worker/worker_client.h"

#include <QCoreApplication>
#include <QFutureWatcher>
#include <QPointer>
#include <QProcess>
#include <QRegularExpression>

#include "common/error.h"
#include "common/untrusted_json.h"
#include "experiment/machine.h"
#include "launch/supervisor.h"
#include "project/runs_snapshot.h"

namespace faceter::desktop {
namespace {

constexpr qsizetype most_kept_errors = 4000;
constexpr int patience_at_end_ms = 500;

std::exception_ptr failureOf(const QString& message) { return std::make_exception_ptr(Error(ExitCode::failed, message.toStdString())); }

}  // namespace

WorkerClient::WorkerClient(QObject* parent) : QObject(parent) {}

WorkerClient::~WorkerClient() {
    for (auto& [id, call] : m_calls) call->promise.finish();
    m_calls.clear();
    if (!m_process) return;
    m_process->disconnect(this);
    m_process->closeWriteChannel();
    m_process->terminate();
    if (m_process->waitForFinished(patience_at_end_ms)) return;
    m_process->kill();
    m_process->waitForFinished(patience_at_end_ms);
}

WorkerClient& WorkerClient::shared() {
    static QPointer<WorkerClient> client;
    if (!client) client = new WorkerClient(QCoreApplication::instance());
    return *client;
}

bool WorkerClient::isRunning() const { return m_process && m_process->state() != QProcess::NotRunning; }

QFuture<WorkerAnswer> WorkerClient::request(const QString& method, const Json& params, Progress progress) {
    const qint64 id = m_nextId++;
    const auto call = std::make_shared<Call>();
    call->progress = std::move(progress);
    call->promise.start();
    const QFuture<WorkerAnswer> future = call->promise.future();
    auto* watcher = new QFutureWatcher<WorkerAnswer>(this);
    connect(watcher, &QFutureWatcher<WorkerAnswer>::canceled, this, [this, id] { withdraw(id); });
    connect(watcher, &QFutureWatcher<WorkerAnswer>::finished, watcher, &QObject::deleteLater);
    watcher->setFuture(future);
    m_calls[id] = call;
    try {
        if (!isRunning()) start();
        send({{"id", id}, {"method", method.toStdString()}, {"params", params}});
    } catch (const std::exception& error) {
        m_calls.erase(id);
        call->promise.setException(failureOf(QString::fromUtf8(error.what())));
        call->promise.finish();
    }
    return future;
}

void WorkerClient::start() {
    const QString program = QString::fromStdString(worker_program().string());
    if (m_process) m_process.release()->deleteLater();
    m_buffer.clear();
    m_errors.clear();
    m_process = std::make_unique<QProcess>();
    QProcess* process = m_process.get();
    connect(process, &QProcess::readyReadStandardOutput, this, &WorkerClient::readLines);
    connect(process, &QProcess::readyReadStandardError, this,
            [this, process] { m_errors = (m_errors + process->readAllStandardError()).right(most_kept_errors); });
    connect(process, &QProcess::errorOccurred, this, [this, program](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) ended(tr("%1 could not be started: %2.").arg(program, m_process->errorString()));
    });
    connect(process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
        ended(status == QProcess::CrashExit ? tr("The live worker was ended by signal %1.").arg(code)
                                            : tr("The live worker ended with exit code %1.").arg(code));
    });
    process->start(program, {QStringLiteral("session")});
}

void WorkerClient::send(const Json& message) {
    const std::string line = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    m_process->write(line.data(), static_cast<qint64>(line.size()));
}

void WorkerClient::readLines() {
    m_buffer += m_process->readAllStandardOutput();
    for (qsizetype end = m_buffer.indexOf('\n'); end >= 0; end = m_buffer.indexOf('\n')) {
        const QByteArray line = m_buffer.left(end);
        m_buffer.remove(0, end + 1);
        take(line);
    }
}

void WorkerClient::take(const QByteArray& line) {
    const Json message = parse_untrusted_json({line.constData(), static_cast<std::size_t>(line.size())});
    if (message.is_discarded()) return takeUnreadable(line);
    if (!message.is_object() || !message.contains("id") || !message["id"].is_number_integer()) return;
    const auto found = m_calls.find(message["id"].get<qint64>());
    if (found == m_calls.end()) return;  // withdrawn
    const std::shared_ptr<Call> call = found->second;
    if (message.contains("progress")) {
        const Json& progress = message["progress"];
        if (call->progress && progress.is_object())
            call->progress({qs(progress.value("what", "")), progress.value("done", qint64{0}), progress.value("total", qint64{0})});
        return;
    }
    m_calls.erase(found);
    if (message.contains("result"))
        call->promise.addResult(std::make_shared<const Json>(message["result"]));
    else if (message.contains("error") && message["error"].is_object())
        call->promise.setException(failureOf(qs(message["error"].value("message", std::string("the live worker gave no reason")))));
    else
        call->promise.setException(failureOf(tr("The live worker gave an answer that is none.")));
    call->promise.finish();
}

/// An answer that cannot be read ends its call; what is no answer at all is a print of some library.
void WorkerClient::takeUnreadable(const QByteArray& line) {
    static const QRegularExpression head(QStringLiteral("^\\s*\\{\"id\":(\\d+),\"(result|error)\""));
    const QRegularExpressionMatch answer = head.match(QString::fromLatin1(line.left(64)));
    const auto found = answer.hasMatch() ? m_calls.find(answer.captured(1).toLongLong()) : m_calls.end();
    if (found == m_calls.end()) return;
    const std::shared_ptr<Call> call = found->second;
    m_calls.erase(found);
    call->promise.setException(failureOf(tr("The live worker gave an answer that cannot be read: it is too large.")));
    call->promise.finish();
}

void WorkerClient::withdraw(qint64 id) {
    const auto found = m_calls.find(id);
    if (found == m_calls.end()) return;
    const std::shared_ptr<Call> call = found->second;
    m_calls.erase(found);
    if (isRunning()) send({{"method", "cancel"}, {"params", {{"id", id}}}});
    call->promise.finish();
}

QString WorkerClient::lastWords() const {
    const QString text = QString::fromUtf8(m_errors).trimmed();
    return text.isEmpty()
               ? QString()
               : QStringLiteral("\n") +
                     text.split(QLatin1Char('\n')).mid(std::max<qsizetype>(0, text.count(QLatin1Char('\n')) - 4)).join(QLatin1Char('\n'));
}

/// Everything that was asked fails; the process object stays until the next start, since this is called from its signal.
void WorkerClient::ended(const QString& how) {
    const auto calls = std::exchange(m_calls, {});
    const QString message = how + QLatin1Char(' ') + tr("Asking again starts a new one.") + lastWords();
    for (const auto& [id, call] : calls) {
        call->promise.setException(failureOf(message));
        call->promise.finish();
    }
}

}  // namespace faceter::desktop
