#include "data/sources.h"
#include "one_file.h"

using namespace faceter;

namespace {

constexpr int num_files = 6;

/// Each file of the folders below belongs to one entry, all of which are right but one.
void load_all(const fs::path& folder) {
    const auto entry = [&](const Json& settings) { return DataRequest{settings, folder, 1, 0}; };
    const auto attempt = [](const auto& load) {
        try {
            load();
        } catch (const Error& error) {
            FUZZ_CHECK(*error.what() != '\0');
        }
    };
    attempt([&] { load_training_set(entry({{"source", "medi"}, {"path", "medi.json"}, {"on_error", "skip"}}), "retrieval"); });
    attempt([&] {
        load_training_set(entry({{"source", "natural_instructions"}, {"path", "tasks"}, {"on_error", "skip"}}), "classification");
    });
    attempt([&] { load_evaluation_folder(folder / "beir"); });
}

}  // namespace

/// Data sets of several files: MEDI, Natural Instructions and BEIR's layout.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const TemporaryDirectory root;
    static FolderWithOneWrongFile<num_files> folder(
        root.path(),
        {{{"medi.json", R"([{"task_name": "a", "query": ["q: ", "one"], "pos": ["d: ", "two"], "neg": ["d: ", "three"]}])"},
          {"tasks/task1.json",
           R"({"Definition": ["Say yes."], "Instances": [{"input": "a", "output": ["yes"]}, {"input": "b", "output": ["no"]}]})"},
          {"beir/corpus.jsonl", "{\"_id\": \"d\", \"title\": \"\", \"text\": \"a text\"}\n"},
          {"beir/queries.jsonl", "{\"_id\": \"q\", \"text\": \"a question\"}\n"},
          {"beir/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq\td\t1\n"},
          {"beir/dataset.json", R"({"task": "retrieval"})"}}});
    return folder.run(data, size, [] { load_all(root.path()); });
}
