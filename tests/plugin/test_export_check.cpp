#include <ATen/ATen.h>

#include <QScopeGuard>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>

#include "common/file.h"
#include "plugin/export_check.h"
#include "plugin/export_tokenizer.h"
#include "plugin/model_writer.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

void copy_writable(const fs::path& from, const fs::path& to) {
    fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(to))
        fs::permissions(entry.path(), fs::perms::owner_write, fs::perm_options::add);
}

/// Another value for one number of the weights, of the norm behind the tables of embeddings.
void flip_a_weight(const fs::path& folder) {
    const fs::path file = folder / "model.safetensors";
    std::string bytes = read_file(file);
    std::uint64_t header_bytes = 0;
    std::memcpy(&header_bytes, bytes.data(), sizeof header_bytes);
    const Json header = Json::parse(bytes.substr(sizeof header_bytes, header_bytes));
    const auto offset = header.at("embeddings.LayerNorm.weight").at("data_offsets").at(0).get<std::size_t>();
    const float other = 7;
    std::memcpy(bytes.data() + sizeof header_bytes + header_bytes + offset, &other, sizeof other);
    write_file_atomic(file, bytes);
}

const std::vector<ServedRoute> both_roles{{"retrieval", Role::query}, {"retrieval", Role::document}};

}  // namespace

/// An export is a copy of the tiny reference model here: what is proved is the proof.
class TestExportCheck : public QObject {
    Q_OBJECT
    std::unique_ptr<EmbeddingModel> model_;
    std::unique_ptr<TemporaryDirectory> out_;

    const fs::path& folder() const { return out_->path(); }
    void write_prompts(const std::string& query, const std::string& document) const {
        write_file_atomic(folder() / "config_sentence_transformers.json",
                          Json{{"prompts", {{"retrieval.query", query}, {"retrieval.document", document}}}}.dump());
    }
    /// Two roles, by their instructions.
    void give_tasks() {
        Task task;
        task.name = "retrieval";
        task.query_instruction = "search query: ";
        task.document_instruction = "search document: ";
        model_->tasks = {task};
        model_->route_by_instruction();
    }

  private Q_SLOTS:
    void init() {
        NEED_SHARED();
        model_ = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
        out_ = std::make_unique<TemporaryDirectory>();
        copy_writable(shared_folder() / "fixtures/bert", folder());
    }

