#include <map>

#include "common/archive.h"
#include "common/error.h"
#include "common/hash.h"
#include "compare/bundle.h"
#include "fuzz.h"
#include "record/state.h"
#include "support/sample_runs.h"

using namespace faceter;

namespace {

/// The record of a run as a bundle has it.
struct Sample {
    std::string id;
    std::map<std::string, std::string> files;  ///< by their names in the bundle's folder
    Sample() {
        const TemporaryDirectory project;
        const RunDirectory run = testing::sample_run(project.path());
        testing::write_attempt(run, 1, 2, "finished");
        testing::write_results(run, 1, 1);
        id = run.info().id;
        for (const char* name : {"run.json", "experiment.yaml", "journal/1/rank-0.jsonl", "results/set0.json"})
            files["runs/" + id + "/" + name] = read_file(run.folder() / name);
    }
};

std::string card_of(const Sample& sample, const std::map<std::string, std::string>& files) {
    Json listed = Json::array();
    for (const auto& [name, content] : files)
        listed.push_back({{"path", name}, {"bytes", content.size()}, {"sha256", sha256_hex(content)}});
    return Json{{"faceter_bundle", 1}, {"files", listed}, {"runs", {sample.id}}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void pack(const fs::path& file, const std::map<std::string, std::string>& files, const std::string& card) {
    ArchiveWriter writer(file);
    writer.add("sample/bundle.json", card);
    for (const auto& [name, content] : files) writer.add("sample/" + name, content);
    writer.finish();
}

/// What came of it is used as any other project.
void use(const Project& project, const OpenedBundle& opened) {
    FUZZ_CHECK(opened.known.empty());
    for (const std::string& id : opened.runs) {
        const RunDirectory run(project.runs_folder() / id);
        FUZZ_CHECK(run.info().id == id && run.folder().parent_path() == project.runs_folder());
        read_state(run);
        run.user_state();
    }
}

}  // namespace

/// A bundle of one run in which one file is the input, its hash right: bundle.json itself behind a 'b', else the file whose place the
/// first byte says, or one whose name stands before a zero byte behind an 'n'.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Sample sample;
    static const TemporaryDirectory root;
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data), size), rest = text.substr(1);
    std::map<std::string, std::string> files = sample.files;
    if (text.front() == 'n')
        files.emplace(rest.substr(0, rest.find('\0')), rest.substr(std::min(rest.find('\0'), rest.size())));
    else if (text.front() != 'b')
        std::next(files.begin(), static_cast<unsigned char>(text.front()) % 4)->second = rest;
    const fs::path archive = root.path() / "sample.tar.gz", folder = root.path() / "project";
    const int result = fuzz_one(data, size, [&](std::string_view) {
        pack(archive, files, text.front() == 'b' ? std::string(rest) : card_of(sample, files));
        const Project project(folder, true);
        use(project, open_bundle(archive, project));
    });
    remove_tree(folder);
    return result;
}
