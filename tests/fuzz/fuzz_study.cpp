#include "compare/study.h"
#include "fuzz.h"
#include "one_file.h"
#include "support/sample_runs.h"

using namespace faceter;

namespace {

constexpr const char* right_study = R"(name: mix
question: Does it?
hypothesis: It does.
seeds: [1, 2]
claims:
  - {claim: Mix is higher, better: Mix, than: EM, smallest_difference: 0.5}
experiments:
  - {file: quick.yaml}
exclusions:
  - {where: loss > 20, reason: out of control}
)";

void read_all(const fs::path& root) {
    const Study study = read_study(root / "study.yaml");
    FUZZ_CHECK(!study.claims.empty() && !study.experiments.empty() && !study.hash.empty());
    study_runs(study, testing::sample_catalogue(), root / "project", false);
    read_study_record(study, root / "project");
}

}  // namespace

/// A study's file, its experiment, and the record of what was planned.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const TemporaryDirectory root;
    static FolderWithOneWrongFile<3> folder(
        root.path(), {{{"study.yaml", right_study},
                       {"quick.yaml", testing::sample_experiment()},
                       {"project/studies/mix.json",
                        R"({"hash": "h", "first_run": "2026", "plan": {"a": 1}, "latest": {"a": 2}, "deviations": ["a"]})"}}});
    return folder.run(data, size, [] { read_all(root.path()); });
}
