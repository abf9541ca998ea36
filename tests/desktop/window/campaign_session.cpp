#include <malloc.h>
#include <sqlite3.h>
#include <unistd.h>
#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QSettings>
#include <QTest>
#include <QThread>
#include <QTimer>
#include <algorithm>
#include <ctime>
#include <fstream>
#include <map>

#include "desktop/support/sample_project.h"
#include "pages/page.h"
#include "support/test.h"
#include "window/main_window.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int look_ms = 10, stall_ms = 100, page_ms = 1000, memory_ms = 5000;
constexpr int arriving_runs = 10000;  // in the whole session
constexpr int step_ms = 250;          // four times a busy rate of one step a second
constexpr int num_live = 8, steps_of_a_run = 400;
constexpr double most_grown_mb = 20, most_of_a_run_mb = 0.008;  // of the heap; a run is in each page's lists

/// FACETER_SESSION_S: seconds; two hours where it is not set.
int duration_s() {
    bool ok = false;
    const int seconds = qEnvironmentVariableIntValue("FACETER_SESSION_S", &ok);
    return ok && seconds > 0 ? seconds : 7200;
}

double resident_mb() {
    std::ifstream file("/proc/self/statm");
    long size = 0, resident = 0;
    file >> size >> resident;
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

/// What the program holds of its heap: resident memory has the allocator's holes in it as well.
double held_mb() {
    const struct mallinfo2 heap = mallinfo2();
    return static_cast<double>(heap.uordblks + heap.hblkhd) / 1e6;
}

/// Of what the program holds: the stores' pages, which are bounded (32 MiB a connection).
double stores_mb() { return static_cast<double>(sqlite3_memory_used()) / 1e6; }

std::map<QString, int> widgetsByClass() {
    std::map<QString, int> counts;
    for (const QWidget* widget : QApplication::allWidgets()) ++counts[QLatin1String(widget->metaObject()->className())];
    return counts;
}

/// Of the thread that asks.
double cpu_ms() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// Runs that come in finished, and some that go on; in a thread of its own, as other programs would write them.
class Writer : public QObject {
  public:
    explicit Writer(fs::path project) : m_project(std::move(project)), m_experiment(parse_sample()) {}
    void start() {
        for (int i = 0; i < num_live; ++i) m_live.push_back(begin(static_cast<std::size_t>(i)));
        every(std::max(1, duration_s() * 1000 / arriving_runs), [this] { arrive(); });
        every(step_ms, [this] { step(); });
    }
    void end() {
        for (QTimer* timer : findChildren<QTimer*>()) delete timer;
        m_live.clear();
    }
    int numRuns() const { return m_count; }

  private:
    struct Live {
        std::unique_ptr<JournalWriter> journal;
        int step = 0;
    };
    template <typename Act>
    void every(int ms, Act act) {
        auto* timer = new QTimer(this);
        connect(timer, &QTimer::timeout, this, act);
        timer->start(ms);
    }
    RunDirectory create(std::size_t index) {
        ++m_count;
        return RunDirectory::create(m_project, m_experiment, m_experiment.runs()[index % m_experiment.runs().size()], false);
    }
    Live begin(std::size_t index) {
        const RunDirectory run = create(index);
        return {std::make_unique<JournalWriter>(run, run.begin_attempt(), JournalWriter::Start{"", 0, Json::object(), 0}), 0};
    }
    void arrive() {
        const RunDirectory run = create(static_cast<std::size_t>(m_count));
        write_attempt(run, 1, 100, "finished", 2.0 + m_count % 7);
        write_results(run, m_count % 11);
        write_similarity(run, 0.5 + 0.01 * (m_count % 30));
    }
    void step() {
        for (Live& live : m_live) {
            ++live.step;
            live.journal->step({{"step", live.step}, {"total_steps", steps_of_a_run}, {"loss", 3.0 / live.step}, {"lr", 1e-5}});
            if (live.step < steps_of_a_run) continue;
            live.journal->event("finished", {{"step", live.step}});
            live = begin(static_cast<std::size_t>(m_count));
        }
    }
    fs::path m_project;
    Experiment m_experiment;
    std::vector<Live> m_live;
    int m_count = 0;
};

/// How long the interface's thread did not come back to its events, and what of that it computed itself: the rest the machine took.
class Watchdog : public QObject {
  public:
    explicit Watchdog(MainWindow& window) : m_window(window) {
        connect(&m_timer, &QTimer::timeout, this, [this] { look(); });
        m_clock.start();
        m_cpu = cpu_ms();
        m_timer.setTimerType(Qt::PreciseTimer);
        m_timer.start(look_ms);
    }
    void report() const {
        qInfo(
            "stalls over %d ms: %d of %lld looks; longest %.0f ms (own computing in it %.0f ms); with over %d ms of own computing: %d, "
            "longest %.0f ms",
            stall_ms, m_stalls, static_cast<long long>(m_looks), m_longest, m_cpuOfLongest, stall_ms, m_ownStalls, m_ownLongest);
        for (const auto& [page, count] : m_byPage)
            qInfo("  page %s: %d stalls, most own computing %.0f ms", qPrintable(page), count.first, count.second);
    }

  private:
    void look() {
        const double wall = static_cast<double>(m_clock.nsecsElapsed()) / 1e6, cpu = cpu_ms(), own = cpu - m_cpu;
        m_clock.restart();
        m_cpu = cpu;
        ++m_looks;
        m_ownLongest = std::max(m_ownLongest, own);
        m_ownStalls += own > stall_ms;
        if (wall > m_longest) m_longest = wall, m_cpuOfLongest = own;
        if (wall <= stall_ms) return;
        ++m_stalls;
        auto& [count, most] = m_byPage[m_window.currentPage()];
        ++count;
        most = std::max(most, own);
    }
    MainWindow& m_window;
    QTimer m_timer;
    QElapsedTimer m_clock;
    double m_cpu = 0, m_longest = 0, m_cpuOfLongest = 0, m_ownLongest = 0;
    int m_stalls = 0, m_ownStalls = 0;
    qint64 m_looks = 0;
    std::map<QString, std::pair<int, double>> m_byPage;
};

}  // namespace

