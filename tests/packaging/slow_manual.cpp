#include <QRegularExpression>
#include <set>

#include "packaging/command.h"

using namespace faceter;
using namespace faceter::packaging;

namespace {

const fs::path manual = project / "resources/manual";
/// In the order in which they are run: the first makes the project that the others use.
const char* const chapters[] = {
    "first_steps", "concepts",        "own_data", "comparing", "instructions",       "task_experts", "token_routing", "task_adapters",
    "gates",       "curricula",       "losses",   "merging",   "serving_and_export", "workbench",    "clusters",      "gpus",
    "plugins",     "troubleshooting", "files",    "commands",  "settings",           "records"};

QString chapter(const QString& name) { return QString::fromStdString(read_file(manual / (name.toStdString() + ".md"))); }

/// The lines of all blocks of a chapter that begin with that line.
QString blocks(const QString& name, const QString& fence) {
    const QRegularExpression block("^" + fence + "\\n(.*?)^```$",
                                   QRegularExpression::MultilineOption | QRegularExpression::DotMatchesEverythingOption);
    QString lines;
    for (auto match = block.globalMatch(chapter(name)); match.hasNext();) lines += match.next().captured(1);
    return lines;
}

void name_the_chapters() {
    QTest::addColumn<QString>("name");
    for (const char* name : chapters) QTest::newRow(name) << name;
}

}  // namespace

/// The manual's commands, run as they stand: in one folder, chapter after chapter, with a home of their own.
class SlowManual : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    std::map<QString, QString> environment_;
    bool is_complete_ = true;

  private Q_SLOTS:
    void initTestCase() {
        for (const char* program : {"faceter", "faceter-worker", "faceter-desktop"})
            if (!fs::exists(binaries / "bin" / program)) QSKIP("programs are not built");
        NEED_MINILM();
        fs::create_directories(folder_.path() / "home");
        fs::create_directories(folder_.path() / "work");
        fs::copy_file(manual / "tickets.csv", folder_.path() / "work/tickets.csv");
        environment_ = {{"PATH", text(binaries / "bin") + ":" + qEnvironmentVariable("PATH")},
                        {"HOME", text(folder_.path() / "home")},
                        {"FACETER_CACHE", text(faceter::testing::minilm_folder().parent_path().parent_path().parent_path())},
                        {"QT_QPA_PLATFORM", "offscreen"},
                        {"FACETER_PROJECT", ""},
                        {"FACETER_PEERS", ""}};
    }
    void every_page_is_listed_and_tested() {
        std::set<std::string> pages, listed{"README"};
        for (const auto& entry : fs::directory_iterator(manual))
            if (entry.path().extension() == ".md") pages.insert(entry.path().stem());
        for (const char* name : chapters) listed.insert(name);
        QVERIFY(pages == listed);
        for (const char* name : chapters) QVERIFY2(chapter("README").contains(QString("](%1.md)").arg(name)), name);
    }
    void links_lead_to_pages() {
        const QRegularExpression link("\\]\\(([^)]*)\\)");
        const QRegularExpression code("^```.*?^```$", QRegularExpression::MultilineOption | QRegularExpression::DotMatchesEverythingOption);
        for (const char* name : chapters)
            for (auto match = link.globalMatch(chapter(name).remove(code)); match.hasNext();) {
                const QString target = match.next().captured(1);
                QVERIFY2(fs::exists(manual / target.toStdString()), qPrintable(target));
            }
    }
    void its_commands_run_data() { name_the_chapters(); }
    void its_commands_run() {
        QFETCH(QString, name);
        const QString script = blocks(name, "```sh");
        if (script.isEmpty()) return;
        if (!is_complete_) QSKIP("a chapter before failed");
        is_complete_ = false;
        const Outcome outcome = run("/bin/bash", {"-euo", "pipefail", "-c", script}, environment_, folder_.path() / "work", 1'800'000);
        VERIFY_CODE(outcome, 0);
        is_complete_ = true;
    }
    void commands_for_elsewhere_exist_with_their_options_data() { name_the_chapters(); }
    void commands_for_elsewhere_exist_with_their_options() {
        QFETCH(QString, name);
        const QRegularExpression flag("\\s(--[a-z-]+)");
        for (const QString& line : blocks(name, "```sh elsewhere").split('\n', Qt::SkipEmptyParts)) {
            if (!line.startsWith("faceter")) continue;
            QStringList words = line.section(" --", 0, 0).split(' ', Qt::SkipEmptyParts);
            const QString program = words.takeFirst();
            while (!words.isEmpty() && (words.last().contains('.') || words.last() == "gpu")) words.removeLast();  // what it is called with
            const Outcome help = run(binaries / "bin" / program.toStdString(), words << "--help", environment_);
            VERIFY_CODE(help, 0);
            for (auto match = flag.globalMatch(line); match.hasNext();) {
                const QString option = match.next().captured(1);
                QVERIFY2(help.output.contains(option), qPrintable(line + "\n" + help.output));
            }
        }
    }
};

FACETER_TEST(SlowManual)
#include "slow_manual.moc"
