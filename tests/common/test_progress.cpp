#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>

#include "common/printable.h"
#include "common/progress.h"
#include "common/strings.h"
#include "support/test.h"

using namespace faceter;

namespace {

/// Standard error is a terminal of 20 columns for as long as this lives.
class NarrowTerminal {
  public:
    NarrowTerminal() : screen_(::posix_openpt(O_RDWR | O_NOCTTY)), kept_(::dup(STDERR_FILENO)) {
        ::grantpt(screen_);
        ::unlockpt(screen_);
        const int line = ::open(::ptsname(screen_), O_RDWR | O_NOCTTY);
        ::dup2(line, STDERR_FILENO);
        ::close(line);
        qputenv("TERM", "xterm");
        qputenv("COLUMNS", "20");
    }
    ~NarrowTerminal() {
        ::dup2(kept_, STDERR_FILENO);
        ::close(kept_);
        ::close(screen_);
        qunsetenv("COLUMNS");
    }
    NarrowTerminal(const NarrowTerminal&) = delete;
    NarrowTerminal& operator=(const NarrowTerminal&) = delete;

    std::string shown() const {
        std::string text;
        char piece[4096];
        for (pollfd waiting{screen_, POLLIN, 0}; ::poll(&waiting, 1, text.empty() ? faceter::testing::hang_ms : 100) > 0;) {
            const ssize_t count = ::read(screen_, piece, sizeof piece);
            if (count <= 0) break;
            text.append(piece, static_cast<std::size_t>(count));
        }
        return text;
    }

  private:
    int screen_, kept_;
};

}  // namespace

class TestProgress : public QObject {
    Q_OBJECT
    static std::string drawn(const std::string& what) {
        const NarrowTerminal terminal;
        ProgressLine line(what, 3, "texts");
        line.show(1, "");
        std::string text = terminal.shown();
        line.finish();
        return text;
    }

  private Q_SLOTS:
    void a_narrow_line_is_cut_between_characters() {
        for (const char* what :
             {"Grüße aus Österreich", "xGrüße aus Österreich", "問い合わせの分類と検索の実験", "ääääääääääääääääääääääää"}) {
            const std::string text = drawn(what);
            QVERIFY2(text.starts_with("\r\033[K"), text.c_str());
            QVERIFY2(is_valid_utf8(text), text.c_str());
        }
        QVERIFY(drawn("ääääääääääääääääääääääää").find("\033[?7lääääääääääääääääääää") ==
                std::string::npos);  // 20 of 20 columns would wrap
        QVERIFY(drawn("ääääääääääääääääääääääää").find("äääääääääääääääääää") != std::string::npos);
    }
    void what_is_said_meanwhile_begins_a_line_of_its_own() {
        const NarrowTerminal terminal;
        ProgressLine line("embed", 3, "texts");
        line.show(1, "");
        say(stderr, "warning: one\n");
        say(stderr, "warning: two\n");
        const std::string text = terminal.shown();
        line.finish();
        QVERIFY2(text.find("\033[?7h\r\033[Kwarning: one\r\nwarning: two\r\n") != text.npos, printable(text).c_str());
    }
    /// Of characters that take two cells more are drawn than there is room for: the terminal must not begin another line.
    void the_terminal_does_not_wrap_it() {
        const std::string text = drawn("問い合わせの分類と検索の実験");
        QVERIFY2(text.find("\033[?7l") < text.find("\033[?7h"), text.c_str());
        QVERIFY(text.find("\033[?7h") != std::string::npos);
    }
};

FACETER_TEST(TestProgress)
#include "test_progress.moc"
