#pragma once
#include <fmt/format.h>

#include <QProcess>
#include <csignal>
#include <stdexcept>
#include <string>

#include "common/file.h"
#include "common/json.h"
#include "support/checkout.h"
#include "support/test.h"
#include "worker/http_client.h"

namespace faceter::testing {

constexpr int patience_ms = 120'000;

inline std::string tiny_model() { return (shared_folder() / "fixtures/bert").string(); }

/// `faceter-worker serve` on the tiny reference model, on a port of its own choosing where none is said.
class Server {
  public:
    explicit Server(const QStringList& more = {}, const QProcessEnvironment& environment = QProcessEnvironment::systemEnvironment(),
                    const std::string& model = tiny_model(), const std::string& log_file = "") {
        QStringList arguments{"serve", QString::fromStdString(model), "--threads", "1"};
        if (!more.contains("--port"))
            arguments << "--port"
                      << "0";
        process_.setProcessEnvironment(environment);
        process_.setStandardErrorFile(QString::fromStdString(log_file.empty() ? (folder_.path() / "log").string() : log_file));
        process_.setChildProcessModifier([] { ::signal(SIGHUP, SIG_DFL); });  // under nohup it is ignored, and that is inherited
        process_.start(FACETER_BINARY_DIR "/bin/faceter-worker", arguments + more);
        while (!process_.canReadLine())
            if (!process_.waitForReadyRead(patience_ms)) throw std::runtime_error("the server does not start: " + log());
        const QByteArray line = process_.readLine().trimmed();
        if (!line.startsWith("listening on http://")) throw std::runtime_error(line.toStdString());
        port = line.mid(line.lastIndexOf(':') + 1).toInt();
    }
    ~Server() {
        process_.kill();
        process_.waitForFinished(patience_ms);
    }
    HttpAnswer ask(const std::string& method, const std::string& path, const std::string& body = "", const std::string& more = "") const {
        HttpClient client(port);
        client.ask(method, path, body, more);
        return client.read();
    }
    HttpAnswer embeddings(const Json& request) const { return ask("POST", "/v1/embeddings", request.dump()); }
    double metric(const std::string& name) const {
        const std::string text = ask("GET", "/metrics").body;
        const std::size_t at = text.find("\n" + name + " ");
        return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
    }
    void terminate(int signal = SIGTERM) { ::kill(static_cast<pid_t>(process_.processId()), signal); }
    int exit_code() { return process_.waitForFinished(patience_ms) ? process_.exitCode() : -1; }
    /// The most that was resident so far.
    double peak_mib() const {
        const std::string status = read_file(fmt::format("/proc/{}/status", process_.processId()));
        return std::stod(status.substr(status.find("VmHWM:") + 6)) / 1024;
    }
    /// Of clients, on its side.
    std::size_t open_connections() const {
        std::size_t sockets = 0;
        std::error_code ended;
        for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/fd", process_.processId())))
            sockets += fs::read_symlink(entry, ended).string().starts_with("socket:");
        return sockets - 1;  // it listens on one
    }
    std::string log() const { return read_file(folder_.path() / "log"); }
    int port = 0;

  private:
    TemporaryDirectory folder_;
    QProcess process_;
};

}  // namespace faceter::testing
