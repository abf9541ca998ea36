#include <QProcess>
#include <cmath>
#include <variant>

#include "common/file.h"
#include "eval/embedder.h"
#include "model/embedding_model.h"
#include "model/ops.h"
#include "support/checkout.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const std::string instruction = "Represent the question: ";

/// A fixture's folder whose pooling leaves instructions out, as INSTRUCTOR's does.
struct Folder {
    TemporaryDirectory root;
    fs::path path = root.path() / "model";
    std::unique_ptr<EmbeddingModel> model;

    Folder(const QString& fixture, bool include_prompt, const QString& mode = "") {
        fs::copy(shared_folder() / "fixtures" / fixture.toStdString(), path, fs::copy_options::recursive);
        Json pooling = read_json(path / "1_Pooling/config.json");
        pooling["include_prompt"] = include_prompt;
        if (!mode.isEmpty()) pooling = {{"pooling_mode", mode.toStdString()}, {"include_prompt", include_prompt}};
        if (!mode.isEmpty()) pooling["embedding_dimension"] = read_json(path / "config.json").at("hidden_size");
        write_file_atomic(path / "1_Pooling/config.json", pooling.dump());
        model = EmbeddingModel::open(ModelFolder::open(path));
    }
};

std::vector<std::string> some_texts() {
    return {"who wrote the first compiler?", "", "a", "caf\xC3\xA9 \xE4\xB8\xAD\xE6\x96\x87",
            "three words here, and then some more of them to make the text longer"};
}

at::Tensor embed(const EmbeddingModel& model, const std::string& with) {
    const auto texts = some_texts();
    return embed_texts(model, std::vector<std::string_view>(texts.begin(), texts.end()), {with});
}

/// One text by itself, token by token: the mean of the hidden states behind the instruction, then the dense heads and the norm, in float64.
at::Tensor slow_embedding(const EmbeddingModel& model, const std::string& text) {
    std::vector<std::int32_t> ids, prompt;
    model.tokenizer->encode(instruction + text, model.max_length, ids);
    model.tokenizer->encode(instruction, 0, prompt);
    const std::size_t skip = prompt.size() - 1;  // T5 has nothing in front and </s> behind
    const Encoder& encoder = *model.encoders.front();
    const at::Tensor hidden = encoder.forward(make_packed_batch({{ids.data(), static_cast<std::int64_t>(ids.size()), 0, {}, 0}}), {});
    std::vector<double> sum(static_cast<std::size_t>(hidden.size(1)));
    for (std::size_t row = skip; row < ids.size(); ++row)
        for (std::size_t k = 0; k < sum.size(); ++k)
            sum[k] += hidden[static_cast<std::int64_t>(row)][static_cast<std::int64_t>(k)].item<double>() /
                      static_cast<double>(ids.size() - skip);
    at::Tensor mean = at::tensor(sum, at::kDouble).unsqueeze(0);
    const Weights weights = model.folder.weights();
    for (const DenseModule& dense : model.folder.dense) {
        const at::Tensor weight = at::empty({dense.out_features, dense.in_features}, at::kFloat),
                         bias = at::zeros({dense.out_features}, at::kFloat);
        weights.read_float(dense.name + ".linear.weight", {weight.data_ptr<float>(), static_cast<std::size_t>(weight.numel())});
        if (dense.bias) weights.read_float(dense.name + ".linear.bias", {bias.data_ptr<float>(), static_cast<std::size_t>(bias.numel())});
        mean = mean.mm(weight.to(at::kDouble).t()) + bias.to(at::kDouble);
        if (dense.tanh) mean = mean.tanh();
    }
    return model.folder.normalize ? mean / mean.norm() : mean;
}

void both_shapes() {
    QTest::addColumn<QString>("fixture");
    QTest::newRow("t5") << "t5";
    QTest::newRow("t5, gated") << "t5_gated";
}

