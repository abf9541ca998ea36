#include "common/file.h"
#include "fuzz.h"
#include "store/store.h"
#include "support/sample_runs.h"

using namespace faceter;

namespace {

/// A project with a run that the store has taken in.
struct StoredProject {
    TemporaryDirectory folder;
    StoredProject() {
        const RunDirectory run = testing::sample_run(folder.path());
        testing::write_attempt(run, 1, 2, "finished");
        testing::write_results(run, 1, 1);
    }
};

}  // namespace

/// The project's SQLite file, which another machine or a crash may have left: read and brought up to date, or an error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const StoredProject project;
    const fs::path file = project.folder.path() / "faceter.sqlite";
    for (const char* ending : {"", "-wal", "-shm", "-journal"}) fs::remove(file.string() + ending);
    if (size > 0) testing::overwrite(file, {reinterpret_cast<const char*>(data), size});
    return fuzz_one(data, size, [](std::string_view) {
        Store store(project.folder.path());
        store.ingest_all();
        for (const RunRow& row : store.runs()) store.results(row.info.id);
    });
}
