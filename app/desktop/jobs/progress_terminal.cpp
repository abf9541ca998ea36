#include "jobs/progress_terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <QRegularExpression>
#include <QSocketNotifier>
#include <array>

namespace faceter::desktop {
namespace {

constexpr qsizetype longest_line = 1 << 16;

QString plain(const QByteArray& line) {
    static const QRegularExpression control(QStringLiteral("\x1b\\[[0-9;?]*[A-Za-z]|[\\x00-\\x08\\x0b-\\x1f\\x7f]"));
    return QString::fromUtf8(line).remove(control);
}

}  // namespace

/// Opened without becoming anybody's controlling terminal: closing such a one would end this program's session.
ProgressTerminal::ProgressTerminal(QObject* parent) : QObject(parent) {
    m_terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    std::array<char, 128> name{};
    if (m_terminal < 0 || ::grantpt(m_terminal) != 0 || ::unlockpt(m_terminal) != 0) return;
    if (::ptsname_r(m_terminal, name.data(), name.size()) != 0) return;
    m_program = ::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (m_program < 0) return;
    termios raw{};
    ::tcgetattr(m_program, &raw);
    ::cfmakeraw(&raw);  // a line ends as the program ends it
    ::tcsetattr(m_program, TCSANOW, &raw);
    connect(new QSocketNotifier(m_terminal, QSocketNotifier::Read, this), &QSocketNotifier::activated, this, &ProgressTerminal::drain);
}

ProgressTerminal::~ProgressTerminal() {
    for (QSocketNotifier* notifier : findChildren<QSocketNotifier*>()) delete notifier;
    for (const int end : {m_terminal, m_program})
        if (end >= 0) ::close(end);
}

void ProgressTerminal::drain() {
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; m_terminal >= 0 && (got = ::read(m_terminal, buffer.data(), buffer.size())) > 0;)
        take(QByteArray(buffer.data(), static_cast<qsizetype>(got)));
}

/// A carriage return takes back what stands on the line.
void ProgressTerminal::take(const QByteArray& bytes) {
    for (const char byte : bytes) {
        if (byte == '\n') {
            if (const QString line = plain(m_line); !line.trimmed().isEmpty()) Q_EMIT said(line);
            m_line.clear();
        } else if (byte == '\r') {
            m_line.clear();
        } else if (m_line.size() < longest_line) {
            m_line += byte;
        }
    }
    if (const QString line = plain(m_line); !line.trimmed().isEmpty()) Q_EMIT progressed(line);
}

}  // namespace faceter::desktop
