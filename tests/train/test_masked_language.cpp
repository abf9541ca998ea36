#include <QProcess>
#include <cmath>

#include "common/file.h"
#include "model/mlm_head.h"
#include "support/checkout.h"
#include "support/tensors.h"
#include "support/test.h"
#include "text/model_words.h"
#include "train/masking.h"
#include "train/segments.h"
#include "train/token_objective.h"
#include "train/trainer.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// Texts whose words follow a rule, so that a masked one can be guessed.
TrainingSet some_texts() {
    TrainingSet set;
    set.name = "texts";
    set.task = "retrieval";
    const char* words[] = {"red", "green", "blue", "house", "river", "stone", "quick", "brown", "fox", "jumps", "over", "lazy"};
    for (std::uint32_t i = 0; i < 48; ++i) {
        std::string text;
        for (std::uint32_t k = 0; k < 8 + i % 5; ++k) text += std::string(words[(i + k) % 12]) + " ";
        Example example;
        example.positive = set.texts.intern(text);
        example.anchor = set.texts.intern("title " + std::to_string(i));
        set.examples.push_back(example);
    }
    return set;
}

struct Bench {
    TemporaryDirectory cache;
    TrainingSet set = some_texts();
    std::unique_ptr<EmbeddingModel> model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
    PairBatcher batcher{*model, {&set}, cache.path(), 1};
    std::unique_ptr<Curriculum> curriculum;
    MaskedLanguage objective;
    SingleProcess group;
    std::unique_ptr<Trainer> trainer;

    explicit Bench(const TrainingSettings& settings, const Json& masking = Json::object()) : objective(masking) {
        CurriculumContext context;
        Task task;
        task.name = "retrieval";
        context.tasks = {task};
        context.sets = {&set};
        context.batch_size = settings.batch_size;
        curriculum = make_task_aware_curriculum(context);
        objective.attach(*model, settings.seed, cache.path() / "none");
        trainer = std::make_unique<Trainer>(*model, Stage{}, 0, batcher, *curriculum, objective, settings, EarlyStopping{}, group);
    }
    std::vector<at::Tensor> weights() const {
        std::vector<at::Tensor> all;
        for (const NamedTensor& t : model->named_tensors()) all.push_back(t.tensor.clone());
        for (const Parameter& p : objective.parameters()) all.push_back(p.tensor.detach().clone());
        return all;
    }
};

TrainingSettings small(std::int64_t steps) {
    TrainingSettings settings;
    settings.batch_size = 12;
    settings.steps = steps;
    settings.learning_rate = 3e-3;
    return settings;
}

PackedBatch batch_of(const std::vector<std::vector<std::int32_t>>& texts, std::uint64_t first_key = 0) {
    std::vector<SequenceInput> inputs;
    for (std::size_t s = 0; s < texts.size(); ++s)
        inputs.push_back({texts[s].data(), static_cast<std::int64_t>(texts[s].size()), first_key + s});
    return make_packed_batch(inputs);
}

MaskVocabulary some_vocabulary() {
    MaskVocabulary vocabulary;
    vocabulary.mask = 4;
    vocabulary.size = 1000;
    vocabulary.special = {0, 1, 2, 3, 4};
    return vocabulary;
}

std::vector<std::int64_t> values(const at::Tensor& t) { return {t.data_ptr<std::int64_t>(), t.data_ptr<std::int64_t>() + t.numel()}; }

}  // namespace

