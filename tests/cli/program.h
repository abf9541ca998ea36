#pragma once
#include <QProcess>
#include <QString>
#include <algorithm>
#include <string>
#include <vector>

#include "common/json.h"
#include "figure/text_width.h"
#include "support/checkout.h"

namespace faceter::testing {

struct Outcome {
    int code = -1;
    std::string out, err;
};

/// Runs build/<preset>/bin/faceter; `environment` holds NAME=VALUE pairs on top of ours.
inline Outcome faceter(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {},
                       const std::string& input = "") {
    QProcess process;
    QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
    for (const std::string& pair : environment) {
        const auto equals = pair.find('=');
        variables.insert(QString::fromStdString(pair.substr(0, equals)), QString::fromStdString(pair.substr(equals + 1)));
    }
    process.setProcessEnvironment(variables);
    QStringList list;
    for (const std::string& argument : arguments) list << QString::fromStdString(argument);
    process.start(QStringLiteral(FACETER_BINARY_DIR "/bin/faceter"), list);
    process.write(input.data(), static_cast<qint64>(input.size()));
    process.closeWriteChannel();
    process.waitForFinished(120'000);
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1, process.readAllStandardOutput().toStdString(),
            process.readAllStandardError().toStdString()};
}

/// Terminal cells of the longest line.
inline int widest_line(const std::string& text) {
    int widest = 0;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        widest = std::max(widest, display_width(std::string_view(text).substr(at, text.find('\n', at) - at)));
        if (text.find('\n', at) == std::string::npos) break;
    }
    return widest;
}

inline Json json_of(const Outcome& outcome) { return parse_json(outcome.out, "output"); }

}  // namespace faceter::testing

/// `text` is evaluated once: it is often the outcome of a command.
#define HAS(text, piece)                                                                                           \
    do {                                                                                                           \
        const std::string has_text_ = text, has_piece_ = piece;                                                    \
        QVERIFY2(has_text_.find(has_piece_) != std::string::npos, (has_text_ + "  lacks  " + has_piece_).c_str()); \
    } while (false)
