#include "compare/mteb_results.h"
#include "one_file.h"

using namespace faceter;

/// A folder with the results of MTEB.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const TemporaryDirectory root;
    static FolderWithOneWrongFile<2> folder(
        root.path(),
        {{{"org__model/abc/SciFact.json",
           R"({"task_name": "SciFact", "mteb_version": "1.12.0", "scores": {"test": [{"main_score": 0.5, "hf_subset": "default"}]}})"},
          {"org__model/abc/model_meta.json", R"({"name": "org/model", "revision": "abc"})"}}});
    return folder.run(data, size, [] {
        for (const ImportedModel& model : read_mteb_results(root.path())) FUZZ_CHECK(!model.model.empty() && model.num_files > 0);
    });
}