class TestMaskedLanguage : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void shares_are_as_set_and_special_tokens_are_never_guessed() {
        std::vector<std::vector<std::int32_t>> texts(200);
        for (std::size_t s = 0; s < texts.size(); ++s)
            for (std::int32_t i = 0; i < 100; ++i)
                texts[s].push_back(i == 0        ? 2
                                   : i == 99     ? 3
                                   : i % 10 == 5 ? 1
                                                 : 5 + static_cast<std::int32_t>((s * 37 + static_cast<std::size_t>(i)) % 995));
        const PackedBatch batch = batch_of(texts);
        const MaskedTokens masked = mask_tokens(batch, some_vocabulary(), {}, 1, 0);
        const auto before = values(batch.ids), after = values(masked.ids), rows = values(masked.rows), targets = values(masked.targets);
        double by_mask = 0, by_other = 0;
        std::size_t next = 0;
        for (std::size_t row = 0; row < before.size(); ++row) {
            const bool guessed = next < rows.size() && rows[next] == static_cast<std::int64_t>(row);
            if (!guessed) {
                QCOMPARE(after[row], before[row]);
                continue;
            }
            QVERIFY(before[row] > 4);
            QCOMPARE(targets[next++], before[row]);
            by_mask += after[row] == 4;
            by_other += after[row] != 4 && after[row] != before[row];
            QVERIFY(after[row] >= 4);
        }
        QCOMPARE(next, rows.size());
        const double guessed = static_cast<double>(rows.size()), real = 200 * 88;
        QVERIFY(std::abs(guessed / real - 0.3) < 0.02);
        QVERIFY(std::abs(by_mask / guessed - 0.8) < 0.03 && std::abs(by_other / guessed - 0.1) < 0.02);
    }
    /// Gemma's <bos> and <eos>, which are no token of BERT's roles.
    void what_stands_around_a_text_is_never_guessed() {
        const auto tokenizer = load_tokenizer(shared_folder() / "fixtures/mmbert");
        const MaskVocabulary vocabulary(*tokenizer);
        std::vector<std::int32_t> ids;
        tokenizer->encode("a text", 0, ids);
        QVERIFY(vocabulary.special.contains(ids.front()) && vocabulary.special.contains(ids.back()));
        QVERIFY(!vocabulary.special.contains(ids[1]));
    }
    void draws_depend_on_seed_step_and_text_not_on_the_company() {
        const std::vector<std::int32_t> a{2, 10, 11, 12, 13, 14, 15, 16, 3}, b{2, 20, 21, 22, 23, 24, 25, 26, 27, 28, 3};
        const auto ids = [&](const PackedBatch& batch, std::uint64_t seed, std::int64_t step) {
            return mask_tokens(batch, some_vocabulary(), {}, seed, step).ids;
        };
        const at::Tensor both = ids(batch_of({a, b}, 5), 1, 3), alone = ids(batch_of({b}, 6), 1, 3);
        QVERIFY(at::equal(both.narrow(0, 9, 11), alone));
        QVERIFY(!at::equal(ids(batch_of({a, b}, 5), 1, 4), both));
        QVERIFY(!at::equal(ids(batch_of({a, b}, 5), 2, 3), both));
    }
    void a_batch_that_the_draws_spare_has_no_guess_and_neither_has_one_of_special_tokens() {
        MaskingSettings never;
        never.rate = 0;
        QCOMPARE(mask_tokens(batch_of({{2, 10, 11, 3}}), some_vocabulary(), never, 1, 0).rows.numel(), std::int64_t{0});
        QCOMPARE(mask_tokens(batch_of({{2, 3}}), some_vocabulary(), {}, 1, 0).rows.numel(), std::int64_t{0});
    }
    void shares_beyond_one_are_refused() {
        EXPECT_ERROR(MaskedLanguage(Json::object({{"mask_share", 0.8}, {"random_share", 0.4}})), "mask_share", "at most 1");
        EXPECT_ERROR(MaskedLanguage(Json::object({{"rate", 1.5}})), "objective.rate", "1.5");
    }
    void the_loss_of_a_short_run_falls() {
        NEED_SHARED();
        TrainingSettings settings = small(120);
        settings.dropout = 0;
        Bench bench(settings);
        double last = 0, accuracy = 0;
        const StepReport first = bench.trainer->train_step();
        for (int i = 1; i < 120; ++i) {
            const StepReport report = bench.trainer->train_step();
            if (i >= 110) last += report.loss / 10, accuracy += report.parts.at("masked_accuracy") / 10;
        }
        QVERIFY2(last < 0.6 * first.loss && accuracy > first.parts.at("masked_accuracy"),
                 (std::to_string(last) + " of " + std::to_string(first.loss)).c_str());
        QVERIFY(first.parts.at("masked_tokens") > 10);
    }
    void the_texts_that_are_read_are_those_that_are_asked_for() {
        NEED_SHARED();
        const std::vector<ExampleReference> items{{0, 0}, {0, 5}};
        Bench documents(small(1)), queries(small(1), Json::object({{"texts", "queries"}})),
            both(small(1), Json::object({{"texts", "both"}}));
        const PairBatch batch = documents.batcher.build(items, 0.05);
        const PackedBatch d = documents.objective.texts_of(batch), q = queries.objective.texts_of(batch),
                          all = both.objective.texts_of(batch);
        QVERIFY(d.layout->num_sequences() == 2 && q.layout->num_sequences() == 2);
        QCOMPARE(d.layout->num_tokens() + q.layout->num_tokens(), batch.tokens.layout->num_tokens());
        QVERIFY(at::equal(all.ids, batch.tokens.ids));
        QVERIFY(d.layout->num_tokens() > q.layout->num_tokens());
    }
    void a_text_is_cut_into_segments_that_fit_and_leave_nothing_out() {
        const CountTokens words = [](std::string_view text) {
            std::size_t count = 2;  // special tokens
            for (std::size_t i = 0; i < text.size(); ++i) count += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
            return count;
        };
        std::string text;
        for (int i = 0; i < 500; ++i) text += "word" + std::string(static_cast<std::size_t>(i % 7), 'x') + (i % 11 ? " " : "  ");
        const auto pieces = segments_of(text, words, 22);
        std::string joined;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            joined += pieces[i];
            QVERIFY(words(pieces[i]) <= 22);
            if (i + 1 < pieces.size()) QVERIFY(words(pieces[i]) >= 18);
        }
        QCOMPARE(joined, text);
        QVERIFY(pieces.size() <= 28);
        QCOMPARE(segments_of("short", words, 22), std::vector<std::string_view>{"short"});
        QVERIFY(segments_of("", words, 22).empty());
        const CountTokens bytes = [](std::string_view part) { return part.size(); };
        std::string letters;  // no white space, letters of two bytes
        for (int i = 0; i < 50; ++i) letters += "\xc3\xa9";
        for (const std::string_view piece : segments_of(letters, bytes, 15)) QVERIFY(piece.size() <= 15 && piece.size() % 2 == 0);
        QCOMPARE(segments_of("some text", bytes, 0), std::vector<std::string_view>{"some text"});  // the instruction fills the limit
    }
    void every_token_of_a_long_text_is_in_some_segment() {
        NEED_SHARED();
        const auto model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
        model->max_length = 16;
        TrainingSet set = some_texts();
        std::string text;
        for (int i = 0; i < 90; ++i) text += i % 3 ? "river " : "house ";
        set.examples[0].positive = set.texts.intern(text);
        const auto tokens_in = [&](const TrainingSet& texts) {
            std::size_t count = 0;
            for (const Example& example : texts.examples) {
                std::vector<std::int32_t> ids;
                model->tokenizer->encode(texts.texts[example.positive], 0, ids);
                count += ids.size() - 2;
            }
            return count;
        };
        const TrainingSet cut = segmented_set(*model, set, ReadTexts::documents, {});
        QVERIFY(cut.examples.size() > set.examples.size() + 5);
        QCOMPARE(tokens_in(cut), tokens_in(set));
        for (const Example& example : cut.examples) {
            std::vector<std::int32_t> ids;
            model->tokenizer->encode(cut.texts[example.positive], 0, ids);
            QVERIFY(ids.size() <= 16);
        }
        const TrainingSet both = segmented_set(*model, set, ReadTexts::both, {});
        QCOMPARE(both.examples.size(), cut.examples.size());
        QCOMPARE(std::string(both.texts[both.examples[1].anchor]), std::string("title 0"));
        QVERIFY(cut.fingerprint != set.fingerprint);
    }
    void segments_that_are_others_have_another_fingerprint() {
        NEED_SHARED();
        const auto model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
        model->max_length = 16;
        TrainingSet set = some_texts();
        for (Example& example : set.examples) example.positive = set.texts.intern("stone " + std::to_string(example.anchor));
        // Short texts: as many segments whatever is read.
        const auto cut = [&](ReadTexts texts) { return segmented_set(*model, set, texts, {}); };
        const TrainingSet documents = cut(ReadTexts::documents), queries = cut(ReadTexts::queries), both = cut(ReadTexts::both);
        QCOMPARE(documents.examples.size(), queries.examples.size());
        QCOMPARE(documents.examples.size(), both.examples.size());
        QVERIFY(documents.fingerprint != queries.fingerprint);
        QVERIFY(documents.fingerprint != both.fingerprint);
        QVERIFY(queries.fingerprint != both.fingerprint);
        QCOMPARE(cut(ReadTexts::both).fingerprint, both.fingerprint);
    }
    void a_restored_trainer_goes_on_bit_for_bit_head_included() {
        NEED_SHARED();
        TemporaryDirectory folder;
        const CheckpointStore store(folder.path(), 2);
        Bench whole(small(7)), part(small(7)), resumed(small(7));
        whole.trainer->run({});
        TrainerEvents events;
        events.checkpoint = [&](const CheckpointState& state, const std::vector<NamedTensor>& optimizer) {
            store.save(state, part.model->named_tensors(), optimizer);
        };
        events.should_stop = [&] { return part.trainer->step() == 4; };
        QVERIFY(part.trainer->run(events) == TrainOutcome::stopped);
        std::vector<std::string> warnings;
        const auto checkpoint = store.newest(warnings);
        QVERIFY(checkpoint && checkpoint->state.step == 4);
        for (const Json& curriculum : {Json(), Json(5), Json::array(), Json{{"pools", "none"}}}) {
            Checkpoint spoilt = *checkpoint;
            spoilt.state.details["curriculum"] = curriculum;
            EXPECT_ERROR(resumed.trainer->restore(spoilt), (checkpoint->folder / "state.json").string(), std::string("curriculum"));
        }
        Checkpoint empty = *checkpoint;
        empty.state.details = Json::array();
        EXPECT_ERROR(resumed.trainer->restore(empty), (checkpoint->folder / "state.json").string(), std::string("curriculum"));
        resumed.model->load_weights(Weights(std::vector<fs::path>{checkpoint->model()}));
        resumed.trainer->restore(*checkpoint);
        QVERIFY(resumed.trainer->run({}) == TrainOutcome::finished);
        const auto x = whole.weights(), y = resumed.weights();
        for (std::size_t i = 0; i < x.size(); ++i) QVERIFY(at::equal(x[i], y[i]));
    }
    void the_next_stage_starts_with_the_head_that_was_kept() {
        NEED_SHARED();
        TemporaryDirectory folder;
        Bench bench(small(3));
        bench.trainer->run({});
        bench.objective.keep(folder.path() / mlm_head_file);
        MaskedLanguage next(Json::object());
        QVERIFY(next.attach(*bench.model, 5, folder.path() / mlm_head_file).find(mlm_head_file) != std::string::npos);
        const auto a = bench.objective.parameters(), b = next.parameters();
        for (std::size_t i = 0; i < a.size(); ++i) QVERIFY(at::equal(a[i].tensor.detach(), b[i].tensor));
        QVERIFY(MaskedLanguage(Json::object()).attach(*bench.model, 5, folder.path() / "none").find("fresh") != std::string::npos);
    }
    void a_mask_token_without_an_embedding_is_refused() {
        NEED_SHARED();
        TemporaryDirectory folder;
        fs::copy_file(shared_folder() / "fixtures/bert/tokenizer.json", folder.path() / "tokenizer.json");
        write_file_atomic(folder.path() / "tokenizer_config.json", R"({"mask_token": "[HIDE]"})");
        const std::size_t words = load_tokenizer(folder.path())->vocab_size() - 1;
        QCOMPARE(MaskVocabulary(*load_tokenizer_for(words + 1, "config.json", folder.path(), false)).mask,
                 static_cast<std::int64_t>(words));
        EXPECT_ERROR(MaskVocabulary(*load_tokenizer_for(words, "config.json", folder.path(), false)),
                     "the tokenizer's mask token '[HIDE]' has id " + std::to_string(words));
    }
    void loss_and_gradients_equal_transformers() {
        NEED_SHARED();
        const QString python = qEnvironmentVariable("FACETER_PEERS");
        if (python.isEmpty()) QSKIP("no python with transformers (FACETER_PEERS)");
        TemporaryDirectory folder;
        const fs::path fixture = shared_folder() / "fixtures/bert";
        QProcess peer;
        peer.setProcessChannelMode(QProcess::MergedChannels);
        peer.start(python, {FACETER_SOURCE_DIR "/tests/train/peer_masked_language.py", fixture.c_str(), folder.path().c_str()});
        QVERIFY2(peer.waitForFinished(200'000) && peer.exitCode() == 0, peer.readAll().constData());
        fs::copy_file(fixture / "tokenizer.json", folder.path() / "tokenizer.json");
        const auto model = EmbeddingModel::open(ModelFolder::open(folder.path()));
        MlmHead head(*model->encoders.front(), "bert", 1);
        QVERIFY(head.load(model->folder.weights(), model->folder.config));
        const SafetensorsFile wanted(folder.path() / "wanted.safetensors");
        std::vector<std::vector<std::int32_t>> texts;
        std::vector<std::int64_t> rows, targets;
        const at::Tensor ids = read_tensor(wanted, "ids"), labels = read_tensor(wanted, "labels"), mask = read_tensor(wanted, "mask");
        std::int64_t row = 0;
        for (std::int64_t s = 0; s < ids.size(0); ++s) {
            texts.emplace_back();
            for (std::int64_t i = 0; i < ids.size(1) && mask[s][i].item<std::int64_t>() == 1; ++i, ++row) {
                texts.back().push_back(static_cast<std::int32_t>(ids[s][i].item<std::int64_t>()));
                if (const auto label = labels[s][i].item<std::int64_t>(); label >= 0) rows.push_back(row), targets.push_back(label);
            }
        }
        Encoder& encoder = *model->encoders.front();
        encoder.require_grad(true);
        for (const Parameter& p : head.parameters()) p.tensor.requires_grad_(true);
        const at::Tensor hidden = encoder.forward(batch_of(texts), {}).index_select(0, at::tensor(at::ArrayRef<std::int64_t>(rows)));
        const TokenLoss loss = token_cross_entropy(head.transform(hidden), word_embeddings(encoder), head.bias(),
                                                   at::tensor(at::ArrayRef<std::int64_t>(targets)));
        QVERIFY2(std::abs(loss.loss.item<double>() - read_tensor(wanted, "loss").item<double>()) < 1e-4,
                 std::to_string(loss.loss.item<double>()).c_str());
        loss.loss.backward();
        int compared = 0;
        for (const Parameter& p : encoder.parameters()) {
            const std::string name = "grad.bert." + p.name;
            if (!wanted.find(name)) continue;
            const double difference = max_difference(p.tensor.grad(), read_tensor(wanted, name));
            QVERIFY2(difference < 1e-4, (name + " " + std::to_string(difference)).c_str());
            ++compared;
        }
        for (const Parameter& p : head.parameters()) {
            const double difference = max_difference(p.tensor.grad(), read_tensor(wanted, "grad." + p.name.substr(9)));
            QVERIFY2(difference < 1e-4, (p.name + " " + std::to_string(difference)).c_str());
            ++compared;
        }
        QVERIFY(compared > 15);
    }
};

FACETER_TEST(TestMaskedLanguage)
#include "test_masked_language.moc"
