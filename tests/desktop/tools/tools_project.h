#pragma once
#include <QAction>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>

#include "common/file.h"
#include "desktop/support/sample_project.h"
#include "support/test.h"
#include "window/main_window.h"

namespace faceter::testing {

/// In place of faceter-worker: `diagnose` prints one alarm and one thing that is fine, `evaluate` a score, `export` makes its folder after
/// a line of progress and fails for a run that it does not like; while the file `hold` lies beside it, it waits until it is ended,
/// `evaluate` with its score. That one has a warning, too.
inline fs::path write_tool_worker(const fs::path& folder) {
    const fs::path file = folder / "tool-worker";
    const char* script = R"SH(#!/bin/sh
scores='{"datasets":[{"name":"biosses","task_type":"sts","metric":"cosine_spearman","score":81.205,"n":100}]}'
[ "$1" = evaluate ] && trap 'kill $! 2>/dev/null; echo "$scores"; exit 130' TERM
printf '%s\n' "$*" >> "$0.log"
printf '\r\033[Kembed texts  250/1000 texts  80/s  9 s left' >&2
if [ -e "$(dirname "$0")/hold" ]; then
  [ "$1" = evaluate ] || exec sleep 600
  sleep 600 & wait
fi
case "$1" in
  diagnose) echo '{"run":"EM-1","alarms":1,"findings":[
    {"check":"texts_cut","subject":"retrieval, query side","state":"alarm","value":0.4,"threshold":0.05,"says":"40 % of the <b>texts</b> are cut at 8 tokens.","reason":"Beyond 5 % the end of many texts is not seen.","advice":"Raise max_length to 64.","details":{}},
    {"check":"learning_rate","subject":"","state":"fine","value":1,"threshold":2,"says":"The loss falls evenly.","reason":"","advice":"","details":{}}]}' ;;
  evaluate) printf '\r\033[Kwarning: biosses: 40 %% of the texts are cut\n' >&2; echo "$scores" ;;
  export) [ "$3" = bad ] && { echo 'faceter: bad: it holds what no other program knows' >&2; exit 4; }; mkdir -p "$3"; printf '\nwritten\n' >&2 ;;
  *) exit 2 ;;
esac
)SH";
    write_file_atomic(file, script);
    fs::permissions(file, fs::perms::owner_all);
    return file;
}

/// The window with a project of finished runs in it.
struct ToolsWindow {
    TemporaryDirectory folder;
    desktop::Workspace workspace;
    std::unique_ptr<desktop::MainWindow> window;

    ToolsWindow() {
        make_directories(project() / "runs");
        make_sample_project(project());
        qputenv("FACETER_WORKER", write_tool_worker(folder.path()).c_str());
        window = std::make_unique<desktop::MainWindow>(workspace);
        window->resize(1280, 800);
        window->show();
        window->openPath(QString::fromStdString(project().string()));
        static_cast<void>(QTest::qWaitForWindowActive(window.get()));
        static_cast<void>(QTest::qWaitFor([&] { return workspace.runs()->runs.size() == 5; }, hang_ms));
        for (const RunRow& run : workspace.runs()->runs)
            if (!run.info.is_baseline()) workspace.setCurrentRun(desktop::qs(run.info.id));
    }
    ~ToolsWindow() {
        window.reset();
        qunsetenv("FACETER_WORKER");
    }
    fs::path project() const { return folder.path() / "project"; }
    /// The worker waits until it is ended.
    void hold() const { write_file_atomic(folder.path() / "hold", ""); }
    std::string worker_log() const {
        const fs::path log = folder.path() / "tool-worker.log";
        return fs::exists(log) ? read_file(log) : std::string();
    }
    template <typename Widget>
    Widget* find(const char* name) const {
        return window->findChild<Widget*>(QLatin1String(name));
    }
    QAction* action(const char* name) const { return find<QAction>(name); }
    /// Opens the menu that holds the action by mouse, and chooses it by mouse.
    bool choose(const char* name) const {
        for (QAction* title : window->menuBar()->actions()) {
            if (!title->menu()->actions().contains(action(name))) continue;
            QTest::mouseClick(window->menuBar(), Qt::LeftButton, {}, window->menuBar()->actionGeometry(title).center());
            if (!QTest::qWaitFor([&] { return title->menu()->isVisible(); })) return false;
            QTest::mouseClick(title->menu(), Qt::LeftButton, {}, title->menu()->actionGeometry(action(name)).center());
            return true;
        }
        return false;
    }
    void click(const char* button) const { QTest::mouseClick(find<QPushButton>(button), Qt::LeftButton); }
};

}  // namespace faceter::testing
