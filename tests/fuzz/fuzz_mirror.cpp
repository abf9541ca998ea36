#include "common/file.h"
#include "fuzz.h"
#include "launch/remote.h"
#include "record/state.h"
#include "support/sample_runs.h"

using namespace faceter;

namespace {

/// The runs that were asked for, a run of this machine, and what Project keeps; nothing else, wherever the frames say that a file lies.
void check_place(const fs::path& root, const std::string& own, const std::string& own_record) {
    for (const auto& found : fs::directory_iterator(root))
        FUZZ_CHECK(found.path().filename() == "runs" || found.path().filename() == "names.jsonl");
    for (const auto& found : fs::directory_iterator(root / "runs")) {
        const std::string name = found.path().filename().string();
        FUZZ_CHECK(name == own || name == "there-1" || name == ".new-there-1" || name == "there-2" || name == ".new-there-2");
    }
    FUZZ_CHECK(read_file(root / "runs" / own / "run.json") == own_record);
}

}  // namespace

/// What another machine sends of its runs, taken into a project.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const TemporaryDirectory root;
    static const RunDirectory own = testing::sample_run(root.path());
    static const std::string record = read_file(own.folder() / "run.json");
    static const Profile profile{"p", "/p.yaml", "ssh", {{"folder", "/there"}, {"host", "h"}}};
    const int result = fuzz_one(data, size, [](std::string_view text) {
        const Project project(root.path(), false);
        Mirror mirror(project, profile, {"there-1", "there-2"});
        FrameReader frames;
        frames.add(text);
        while (const auto frame = frames.next()) mirror.take(*frame);
        mirror.request(true);
        project.each_run([](const RunDirectory& run) { read_state(run); });
    });
    check_place(root.path(), own.info().id, record);
    for (const char* id : {"there-1", ".new-there-1", "there-2", ".new-there-2"}) remove_tree(root.path() / "runs" / id);
    return result;
}
