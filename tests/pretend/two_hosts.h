#pragma once
#include <QCoreApplication>
#include <QProcess>
#include <map>
#include <utility>

#include "support/test.h"

namespace faceter::testing {

/// Two network namespaces with a cable between them: hosts that reach each other, at 10.77.0.1 and 10.77.0.2, and nothing else. Root alone
/// can make them.
class TwoHosts {
  public:
    TwoHosts() {
        problem_ =
            run("set -e\n"
                "ip netns add $1\nip netns add $2\n"
                "ip link add left netns $1 type veth peer name right netns $2\n"
                "ip -n $1 addr add 10.77.0.1/24 dev left\nip -n $2 addr add 10.77.0.2/24 dev right\n"
                "for host in $1 $2; do ip -n $host link set lo up; done\n"
                "ip -n $1 link set left up\nip -n $2 link set right up\n");
    }
    ~TwoHosts() { run("ip netns del $1; ip netns del $2"); }
    TwoHosts(const TwoHosts&) = delete;
    TwoHosts& operator=(const TwoHosts&) = delete;

    /// Why there are none; empty: there are.
    const QByteArray& problem() const { return problem_; }
    /// Runs a command as a rank on a host of its own. The other is met at the first host's address.
    void start(QProcess& process, int rank, const std::map<QString, QString>& environment, const QStringList& command) const {
        QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
        variables.remove("GLOO_SOCKET_IFNAME");
        const std::pair<const char*, QString> settings[] = {{"RANK", QString::number(rank)},
                                                            {"WORLD_SIZE", "2"},
                                                            {"LOCAL_RANK", "0"},
                                                            {"MASTER_ADDR", "10.77.0.1"},
                                                            {"MASTER_PORT", "29500"},
                                                            {"OMP_NUM_THREADS", "1"},
                                                            {"FACETER_PRETEND_INTERFACE", rank == 0 ? "left" : "right"}};
        for (const auto& [name, value] : settings) variables.insert(name, value);
        for (const auto& [name, value] : environment) variables.insert(name, value);
        process.setProcessEnvironment(variables);
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.start("ip", QStringList{"netns", "exec", name(rank)} + command);
    }
    /// Takes the cable out, or puts it in again: nobody is told.
    void connect(bool together) const { run(QString("ip -n $1 link set left ") + (together ? "up" : "down")); }

  private:
    static QString name(int rank) { return QString("faceter-%1-%2").arg(QCoreApplication::applicationPid()).arg(rank); }
    static QByteArray run(const QString& script) {
        QProcess shell;
        shell.setProcessChannelMode(QProcess::MergedChannels);
        shell.start("sh", {"-c", script, "sh", name(0), name(1)});
        if (!shell.waitForFinished(hang_ms)) return "sh does not answer";
        return shell.exitCode() == 0 ? QByteArray() : "ip: " + shell.readAll();
    }
    QByteArray problem_;
};

}  // namespace faceter::testing
