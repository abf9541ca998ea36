#pragma once
#include <QProcess>
#include <QProcessEnvironment>
#include <map>

#include "common/file.h"
#include "support/checkout.h"
#include "support/test.h"

namespace faceter::packaging {

inline const fs::path project = FACETER_SOURCE_DIR;
inline const fs::path binaries = FACETER_BINARY_DIR;

struct Outcome {
    int code = -1;   ///< -1: it did not start or did not end
    QString output;  ///< standard output and standard error together
};

/// Runs a program to its end, without a shell; `environment` is added to this process's own.
inline Outcome run(const fs::path& program, const QStringList& arguments, const std::map<QString, QString>& environment = {},
                   const fs::path& folder = fs::temp_directory_path(), int timeout_ms = 600'000) {
    QProcess process;
    QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
    for (const auto& [name, value] : environment) variables.insert(name, value);
    process.setProcessEnvironment(variables);
    process.setWorkingDirectory(QString::fromStdString(folder.string()));
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(QString::fromStdString(program.string()), arguments);
    if (!process.waitForFinished(timeout_ms) || process.exitStatus() != QProcess::NormalExit)
        return {-1, QString::fromUtf8(process.readAll()) + process.errorString()};
    return {process.exitCode(), QString::fromUtf8(process.readAll())};
}

inline QString text(const fs::path& path) { return QString::fromStdString(path.string()); }

}  // namespace faceter::packaging

/// The program must end with `expected`; what it printed is shown where it does not.
#define VERIFY_CODE(outcome, expected) \
    QVERIFY2((outcome).code == (expected), qPrintable(QString::number((outcome).code) + "\n" + (outcome).output))
