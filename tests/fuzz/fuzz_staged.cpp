#include "common/file.h"
#include "common/hash.h"
#include "experiment/staged_experiment.h"
#include "fuzz.h"
#include "support/sample_runs.h"

using namespace faceter;

namespace {

void put(const fs::path& file, std::string_view content) {
    make_directories(file.parent_path());
    testing::overwrite(file, content);
}

/// A staged folder of the sample experiment, with what its settings read.
struct Staged {
    TemporaryDirectory root;
    Catalogue catalogue = testing::sample_catalogue();
    Json card;
    std::string runs;
    Staged() {
        const fs::path base = root.path() / "base";
        put(base / "quick.yaml", testing::sample_experiment());
        put(base / "pairs.tsv", "query\tdocument\na\tb\n");
        put(base / "scifact/corpus.jsonl", "{}\n");
        put(base / "model/config.json", "{}");
        stage_experiment(Experiment::load(base / "quick.yaml", catalogue, {{"model=model"}, {}, false}), catalogue, folder(), {});
        card = read_json(folder() / "staged.json");
        runs = read_file(folder() / "runs.json");
    }
    fs::path folder() const { return root.path() / "staged"; }
    void restore() const {
        put(folder() / "staged.json", card.dump());
        put(folder() / "runs.json", runs);
    }
};

std::string card_with(const Staged& staged, std::string_view runs) {
    Json card = staged.card;
    for (Json& file : card["files"])
        if (file["path"] == "runs.json") file["sha256"] = sha256_hex(runs), file["bytes"] = runs.size();
    return card.dump();
}

}  // namespace

/// A staged experiment that came from another machine: staged.json behind an 's', else runs.json with the right hash.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Staged staged;
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data), size), rest = text.substr(1);
    const bool card = text.front() == 's';
    put(staged.folder() / (card ? "staged.json" : "runs.json"), rest);
    if (!card) put(staged.folder() / "staged.json", card_with(staged, rest));
    const int result = fuzz_one(data, size, [](std::string_view) {
        for (const ResolvedRun& run : open_staged(staged.folder(), staged.catalogue).runs) {
            FUZZ_CHECK(run.settings.is_object());
            for (const char* key : {"model"})
                if (const auto at = json_or<std::string>(run.settings, key, "", "settings"); !at.empty())
                    FUZZ_CHECK(at.starts_with(staged.folder().string()) && at.find("..") == std::string::npos);
        }
    });
    staged.restore();
    return result;
}
