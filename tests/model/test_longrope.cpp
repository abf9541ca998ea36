#include <QProcess>

#include "common/file.h"
#include "eval/embedder.h"
#include "model/embedding_model.h"
#include "support/checkout.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr std::int64_t trained = 12, longest = 200;

std::vector<std::string> some_texts() {
    return {"so", "one two three four",
            "rye flour, water and salt; then patience, and an oven that is as hot as it can be; then bread, which shall rest for an hour"};
}

/// The fixture's weights with positions of another kind.
struct Folder {
    TemporaryDirectory root;
    fs::path path = root.path() / "model";

    explicit Folder(Json rotary) {
        fs::copy(shared_folder() / "fixtures/qwen3_embedding", path, fs::copy_options::recursive);
        fs::permissions(path, fs::perms::owner_write, fs::perm_options::add);
        Json config = read_json(path / "config.json");
        for (const char* key : {"rope_scaling", "rope_parameters", "rope_theta"}) config.erase(key);
        rotary["rope_theta"] = 10000.0;
        rotary["original_max_position_embeddings"] = trained;
        if (rotary.at("rope_type") == "longrope")
            for (const auto& [key, growth] : {std::pair("short_factor", 0.01), std::pair("long_factor", 0.7)}) {
                Json factors = Json::array();
                for (std::int64_t i = 0; i < config.at("head_dim").get<std::int64_t>() / 2; ++i) factors.push_back(1 + growth * i);
                rotary[key] = factors;
            }
        config["rope_parameters"] = rotary;
        config["max_position_embeddings"] = longest;
        write(path / "config.json", config);
        write(path / "sentence_bert_config.json", {{"max_seq_length", longest}, {"do_lower_case", false}});
    }
    static void write(const fs::path& file, const Json& json) {
        fs::remove(file);
        write_file_atomic(file, json.dump());
    }
    std::unique_ptr<EmbeddingModel> open() const { return EmbeddingModel::open(ModelFolder::open(path)); }
};

at::Tensor embed(const EmbeddingModel& model, const std::vector<std::string>& texts) {
    return embed_texts(model, std::vector<std::string_view>(texts.begin(), texts.end()), {});
}

}  // namespace

/// Rotary positions that a configuration scales, in texts shorter and longer than those of the first training.
class TestLongRope : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_text_has_the_same_vector_in_any_company() {
        NEED_SHARED();
        const auto model = Folder(Json{{"rope_type", "longrope"}}).open();
        const std::vector<std::string> texts = some_texts();
        const at::Tensor together = embed(*model, texts);
        for (std::size_t i = 0; i < texts.size(); ++i)
            QVERIFY2(embed(*model, {texts[i]})[0].equal(together[static_cast<std::int64_t>(i)]), texts[i].c_str());
    }
    void embeddings_equal_sentence_transformers_data() {
        QTest::addColumn<QByteArray>("rotary");
        for (const char* rotary : {R"({"rope_type": "longrope"})", R"({"rope_type": "longrope", "factor": 3.5})",
                                   R"({"rope_type": "longrope", "attention_factor": 1.3})", R"({"rope_type": "yarn", "factor": 4.0})",
                                   R"({"rope_type": "yarn", "factor": 4.0, "mscale": 1.0, "mscale_all_dim": 0.7})",
                                   R"({"rope_type": "yarn", "factor": 4.0, "attention_factor": 0.8})",
                                   R"({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0})"})
            QTest::newRow(rotary) << QByteArray(rotary);
    }
    void embeddings_equal_sentence_transformers() {
        NEED_SHARED();
        const QString python = qEnvironmentVariable("FACETER_PEERS");
        if (python.isEmpty()) QSKIP("no python with sentence-transformers (FACETER_PEERS)");
        QFETCH(QByteArray, rotary);
        const Folder folder(parse_json(rotary.toStdString(), "rotary"));
        const fs::path input = folder.root.path() / "input.json", out = folder.root.path() / "out.safetensors";
        const auto model = folder.open();
        for (const std::string& text : some_texts()) {  // one by one: theirs depend on the longest of a batch
            write_file_atomic(input, Json{{"prompt", ""}, {"texts", Json::array({text})}}.dump());
            QProcess peer;
            peer.setProcessChannelMode(QProcess::MergedChannels);
            peer.start(python, {FACETER_SOURCE_DIR "/tests/model/peer_include_prompt.py", folder.path.c_str(), input.c_str(), out.c_str()});
            QVERIFY2(peer.waitForFinished(200'000) && peer.exitCode() == 0, peer.readAll().constData());
            const double difference = max_difference(embed(*model, {text}), read_tensor(SafetensorsFile(out), "embeddings"));
            QVERIFY2(difference < 3e-6, (text + ": " + std::to_string(difference)).c_str());
        }
    }
};

FACETER_TEST(TestLongRope)
#include "test_longrope.moc"
