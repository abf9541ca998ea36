#include <QProcess>

#include <algorithm>

#include "checkpoint/parameter_count.h"
#include "common/file.h"
#include "eval/embedder.h"
#include "model/embedding_model.h"
#include "support/checkout.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr std::int64_t trained = 12;

std::vector<std::string> some_texts() {
    return {"so", "", "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen",
            "rye flour, water and salt; then patience, and an oven that is as hot as it can be; then bread, which shall rest for an hour"};
}

/// The fixture's weights under another configuration.
struct Folder {
    TemporaryDirectory root;
    fs::path path = root.path() / "model";

    explicit Folder(const Json& rotary) : Folder(std::string("qwen3_embedding")) {
        Json config = read_json(path / "config.json");
        for (const char* key : {"rope_scaling", "rope_parameters", "rope_theta"}) config.erase(key);
        config["rope_parameters"] = rotary;
        write(path / "config.json", config);
    }
    /// With positions for few tokens, and a length that is named for more.
    explicit Folder(const std::string& fixture) {
        fs::copy(shared_folder() / "fixtures" / fixture, path, fs::copy_options::recursive);
        fs::permissions(path, fs::perms::owner_write, fs::perm_options::add);
        Json config = read_json(path / "config.json");
        config["max_position_embeddings"] = trained;
        write(path / "config.json", config);
        write(path / "sentence_bert_config.json", {{"max_seq_length", 200}, {"do_lower_case", false}});
    }
    static void write(const fs::path& file, const Json& json) {
        fs::remove(file);
        write_file_atomic(file, json.dump());
    }
    std::unique_ptr<EmbeddingModel> open() const { return EmbeddingModel::open(ModelFolder::open(path)); }
};

Json plain() { return {{"rope_type", "default"}, {"rope_theta", 10000.0}}; }

Json dynamic(double factor) { return {{"rope_type", "dynamic"}, {"factor", factor}, {"rope_theta", 10000.0}}; }

at::Tensor embed(const EmbeddingModel& model, const std::vector<std::string>& texts) {
    return embed_texts(model, std::vector<std::string_view>(texts.begin(), texts.end()), {});
}

/// Undefined, and said, where sentence-transformers fails.
at::Tensor of_peer(const QString& python, const Folder& folder, const std::vector<std::string>& texts) {
    const fs::path input = folder.root.path() / "input.json", out = folder.root.path() / "out.safetensors";
    write_file_atomic(input, Json{{"prompt", ""}, {"texts", texts}}.dump());
    QProcess peer;
    peer.setProcessChannelMode(QProcess::MergedChannels);
    peer.start(python, {FACETER_SOURCE_DIR "/tests/model/peer_include_prompt.py", folder.path.c_str(), input.c_str(), out.c_str()});
    if (peer.waitForFinished(200'000) && peer.exitCode() == 0) return read_tensor(SafetensorsFile(out), "embeddings");
    qWarning("%s", peer.readAll().constData());
    return {};
}

}  // namespace

/// Rotary positions that turn slower the longer a text is (dynamic NTK).
class TestDynamicPositions : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_text_within_the_trained_positions_is_read_as_without_them() {
        NEED_SHARED();
        const std::vector<std::string> texts = some_texts();
        const at::Tensor grown = embed(*Folder(dynamic(4)).open(), {texts[0]}), usual = embed(*Folder(plain()).open(), {texts[0]});
        QVERIFY(grown.equal(usual));
    }
    void a_longer_text_has_the_same_vector_in_any_company() {
        NEED_SHARED();
        const Folder folder(dynamic(4));
        const auto model = folder.open();
        QCOMPARE(model->max_length, std::size_t{200});
        const std::vector<std::string> texts = some_texts();
        const at::Tensor together = embed(*model, texts);
        for (std::size_t i = 0; i < texts.size(); ++i)
            QVERIFY2(embed(*model, {texts[i]})[0].equal(together[static_cast<std::int64_t>(i)]), texts[i].c_str());
    }
    void embeddings_equal_sentence_transformers() {
        NEED_SHARED();
        const QString python = qEnvironmentVariable("FACETER_PEERS");
        if (python.isEmpty()) QSKIP("no python with sentence-transformers (FACETER_PEERS)");
        const Folder folder(dynamic(4));
        const std::vector<std::string> texts = some_texts();
        for (std::size_t i = 0; i < texts.size(); ++i) {  // one by one: theirs depend on the longest of a batch
            const at::Tensor theirs = of_peer(python, folder, {texts[i]});
            const double difference = theirs.defined() ? max_difference(embed(*folder.open(), {texts[i]}), theirs) : 1;
            QVERIFY2(difference < 2e-6, (texts[i] + ": " + std::to_string(difference)).c_str());
        }
    }
    void behind_the_trained_positions_it_goes_on_as_sentence_transformers_does_data() {
        QTest::addColumn<QString>("fixture");
        for (const char* fixture : {"qwen3_embedding", "modernbert", "embedding_gemma"}) QTest::newRow(fixture) << fixture;
    }
    void behind_the_trained_positions_it_goes_on_as_sentence_transformers_does() {
        NEED_SHARED();
        QFETCH(QString, fixture);
        const Folder folder(fixture.toStdString());
        const auto model = folder.open();
        QCOMPARE(model->max_length, std::size_t{200});
        const std::vector<std::string> remarks = check_model(ModelFolder::open(folder.path));
        QVERIFY(std::any_of(remarks.begin(), remarks.end(),
                            [](const std::string& remark) { return remark.find("trained for 12 positions") != remark.npos; }));
        const QString python = qEnvironmentVariable("FACETER_PEERS");
        if (python.isEmpty()) QSKIP("no python with sentence-transformers (FACETER_PEERS)");
        const at::Tensor theirs = of_peer(python, folder, some_texts());
        const double difference = theirs.defined() ? max_difference(embed(*model, some_texts()), theirs) : 1;
        QVERIFY2(difference < 1e-5, std::to_string(difference).c_str());
    }
    void vectors_kept_of_one_configuration_are_not_those_of_another() {
        NEED_SHARED();
        const std::string usual = Folder(plain()).open()->fingerprint();
        QCOMPARE(Folder(plain()).open()->fingerprint(), usual);
        QVERIFY(Folder(dynamic(4)).open()->fingerprint() != usual);
        QVERIFY(Folder(dynamic(2)).open()->fingerprint() != Folder(dynamic(4)).open()->fingerprint());
        QVERIFY(Folder({{"rope_type", "default"}, {"rope_theta", 500.0}}).open()->fingerprint() != usual);
    }
};

FACETER_TEST(TestDynamicPositions)
#include "test_dynamic_positions.moc"
