#include "launch/queue_order.h"
#include "one_file.h"
#include "record/run_names.h"
#include "support/sample_runs.h"

using namespace faceter;

namespace {

struct SampleProject {
    TemporaryDirectory root;
    std::string id;
    SampleProject() {
        const RunDirectory run = testing::sample_run(root.path());
        id = run.info().id;
    }
};

const SampleProject& sample() {
    static const SampleProject made;
    return made;
}

void read_all() {
    const Project project(sample().root.path(), false);
    FUZZ_CHECK(project.run_ids() == std::vector<std::string>{sample().id});
    project.name_runs();
    const std::string name = name_of_run(project.folder(), sample().id, "");
    FUZZ_CHECK(!name.empty() && name.find('/') == std::string::npos);
    FUZZ_CHECK(project.find_run(name).info().id == sample().id);
    live_queues(project);
    project.trashed();
}

}  // namespace

/// The files of a project beside its runs.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static FolderWithOneWrongFile<4> folder(
        sample().root.path(), {{{"names.jsonl", "{\"name\": \"Mix-7\", \"run\": \"" + sample().id + "\"}\n"},
                                {"queue/q/queue.json", R"({"runs": ["runs/)" + sample().id + R"("], "jobs": 1, "worker": "w"})"},
                                {"queue/q/order", sample().id + "\n"},
                                {"trash/t/run.json", R"({"id": "t"})"}}});
    return folder.run(data, size, read_all);
}
