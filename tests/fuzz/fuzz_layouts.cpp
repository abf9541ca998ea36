#include "data/sources.h"
#include "one_file.h"

using namespace faceter;

namespace {

constexpr std::array<const char*, 8> folders = {"bitext", "clustering",    "multilabel",    "reranking", "pair_classification",
                                                "sts",    "summarisation", "classification"};

void load_all(const fs::path& root) {
    for (const char* name : folders) try {
            load_evaluation_folder(root / name);
        } catch (const Error& error) {
            FUZZ_CHECK(*error.what() != '\0');
        }
}

}  // namespace

/// Data sets in the layouts of MTEB's tasks, found by what their records hold.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const TemporaryDirectory root;
    static FolderWithOneWrongFile<11> folder(
        root.path(), {{{"bitext/test.jsonl", "{\"sentence1\": \"a\", \"sentence2\": \"b\"}\n"},
                       {"clustering/test.jsonl", "{\"sentences\": [\"a\", \"b\"], \"labels\": [\"x\", 2]}\n"},
                       {"multilabel/train.jsonl", "{\"text\": \"a\", \"label\": [1, 2]}\n"},
                       {"multilabel/test.jsonl", "{\"text\": \"b\", \"label\": []}\n"},
                       {"reranking/test.jsonl", "{\"query\": \"q\", \"positive\": [\"a\"], \"negative\": [\"b\"]}\n"},
                       {"pair_classification/test.jsonl", "{\"sent1\": [\"a\"], \"sent2\": [\"b\"], \"labels\": [1]}\n"},
                       {"sts/test.tsv", "sentence1\tsentence2\tscore\na\tb\t2.5\n"},
                       {"summarisation/test.jsonl",
                        "{\"text\": \"t\", \"human_summaries\": [\"h\"], \"machine_summaries\": [\"m\", \"n\"], \"relevance\": [1, 2]}\n"},
                       {"classification/train.jsonl", "{\"text\": \"a\", \"label\": 0}\n{\"text\": \"b\", \"label\": 1}\n"},
                       {"classification/test.jsonl", "{\"text\": \"c\", \"label\": 1, \"label_text\": \"one\"}\n"},
                       {"sts/dataset.json", R"({"task": "sts"})"}}});
    return folder.run(data, size, [] { load_all(root.path()); });
}