    void a_folder_with_the_same_model_passes_on_every_text() {
        const ExportDifference difference = ExportCheck(*model_, {}).by_faceter(folder());
        QCOMPARE(difference.texts, export_check_texts().size());
        QCOMPARE(difference.largest, 0.0);
        difference.require({});
        QCOMPARE(difference.sentence(), std::string("largest difference 0.0e+00 over 12 texts by faceter"));
    }
    void every_task_and_role_is_embedded() {
        give_tasks();
        write_prompts("search query: ", "search document: ");
        const ExportDifference difference = ExportCheck(*model_, both_roles).by_faceter(folder());
        QCOMPARE(difference.texts, 2 * export_check_texts().size());
        difference.require({});
    }
    void a_flipped_weight_is_refused() {
        flip_a_weight(folder());
        const ExportDifference difference = ExportCheck(*model_, {}).by_faceter(folder());
        EXPECT_ERROR(difference.require({}), "does not embed as the model it was written from", "largest difference",
                     "The text that differs most is '");
    }
    void what_is_no_number_is_refused_whatever_is_compared_behind_it_data() {
        QTest::addColumn<float>("value");
        QTest::newRow("NaN") << std::numeric_limits<float>::quiet_NaN();
        QTest::newRow("infinity") << std::numeric_limits<float>::infinity();
    }
    void what_is_no_number_is_refused_whatever_is_compared_behind_it() {
        QFETCH(float, value);
        const at::Tensor row = at::ones({3});
        at::Tensor broken = row.clone();
        broken[1] = value;
        ExportDifference difference;
        difference.by = "another";
        for (const auto& [found, name] : {std::pair(row, "the first"), {broken, "the second"}, {row, "the third"}})
            difference.compare(row, found, name);
        EXPECT_ERROR(difference.require({}), "The text that differs most is the second, with a number that is not finite");
        EXPECT_ERROR(difference.require({std::numeric_limits<double>::max(), 0.9}), "the second");
        QVERIFY(difference.smallest_cosine < 0);  // what is chosen by it is not chosen
        ExportDifference of_the_model;
        for (const auto& [wanted, name] : {std::pair(broken, "its own"), {row, "the next"}}) of_the_model.compare(wanted, row, name);
        EXPECT_ERROR(of_the_model.require({}), "The text that differs most is its own, with a number that is not finite");
    }
    void a_wrong_prompt_is_refused_and_its_role_named() {
        give_tasks();
        write_prompts("search query: ", "search documents: ");
        EXPECT_ERROR(ExportCheck(*model_, both_roles).by_faceter(folder()).require({}), "under retrieval.document");
        write_file_atomic(folder() / "config_sentence_transformers.json", Json{{"prompts", Json::object()}}.dump());
        EXPECT_ERROR(ExportCheck(*model_, both_roles).by_faceter(folder()).require({}), "under retrieval.");
    }
    void a_missing_head_is_refused() {
        const fs::path whole = shared_folder() / "fixtures/t5";
        const TemporaryDirectory without;
        copy_writable(whole, without.path());
        Json modules = Json::array();
        for (const Json& module : read_json(whole / "modules.json"))
            if (!module.at("type").get<std::string>().ends_with("Dense")) modules.push_back(module);
        write_file_atomic(without.path() / "modules.json", modules.dump());
        const auto model = EmbeddingModel::open(ModelFolder::open(whole));
        ExportCheck(*model, {}).by_faceter(whole).require({});
        EXPECT_ERROR(ExportCheck(*model, {}).by_faceter(without.path()).require({}), "the model");
    }
    void a_model_of_sentencepiece_alone_gets_a_tokenizer_json_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("file");
        QTest::newRow("XLM-R") << "xlm_roberta"
                               << "sentencepiece.bpe.model";
        QTest::newRow("T5") << "t5"
                            << "spiece.model";
        QTest::newRow("Mistral") << "mistral"
                                 << "tokenizer.model";
    }
    void a_model_of_sentencepiece_alone_gets_a_tokenizer_json() {
        QFETCH(QString, name);
        QFETCH(QString, file);
        const fs::path start = folder() / "start", out = folder() / "out";
        fs::copy(shared_folder() / "fixtures" / name.toStdString(), start, fs::copy_options::recursive);
        fs::remove(start / "tokenizer.json");
        const auto model = EmbeddingModel::open(ModelFolder::open(start));
        make_directories(out);
        write_model(out, *model);
        QCOMPARE(complete_tokenizer(out)->filename().string(), file.toStdString());
        QVERIFY(fs::exists(out / "tokenizer.json"));
        QVERIFY(!complete_tokenizer(out));                                         // it is there
        const ExportProof proof = prove_export(ExportCheck(*model, {}), out, {});  // also in sentence-transformers, where there is one
        qInfo("%s", proof.lines().c_str());
    }
    void code_of_the_start_models_own_is_not_named_without_its_files() {
        const Json code = {{"AutoModel", "modeling_own.OwnModel"}, {"AutoTokenizer", {"tokenization_own.OwnTokenizer", nullptr}}};
        for (const char* file : {"config.json", "tokenizer_config.json"}) {
            Json json = read_json(folder() / file);
            json["auto_map"] = code;
            write_file_atomic(folder() / file, json.dump());
        }
        const TemporaryDirectory out;
        write_model(out.path(), *EmbeddingModel::open(ModelFolder::open(folder())));
        for (const char* file : {"config.json", "tokenizer_config.json"}) {
            Json given = read_json(folder() / file);
            const Json written = read_json(out.path() / file);
            QVERIFY2(!written.contains("auto_map"), file);
            given.erase("auto_map");
            for (const auto& [key, value] : given.items()) QVERIFY2(written.contains(key), key.c_str());
        }
        const auto nomic = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/nomic_moe"));
        nomic->folder.config["auto_map"] = code;  // without it nobody else runs token-routed blocks
        write_model(out.path(), *nomic);
        QVERIFY(read_json(out.path() / "config.json").contains("auto_map"));
    }
    void a_folder_that_is_not_loaded_is_excused_only_where_code_of_the_hub_was_asked_for() {
        const QByteArray own = qgetenv("FACETER_PEERS");
        const auto restore = qScopeGuard([&] { own.isNull() ? qunsetenv("FACETER_PEERS") : qputenv("FACETER_PEERS", own); });
        const fs::path peers = folder() / "peers";
        const ExportCheck check(*model_, {});
        std::string why;
        const auto ends_with = [&](const std::string& said) {
            write_file_atomic(peers, "#!/bin/sh\necho '" + said + "' >&2\nexit 1\n");
            fs::permissions(peers, fs::perms::owner_all);
            qputenv("FACETER_PEERS", peers.c_str());
            return check.by_sentence_transformers(folder(), why);
        };
        const std::string asked = "Please pass the argument `trust_remote_code=True` to allow custom code to be run.";
        EXPECT_ERROR(ends_with(asked), "does not load the export", asked);
        Json config = read_json(folder() / "config.json");
        config["auto_map"] = {{"AutoModel", "modeling_own.OwnModel"}};
        write_file_atomic(folder() / "config.json", config.dump());
        EXPECT_ERROR(ends_with("OSError: no file of weights"), "does not load the export: OSError: no file of weights");
        QVERIFY(!ends_with(asked));
        QCOMPARE(why, std::string("it runs this model by code from the hub alone"));
    }
    void the_record_says_what_was_proved_by_whom() {
        const ExportProof proof = prove_export(ExportCheck(*model_, {}), folder(), {{"run", "a-run"}});
        const Json record = read_json(folder() / "faceter_export.json");
        QCOMPARE(record.at("source").at("run").get<std::string>(), std::string("a-run"));
        QCOMPARE(record.at("weights_sha256").at("model.safetensors").get<std::string>().size(), std::size_t{64});
        QCOMPARE(record.at("limits").at("largest_difference").get<double>(), 1e-5);
        QCOMPARE(record.at("verified").at(0).at("by").get<std::string>(), std::string("faceter"));
        QCOMPARE(record.at("verified").size() + record.at("not_verified").size(), std::size_t{2});
        const std::string lines = proof.lines();
        QVERIFY2(lines.find("verified: largest difference 0.0e+00 over 12 texts by faceter\n") != std::string::npos, lines.c_str());
        if (!std::getenv("FACETER_PEERS"))
            QVERIFY2(lines.ends_with("not verified by sentence-transformers: none found (name a Python with it by FACETER_PEERS)\n"),
                     lines.c_str());
    }
    void sentence_transformers_gives_the_same() {
        if (!std::getenv("FACETER_PEERS")) QSKIP("no Python with sentence-transformers (FACETER_PEERS)");
        give_tasks();
        write_prompts("search query: ", "search document: ");
        std::string why;
        const auto difference = ExportCheck(*model_, both_roles).by_sentence_transformers(folder(), why);
        if (!difference) QSKIP(why.c_str());
        QCOMPARE(difference->texts, 2 * export_check_texts().size());
        qInfo("%s", difference->sentence().c_str());
        difference->require({});
        flip_a_weight(folder());
        EXPECT_ERROR(ExportCheck(*model_, both_roles).by_sentence_transformers(folder(), why)->require({}), "does not embed as the model");
    }
};

FACETER_TEST(TestExportCheck)
#include "test_export_check.moc"
