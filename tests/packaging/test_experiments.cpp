#include <fstream>
#include <regex>

#include "packaging/command.h"

using namespace faceter;
using namespace faceter::packaging;

namespace {

void put(const fs::path& file, const std::string& content) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
}

void put_beir_folder(const fs::path& folder) {
    put(folder / "corpus.jsonl", R"({"_id": "d1", "title": "", "text": "a document of one"})"
                                 "\n");
    put(folder / "queries.jsonl", R"({"_id": "q1", "text": "a question of one"})"
                                  "\n");
    put(folder / "qgen-queries.jsonl", R"({"_id": "q1", "text": "a question that was made"})"
                                       "\n");
    put(folder / "qgen-qrels/train.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n");
    for (const char* split : {"train", "dev", "test"})
        put(folder / "qrels" / (std::string(split) + ".tsv"), "query-id\tcorpus-id\tscore\nq1\td1\t1\n");
}

/// What a recipe's paths name, as small as it can be.
void put_made_data(const fs::path& path) {
    const std::string name = path.filename().string();
    if (name.ends_with(".jsonl"))
        put(path, R"({"query": "a question of one", "document": "an answer to one"})"
                  "\n");
    else if (name == "medi-data.json")
        put(path,
            R"([{"task_name": "one", "query": ["Represent it: ", "a"], "pos": ["Represent it: ", "b"], "neg": ["Represent it: ", "c"]}])");
    else if (name == "tasks")
        put(path / "task1.json", R"({"Definition": ["Answer."], "Instances": [{"input": "a", "output": ["b"]}]})");
    else if (path.has_extension())
        put(path, "a text\n");
    else
        put_beir_folder(path);
}

/// Copies a recipe of with_your_data into `folder`, and makes what its relative paths name; its models are `model`.
fs::path recipe_with_made_data(const fs::path& recipe, const fs::path& folder, const fs::path& model) {
    const fs::path copy = folder / "experiments/with_your_data" / recipe.filename();
    const std::string content = read_file(recipe);
    put(copy, std::regex_replace(content, std::regex(R"((matryoshka_dims|prefixes): \[[0-9, ]+\])"), "$1: [16, 8]"));  // of a small model
    put(folder / "mteb/stsbenchmark/test.jsonl", R"({"sentence1": "a", "sentence2": "b", "score": 1})"
                                                 "\n");
    put_beir_folder(folder / "beir/scifact");
    const std::regex relative(R"(\.\./\.\./(models|data|beir)/[A-Za-z0-9_./-]+)");
    for (std::sregex_iterator at(content.begin(), content.end(), relative), end; at != end; ++at) {
        const fs::path path = (copy.parent_path() / at->str()).lexically_normal();
        if (fs::exists(path)) continue;
        fs::create_directories(path.parent_path());
        if ((*at)[1] == "models")
            fs::create_directory_symlink(model, path);
        else
            put_made_data(path);
    }
    return copy;
}

void rows_of_experiments(const fs::path& folder) {
    QTest::addColumn<QString>("file");
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".yaml") QTest::newRow(entry.path().filename().c_str()) << text(entry.path());
}

}  // namespace

class TestExperiments : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void every_ready_experiment_passes_the_check_data() { rows_of_experiments(project / "experiments"); }
    void every_ready_experiment_passes_the_check() {
        QFETCH(QString, file);
        if (!fs::exists(binaries / "bin/faceter")) QSKIP("faceter is not built");
        NEED_MINILM();
        VERIFY_CODE(run(binaries / "bin/faceter", {"check", file}), 0);
    }
    void the_schema_that_editors_read_is_that_of_the_program() {
        const fs::path schema = project / "experiments/experiment.schema.json";
        if (!fs::exists(binaries / "bin/faceter")) QSKIP("faceter is not built");
        const Outcome printed = run(binaries / "bin/faceter", {"schema"}, {{"FACETER_PLUGIN_DIR", ""}});
        VERIFY_CODE(printed, 0);
        QVERIFY2(printed.output == QString::fromStdString(read_file(schema)),
                 qPrintable("faceter schema > " + text(schema) + " writes it anew"));
    }
    void every_experiment_names_it_in_its_first_line() {
        int named = 0;
        for (const char* folder : {"experiments", "experiments/with_your_data"})
            for (const auto& entry : fs::directory_iterator(project / folder)) {
                if (entry.path().extension() != ".yaml") continue;
                const std::string content = read_file(entry.path()), begin = "# yaml-language-server: $schema=";
                QVERIFY2(content.starts_with(begin), entry.path().c_str());
                const std::string schema = content.substr(begin.size(), content.find('\n') - begin.size());
                QVERIFY2(fs::equivalent(entry.path().parent_path() / schema, project / "experiments/experiment.schema.json"),
                         entry.path().c_str());
                ++named;
            }
        QVERIFY(named > 20);
    }
    /// Its paths lead to data of the right form, its model is a small one in place of the paper's.
    void every_recipe_for_own_data_passes_the_check_data() { rows_of_experiments(project / "experiments/with_your_data"); }
    void every_recipe_for_own_data_passes_the_check() {
        QFETCH(QString, file);
        if (!fs::exists(binaries / "bin/faceter")) QSKIP("faceter is not built");
        const fs::path model = faceter::testing::shared_folder() / "fixtures/modernbert";
        if (!fs::exists(model)) QSKIP("no ../shared: there is no small model");
        const TemporaryDirectory folder;
        const fs::path longer = folder.path() / "model";  // texts as long as the recipes have them
        fs::copy(model, longer, fs::copy_options::recursive);
        fs::remove(longer / "sentence_bert_config.json");
        put(longer / "sentence_bert_config.json", R"({"max_seq_length": 512})");
        const fs::path recipe = recipe_with_made_data(file.toStdString(), folder.path(), longer);
        VERIFY_CODE(run(binaries / "bin/faceter", {"check", text(recipe), "--set", "model=" + text(longer), "--set", "max_length=512"}), 0);
    }
};

FACETER_TEST(TestExperiments)
#include "test_experiments.moc"