/// That of sentence-transformers, or why there is none.
std::variant<at::Tensor, std::string> of_peer(const QString& python, const Folder& folder, const std::string& prompt) {
    const fs::path input = folder.root.path() / "input.json", out = folder.root.path() / "out.safetensors";
    write_file_atomic(input, Json{{"prompt", prompt}, {"texts", some_texts()}}.dump());
    QProcess peer;
    peer.setProcessChannelMode(QProcess::MergedChannels);
    peer.start(python, {FACETER_SOURCE_DIR "/tests/model/peer_include_prompt.py", folder.path.c_str(), input.c_str(), out.c_str()});
    if (!peer.waitForFinished(200'000) || peer.exitCode() != 0) return peer.readAll().toStdString();
    return read_tensor(SafetensorsFile(out), "embeddings");
}

}  // namespace

/// INSTRUCTOR's pooling (Su et al., 2023, section 2.1) on the shapes of the T5 fixtures.
class TestIncludePrompt : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void the_instruction_is_read_but_stays_out_of_the_mean_data() { both_shapes(); }
    void the_instruction_is_read_but_stays_out_of_the_mean() {
        NEED_SHARED();
        QFETCH(QString, fixture);
        const c10::AutoGradMode no_grad(false);
        const Folder folder(fixture, false), whole(fixture, true);
        const at::Tensor rows = embed(*folder.model, instruction);
        const auto texts = some_texts();
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const double difference = max_difference(rows[static_cast<std::int64_t>(i)], slow_embedding(*folder.model, texts[i])[0]);
            QVERIFY2(difference < 2e-6, (texts[i] + ": " + std::to_string(difference)).c_str());
        }
        QVERIFY(max_difference(rows, embed(*whole.model, instruction)) > 1e-3);  // it matters,
        QVERIFY(max_difference(rows, embed(*folder.model, "")) > 1e-3);          // and the instruction was read
        QVERIFY(max_difference(embed(*folder.model, ""), embed(*whole.model, "")) < 1e-7);
    }
    void embeddings_equal_sentence_transformers_data() { both_shapes(); }
    void embeddings_equal_sentence_transformers() {
        NEED_SHARED();
        QFETCH(QString, fixture);
        const QString python = qEnvironmentVariable("FACETER_PEERS");
        if (python.isEmpty()) QSKIP("no python with sentence-transformers (FACETER_PEERS)");
        const c10::AutoGradMode no_grad(false);
        const Folder folder(fixture, false);
        const auto theirs = of_peer(python, folder, instruction);
        QVERIFY2(theirs.index() == 0, std::get_if<std::string>(&theirs) ? std::get<std::string>(theirs).c_str() : "");
        const double difference = max_difference(embed(*folder.model, instruction), std::get<at::Tensor>(theirs));
        QVERIFY2(difference < 2e-6, std::to_string(difference).c_str());
    }
    void the_first_row_behind_the_instruction_is_cls() {
        NEED_SHARED();
        const Folder folder("bert", false, "cls"), whole("bert", true, "cls");
        QVERIFY(max_difference(embed(*folder.model, instruction), embed(*whole.model, instruction)) > 1e-3);
        QVERIFY(embed(*folder.model, "").equal(embed(*whole.model, "")));
        const Folder last("bert", false, "lasttoken"), all("bert", true, "lasttoken");
        QVERIFY(embed(*last.model, instruction).equal(embed(*all.model, instruction)));
    }
    /// Three rows of the text that has none but the instruction's, two behind one of the other. sentence-transformers' Pooling gives zeros
    /// for the mean and the last token, and the text's own first row for CLS.
    void a_text_with_nothing_behind_the_instruction_has_no_mean() {
        const auto layout =
            std::make_shared<PackedLayout>(std::vector<std::int64_t>{3, 3}, std::vector<std::uint64_t>{0, 1}, std::vector<Path>{{}, {}});
        for (const OpsForm form : {OpsForm::kernels, OpsForm::device, OpsForm::plain}) {
            force_ops(form);
            at::Tensor x;
            const auto rows = [&](Pooling pooling, std::int64_t skip) { return pool(x, layout, pooling, {skip, 1}); };
            for (const std::int64_t skip : {3, 7}) {
                x = at::arange(1, 13, at::kFloat).view({6, 2}).set_requires_grad(true);
                const at::Tensor mean = rows(Pooling::mean, skip), last = rows(Pooling::last_token, skip);
                QVERIFY(mean.equal(at::tensor({0.0f, 0.0f, 10.0f, 11.0f}).view({2, 2})));
                QVERIFY(last.equal(at::tensor({0.0f, 0.0f, 11.0f, 12.0f}).view({2, 2})));
                QVERIFY(rows(Pooling::cls, skip).equal(at::tensor({1.0f, 2.0f, 9.0f, 10.0f}).view({2, 2})));
                (mean.sum() + last.sum()).backward();
                QVERIFY(x.grad().slice(0, 0, 4).eq(0).all().item<bool>() && x.grad().sum().item<float>() == 4.0f);
            }
            QVERIFY(rows(Pooling::mean, 2).equal(at::tensor({5.0f, 6.0f, 10.0f, 11.0f}).view({2, 2})));
            force_ops(std::nullopt);
        }
    }
    /// Two texts of three rows, of the second the last two count; by hand, in each form and in double.
    void other_means_and_the_greatest_are_of_the_rows_behind_the_instruction() {
        const auto layout =
            std::make_shared<PackedLayout>(std::vector<std::int64_t>{3, 3}, std::vector<std::uint64_t>{0, 1}, std::vector<Path>{{}, {}});
        for (const OpsForm form : {OpsForm::kernels, OpsForm::device, OpsForm::plain}) {
            force_ops(form);
            const at::Tensor x = at::tensor({1.0f, 9.0f, 3.0f, 5.0f, 2.0f, 4.0f, 7.0f, 8.0f, 6.0f, 1.0f, 2.0f, 3.0f}).view({6, 2});
            x.set_requires_grad(true);
            const auto rows = [&](Pooling pooling, std::int64_t skip) { return pool(x, layout, pooling, {0, skip}); };
            const auto is = [](const at::Tensor& got, const std::vector<float>& wanted) {
                return at::allclose(got.view({-1}), at::tensor(wanted), 1e-6);
            };
            QVERIFY(is(rows(Pooling::max, 1), {3, 9, 6, 3}));
            QVERIFY(is(rows(Pooling::max, 3), {3, 9, 0, 0}));
            const float third = 1 / std::sqrt(3.0f), half = 1 / std::sqrt(2.0f);
            QVERIFY(is(rows(Pooling::mean_sqrt_length, 1), {6 * third, 18 * third, 8 * half, 4 * half}));
            QVERIFY(is(rows(Pooling::mean_sqrt_length, 3), {6 * third, 18 * third, 0, 0}));
            QVERIFY(is(rows(Pooling::weighted_mean, 1), {13 / 6.0f, 31 / 6.0f, 18 / 5.0f, 11 / 5.0f}));  // places 2 and 3
            QVERIFY(is(rows(Pooling::weighted_mean, 3), {13 / 6.0f, 31 / 6.0f, 0, 0}));
            rows(Pooling::weighted_mean, 1).sum().backward();
            QVERIFY(is(x.grad().select(1, 0), {1 / 6.0f, 2 / 6.0f, 3 / 6.0f, 0, 2 / 5.0f, 3 / 5.0f}));
            force_ops(std::nullopt);
        }
    }
    void each_way_of_pooling_equals_sentence_transformers_data() {
        QTest::addColumn<QString>("mode");
        QTest::addColumn<int>("max_length");
        for (const char* mode : {"mean", "cls", "lasttoken", "mean_sqrt_len_tokens", "weightedmean", "max"}) {
            QTest::newRow(mode) << mode << 0;
            QTest::addRow("%s, an instruction that fills a text", mode) << mode << 5;
        }
    }
    void each_way_of_pooling_equals_sentence_transformers() {
        NEED_SHARED();
        QFETCH(QString, mode);
        QFETCH(int, max_length);
        const QString python = qEnvironmentVariable("FACETER_PEERS");
        if (python.isEmpty()) QSKIP("no python with sentence-transformers (FACETER_PEERS)");
        const c10::AutoGradMode no_grad(false);
        Folder folder("bert", false, mode);
        if (max_length > 0) {
            write_file_atomic(folder.path / "sentence_bert_config.json", Json{{"max_seq_length", max_length}}.dump());
            folder.model = EmbeddingModel::open(ModelFolder::open(folder.path));
        }
        const auto theirs = of_peer(python, folder, instruction);
        QVERIFY2(theirs.index() == 0, std::get_if<std::string>(&theirs) ? std::get<std::string>(theirs).c_str() : "");
        const double difference = max_difference(embed(*folder.model, instruction), std::get<at::Tensor>(theirs));
        QVERIFY2(difference < 2e-6, std::to_string(difference).c_str());
    }
};

FACETER_TEST(TestIncludePrompt)
#include "test_include_prompt.moc"
