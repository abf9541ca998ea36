#pragma once
#include <QProcess>
#include <QProcessEnvironment>
#include <map>
#include <memory>
#include <vector>

#include "common/file.h"
#include "support/test.h"

namespace faceter::testing {

/// Several processes of this test program, as the ranks of one group that meet in a file.
class Ranks {
  public:
    /// Each runs the test class `stem` with RANK, WORLD_SIZE and FACETER_RENDEZVOUS set, and `environment` besides.
    Ranks(int size, const QString& stem, const std::map<QString, QString>& environment) {
        for (int rank = 0; rank < size; ++rank) {
            QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
            variables.insert("RANK", QString::number(rank));
            variables.insert("WORLD_SIZE", QString::number(size));
            variables.insert("FACETER_RENDEZVOUS", QString::fromStdString((folder_.path() / "store").string()));
            variables.insert("OMP_NUM_THREADS", "1");
            for (const auto& [name, value] : environment) variables.insert(name, value);
            processes_.push_back(std::make_unique<QProcess>());
            processes_.back()->setProcessEnvironment(variables);
            processes_.back()->setProcessChannelMode(QProcess::MergedChannels);
            processes_.back()->start(QCoreApplication::applicationFilePath(), {stem});
        }
    }
    ~Ranks() {
        for (const auto& process : processes_)
            if (process->state() != QProcess::NotRunning) {
                process->kill();
                process->waitForFinished();
            }
    }
    QProcess& operator[](int rank) { return *processes_[static_cast<std::size_t>(rank)]; }
    /// Waits for one; its exit code, -1 where it was killed or did not end.
    int finish(int rank, int timeout_ms = 900'000) {
        QProcess& process = (*this)[rank];
        if (process.state() != QProcess::NotRunning && !process.waitForFinished(timeout_ms)) return -1;
        return process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
    }
    std::string output(int rank) { return (*this)[rank].readAll().toStdString(); }
    /// Empty where all ended well, else what the first that did not has printed.
    std::string problem() {
        for (int rank = 0; rank < static_cast<int>(processes_.size()); ++rank)
            if (finish(rank) != 0) return "rank " + std::to_string(rank) + ":\n" + output(rank);
        return {};
    }

  private:
    TemporaryDirectory folder_;
    std::vector<std::unique_ptr<QProcess>> processes_;
};

}  // namespace faceter::testing