/// A day's work in short: runs come in and go on while somebody goes from page to page. Figures are printed; they are the machine's as
/// well.
class CampaignSession : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void runs_come_in_while_pages_are_switched() {
        QSettings().clear();
        const TemporaryDirectory project;
        make_sample_project(project.path());
        Workspace workspace;
        MainWindow window(workspace);
        window.resize(1280, 800);
        window.show();
        QVERIFY(window.openPath(qs(project.path().string())));
        QTRY_COMPARE(workspace.groups().size(), std::size_t(3));
        std::vector<QString> pages;
        for (const PageEntry& entry : pageEntries()) {
            pages.push_back(entry.id);
            window.goTo(entry.id);  // made once before anything is measured
            QTRY_VERIFY_WITH_TIMEOUT(window.page(entry.id)->isReady(), 60000);
        }
        QThread thread;
        Writer writer(project.path());
        writer.moveToThread(&thread);
        connect(&thread, &QThread::started, &writer, &Writer::start);
        thread.start();
        const int seconds = duration_s();
        double afterStart = resident_mb(), most = afterStart, heldAfterStart = held_mb(), storesAfterStart = stores_mb();
        std::size_t turn = 0, runsAfterStart = 0;
        std::map<QString, int> widgetsAfterStart;
        QEventLoop session;
        QTimer switching, memory;
        connect(&switching, &QTimer::timeout, &window, [&] {
            window.goTo(pages[++turn % pages.size()]);
            const RunsSnapshotPtr runs = workspace.runs();
            workspace.setCurrentRun(qs(runs->runs[turn * 7 % runs->runs.size()].info.id));
        });
        connect(&memory, &QTimer::timeout, &window, [&] { most = std::max(most, resident_mb()); });
        QTimer::singleShot(seconds * 1000 / 8, &window, [&] {
            afterStart = resident_mb();
            heldAfterStart = held_mb();
            storesAfterStart = stores_mb();
            widgetsAfterStart = widgetsByClass();
            runsAfterStart = workspace.runs()->runs.size();
        });  // of two hours: a quarter of an hour
        QTimer::singleShot(seconds * 1000, &session, &QEventLoop::quit);
        Watchdog watchdog(window);
        switching.start(page_ms);
        memory.start(memory_ms);
        session.exec();
        switching.stop();
        memory.stop();
        const double last = resident_mb(), heldLast = held_mb(), storesLast = stores_mb();
        // Its timers end in the thread that they began in.
        QMetaObject::invokeMethod(&writer, &Writer::end, Qt::BlockingQueuedConnection);
        thread.quit();
        QVERIFY(thread.wait());
        watchdog.report();
        qInfo("%d s, %zu pages shown in turn, %d runs written, %zu of them taken in", seconds, pages.size(), writer.numRuns(),
              workspace.runs()->runs.size());
        qInfo("resident: %.1f MB after an eighth of the time, %.1f at the end (%+.1f), most %.1f", afterStart, last, last - afterStart,
              most);
        const std::size_t numRuns = workspace.runs()->runs.size();
        const double fresh = static_cast<double>(numRuns - runsAfterStart);
        qInfo("held of the heap: %.1f MB then, %.1f at the end, of it %.1f and %.1f the stores' pages", heldAfterStart, heldLast,
              storesAfterStart, storesLast);
        qInfo("  for each of %.0f runs that came since: %.1f KB, without the pages %.1f KB", fresh,
              (heldLast - heldAfterStart) * 1e3 / fresh, (heldLast - storesLast - heldAfterStart + storesAfterStart) * 1e3 / fresh);
        qInfo("  file of the store: %.1f MB", static_cast<double>(fs::file_size(Store(project.path()).file())) / 1e6);
        for (const auto& [name, count] : widgetsByClass())
            if (const int more = count - widgetsAfterStart[name]; more > 0) qInfo("  %s: %d more", qPrintable(name), more);
        workspace.closeProject();
        QTRY_VERIFY(workspace.findChildren<ProjectSession*>().isEmpty());
        qInfo("  without the project: %.1f MB", held_mb());
        for (const QString& page : pages) {
            const double before = held_mb();
            delete window.page(page);
            qInfo("  page %s: %.1f MB", qPrintable(page), before - held_mb());
        }
        QVERIFY(numRuns > static_cast<std::size_t>(num_live));
        const double grown = heldLast - storesLast - heldAfterStart + storesAfterStart;
        QVERIFY2(grown < most_grown_mb + most_of_a_run_mb * fresh, qPrintable(QStringLiteral("%1 MB").arg(grown)));
    }
};

FACETER_TEST(CampaignSession)
#include "campaign_session.moc"
