#include "figure/figure.h"
#include "one_file.h"
#include "record/launch.h"
#include "record/state.h"
#include "support/sample_runs.h"

using namespace faceter;

namespace {

const RunDirectory& sample() {
    static const TemporaryDirectory project;
    static const RunDirectory run = [] {
        RunDirectory made = testing::sample_run(project.path());
        testing::write_attempt(made, 1, 2, "finished");
        testing::write_results(made, 1, 1);
        return made;
    }();
    return run;
}

void read_all() {
    const RunDirectory run(sample().folder());
    FUZZ_CHECK(!run.info().id.empty());
    run.user_state();
    read_launch(run);
    read_job(run);
    read_supervisor(run);
    read_worker_exit(run, 1);
    read_state(run);
    const auto broken = [](const std::string& stem, const std::string& message) { FUZZ_CHECK(!stem.empty() && !message.empty()); };
    for (const auto& folder : {run.results(), run.figures(), run.tables()}) run.read_all(folder, broken);
}

}  // namespace

/// The files of a run's folder beside its journal.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static FolderWithOneWrongFile<8> folder(
        sample().folder(), {{{"run.json", read_file(sample().folder() / "run.json")},
                             {"user.jsonl", R"({"tag": "paper"})"},
                             {"control/launch.json", R"({"profile": "p", "launcher": "slurm", "job": "1_0", "folder": "/tmp"})"},
                             {"control/job.json", R"({"job": "1_0", "state": "RUNNING", "reason": "None"})"},
                             {"control/supervisor.json", R"({"host": "h", "pid": 1, "pid_start": "b:1"})"},
                             {"journal/1/exit.json", R"({"code": 0, "signal": 0, "message": ""})"},
                             {"results/set0.json", read_file(sample().results() / "set0.json")},
                             {"figures/f.json", R"({"title": "t"})"}}});
    return folder.run(data, size, read_all);
}
