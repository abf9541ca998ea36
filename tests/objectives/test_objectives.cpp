#include <ATen/ATen.h>
#include <fmt/format.h>

#include <QProcess>
#include <array>
#include <cmath>

#include "checkpoint/safetensors.h"
#include "common/error.h"
#include "plugin/loader.h"
#include "plugin/registry.h"
#include "support/checkout.h"
#include "support/tensors.h"
#include "support/test.h"
#include "train/checkpoint.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr std::int64_t width = 12, batch_size = 9;

std::unique_ptr<PairObjective> objective(const char* name, Json settings = Json::object()) {
    settings["teacher"] = "";  // its rows are in the batch already
    auto made = registry().make_objective(name, settings);
    return std::unique_ptr<PairObjective>(dynamic_cast<PairObjective*>(made.release()));
}

/// What batches may be: of one pair, with all scores the same, or with each query's own text among its documents.
enum class Odd { no, one_pair, equal_scores, own_text };
constexpr std::array odd_names = {"", "_one_pair", "_equal_scores", "_own_text"};

/// A batch of `negatives` hard negatives a query, with scores, and rows of a guide.
struct Sample {
    PairEmbeddings batch;
    at::Tensor given;          ///< [B, K, D] the hard negatives, a leaf
    at::Tensor scores, guide;  ///< [B, 1 + K], [B, 2 + K, D']

    explicit Sample(std::int64_t negatives, std::int64_t guide_width = width, bool leaves = true, Odd odd = Odd::no) {
        const std::int64_t pairs = odd == Odd::one_pair ? 1 : batch_size;
        at::manual_seed(11);
        batch.queries = at::randn({pairs, width}, at::kDouble).requires_grad_(leaves);
        const double noise = odd == Odd::own_text ? 0 : 1;
        batch.documents = (batch.queries.detach() + noise * at::randn({pairs, width}, at::kDouble)).requires_grad_(leaves);
        scores = at::randint(5, {pairs, 1 + negatives}, at::kDouble);  // some are equal
        if (odd == Odd::equal_scores) scores.fill_(2);
        guide = at::randn({pairs, 2 + negatives, guide_width}, at::kDouble);
        batch.guide_queries = guide.select(1, 0);
        batch.guide_documents = guide.select(1, 1);
        for (std::int64_t i = 0; i < pairs; ++i) batch.scores.push_back(scores[i][0].item<double>());
        if (negatives > 0) add_negatives(negatives, guide_width, leaves);
    }
    void add_negatives(std::int64_t negatives, std::int64_t guide_width, bool leaves) {
        const std::int64_t pairs = batch.queries.size(0);
        given = at::randn({pairs, negatives, width}, at::kDouble).requires_grad_(leaves);
        batch.negatives = given.flatten(0, 1);
        batch.guide_negatives = guide.narrow(1, 2, negatives).reshape({-1, guide_width});
        for (std::int64_t i = 0; i < pairs * negatives; ++i) {
            batch.negative_owner.push_back(i / negatives);
            batch.negative_scores.push_back(scores[i / negatives][1 + i % negatives].item<double>());
        }
    }
    /// 1 for texts that belong together, 0 for others.
    Sample& with_verdicts() {
        scores = (scores > 2).to(at::kDouble);
        for (std::vector<double>* all : {&batch.scores, &batch.negative_scores})
            for (double& score : *all) score = score > 2 ? 1 : 0;
        return *this;
    }
    Sample& without_scores() {
        batch.scores.assign(batch.scores.size(), Example::no_score);
        batch.negative_scores.assign(batch.negative_scores.size(), Example::no_score);
        return *this;
    }
};

/// One loss against sentence-transformers' own: what both are given.
struct PeerCase {
    std::string name, method;
    Json settings, peers;
    std::int64_t negatives;
    bool scored = true, guided = false, verdicts = false;
};

/// Of a loss on each pair by itself. `options`: what the peer's class is made with.
PeerCase pair_case(const std::string& method, const Json& settings, const Json& options, std::int64_t negatives) {
    return {fmt::format("{}_{}", method, negatives),
            method,
            settings,
            {{"loss", method}, {"options", options}, {"highest_score", json_or<double>(settings, "highest_score", 1, "")}},
            negatives,
            true,
            false,
            method.ends_with("contrastive")};
}

const std::vector<PeerCase>& peer_cases() {
    static const std::vector<PeerCase> all = {
        {"cosent", "cosent", {{"scale", 20}}, {{"loss", "cosent"}, {"scale", 20}}, 0},
        {"angle_scored", "angle", {{"scale", 20}}, {{"loss", "angle"}, {"scale", 20}}, 0},
        {"angle_triplets", "angle", {{"scale", 7}}, {{"loss", "angle"}, {"scale", 7}}, 2, false},
        {"triplet_euclidean", "triplet", {{"margin", 1.5}}, {{"loss", "triplet"}, {"distance", "euclidean"}, {"margin", 1.5}}, 1},
        {"triplet_cosine",
         "triplet",
         {{"margin", 0.4}, {"distance", "cosine"}},
         {{"loss", "triplet"}, {"distance", "cosine"}, {"margin", 0.4}},
         1},
        {"triplet_manhattan",
         "triplet",
         {{"margin", 5}, {"distance", "manhattan"}},
         {{"loss", "triplet"}, {"distance", "manhattan"}, {"margin", 5}},
         1},
        pair_case("cosine_similarity", {{"highest_score", 4}}, Json::object(), 0),
        pair_case("cosine_similarity", {{"highest_score", 4}}, Json::object(), 2),
        pair_case("contrastive", {{"margin", 0.5}}, {{"margin", 0.5}}, 0),
        pair_case("contrastive", {{"margin", 1.2}}, {{"margin", 1.2}}, 2),
        pair_case("online_contrastive", {{"margin", 0.5}}, {{"margin", 0.5}}, 0),
        pair_case("online_contrastive", {{"margin", 1.2}}, {{"margin", 1.2}}, 2),
        {"margin_mse", "margin_mse", Json::object(), {{"loss", "margin_mse"}}, 1},
        {"margin_mse_three", "margin_mse", {{"similarity", "cosine"}}, {{"loss", "margin_mse"}, {"similarity", "cosine"}}, 3},
        {"kl", "kl", {{"temperature", 2}}, {{"loss", "kl"}, {"temperature", 2}}, 3},
        {"kl_cosine",
         "kl",
         {{"temperature", 0.5}, {"similarity", "cosine"}},
         {{"loss", "kl"}, {"temperature", 0.5}, {"similarity", "cosine"}},
         2},
        {"vectors", "cosine_to_teacher", Json::object(), {{"loss", "cosine_to_teacher"}}, 2, false, true},
        {"gist",
         "gist",
         Json::object(),
         {{"loss", "gist"},
          {"temperature", 0.05},
          {"margin_strategy", "absolute"},
          {"margin", 0.0},
          {"contrast_anchors", true},
          {"contrast_positives", true}},
         0,
         false,
         true},
        {"gist_relative",
         "gist",
         {{"margin_kind", "relative"}, {"margin", 0.3}, {"contrast_queries", false}},
         {{"loss", "gist"},
          {"temperature", 0.05},
          {"margin_strategy", "relative"},
          {"margin", 0.3},
          {"contrast_anchors", false},
          {"contrast_positives", true}},
         1,
         false,
         true},
        {"gist_absolute",
         "gist",
         {{"margin", 0.1}, {"contrast_documents", false}},
         {{"loss", "gist"},
          {"temperature", 0.05},
          {"margin_strategy", "absolute"},
          {"margin", 0.1},
          {"contrast_anchors", true},
          {"contrast_positives", false}},
         1,
         false,
         true}};
    return all;
}

void write_float64(const fs::path& file, const std::vector<NamedTensor>& tensors, const std::map<std::string, std::string>& metadata) {
    SafetensorsWriter writer;
    std::vector<at::Tensor> kept;
    for (const NamedTensor& t : tensors) kept.push_back(t.tensor.contiguous());
    for (std::size_t i = 0; i < kept.size(); ++i)
        writer.add(tensors[i].name, DType::f64, kept[i].sizes().vec(), kept[i].data_ptr<double>());
    for (const auto& [key, value] : metadata) writer.set_metadata(key, value);
    writer.write_new(file);
}

TrainingSet three_pairs(std::uint32_t negatives, bool scored) {
    TrainingSet set;
    set.name = "three";
    for (std::uint32_t i = 0; i < 3; ++i) {
        Example example;
        example.anchor = set.texts.intern("q" + std::to_string(i));
        example.positive = set.texts.intern("d" + std::to_string(i));
        example.first_negative = static_cast<std::uint32_t>(set.negatives.size());
        example.num_negatives = negatives;
        if (scored) example.score = static_cast<float>(i);
        for (std::uint32_t n = 0; n < negatives; ++n) {
            set.negatives.push_back(set.texts.intern("n" + std::to_string(i * 10 + n)));
            if (scored) set.negative_scores.push_back(0.5F);
        }
        set.examples.push_back(example);
    }
    return set;
}

}  // namespace

/// The objectives of plugins/pair_losses and plugins/distillation, in float64.
class TestObjectives : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    fs::path write_cases(Odd odd) const {
        std::vector<NamedTensor> tensors;
        Json settings = Json::object();
        for (const PeerCase& one : peer_cases()) {
            Sample sample(one.negatives, width, false, odd);
            if (one.verdicts) sample.with_verdicts();
            settings[one.name] = one.peers;
            tensors.push_back({one.name + ".q", sample.batch.queries});
            tensors.push_back({one.name + ".d", sample.batch.documents});
            if (one.negatives > 0) tensors.push_back({one.name + ".n", sample.given});
            if (one.scored) tensors.push_back({one.name + ".scores", one.negatives > 0 ? sample.scores : sample.scores.squeeze(1)});
            if (one.guided) tensors.push_back({one.name + ".guide", sample.guide});
        }
        const fs::path file = folder_.path() / fmt::format("cases{}.safetensors", odd_names[static_cast<std::size_t>(odd)]);
        write_float64(file, tensors, {{"settings", settings.dump()}});
        return file;
    }

    /// The largest difference from the peer's value and gradients, as a part of the largest of each.
    static double difference_from(const SafetensorsFile& wanted, const PeerCase& one, Odd odd) {
        Sample sample(one.negatives, width, true, odd);
        if (!one.scored) sample.without_scores();
        if (one.verdicts) sample.with_verdicts();
        const LossResult result = (*objective(one.method.c_str(), one.settings))(sample.batch);
        result.loss.backward();
        double largest = 0;
        const auto compare = [&](const std::string& what, const at::Tensor& got) {
            const at::Tensor peers = read_tensor(wanted, one.name + what);
            const double apart = max_difference(got, peers) / std::max(1e-3, peers.abs().max().item<double>());
            largest = std::isnan(apart) ? apart : std::max(largest, apart);
        };
        compare(".loss", result.loss.detach().reshape({1}));
        compare(".grad_q", sample.batch.queries.grad());
        compare(".grad_d", sample.batch.documents.grad());
        if (one.negatives > 0) compare(".grad_n", sample.given.grad());
        return largest;
    }

  private Q_SLOTS:
    void values_and_gradients_equal_sentence_transformers_own_data() {
        QTest::addColumn<int>("odd");
        for (const Odd odd : {Odd::no, Odd::one_pair, Odd::equal_scores, Odd::own_text})
            QTest::addRow("batches%s", odd_names[static_cast<std::size_t>(odd)]) << static_cast<int>(odd);
    }
    void values_and_gradients_equal_sentence_transformers_own() {
        QFETCH(int, odd);
        const QString python = qEnvironmentVariable("FACETER_PEERS");
        if (python.isEmpty()) QSKIP("no Python with sentence-transformers (FACETER_PEERS)");
        const fs::path cases = write_cases(static_cast<Odd>(odd)), out = folder_.path() / fmt::format("peer{}.safetensors", odd);
        QProcess peer;
        peer.setProcessChannelMode(QProcess::MergedChannels);
        peer.start(python, {QStringLiteral(FACETER_SOURCE_DIR "/tests/objectives/peer_losses.py"), QString::fromStdString(cases.string()),
                            QString::fromStdString(out.string())});
        QVERIFY2(peer.waitForFinished(300'000) && peer.exitCode() == 0, peer.readAll().constData());
        const SafetensorsFile wanted(out);
        std::string wrong;
        for (const PeerCase& one : peer_cases())
            if (const double apart = difference_from(wanted, one, static_cast<Odd>(odd)); !(apart < 1e-9))
                wrong += fmt::format("{}: {}\n", one.name, apart);
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void gradients_are_those_of_finite_differences_data() {
        QTest::addColumn<QString>("method");
        QTest::addColumn<int>("negatives");
        for (const char* method :
             {"cosent", "angle", "cosine_similarity", "contrastive", "online_contrastive", "gist", "cosine_to_teacher"})
            QTest::addRow("%s", method) << method << 0;
        for (const char* method : {"cosent", "angle", "triplet", "cosine_similarity", "contrastive", "online_contrastive", "margin_mse",
                                   "kl", "gist", "cosine_to_teacher"})
            QTest::addRow("%s, negatives", method) << method << 2;
    }
    void gradients_are_those_of_finite_differences() {
        QFETCH(QString, method);
        QFETCH(int, negatives);
        const auto loss = objective(method.toStdString().c_str());
        Sample sample(negatives);
        if (method.endsWith("contrastive")) sample.with_verdicts();
        (*loss)(sample.batch).loss.backward();
        const c10::AutoGradMode no_grad(false);
        constexpr double step = 1e-6;
        for (const at::Tensor& rows : {sample.batch.queries, sample.batch.documents}) {
            const at::Tensor element = rows.detach().select(0, 4).narrow(0, 3, 1);
            const auto moved = [&](double by) {
                element.add_(by);
                const double value = (*loss)(sample.batch).loss.item<double>();
                element.add_(-by);
                return value;
            };
            const double expected = (moved(step) - moved(-step)) / (2 * step), got = rows.grad()[4][3].item<double>();
            QVERIFY2(std::abs(got - expected) < 1e-6 * std::max(1.0, std::abs(expected)),
                     (std::to_string(got) + " against " + std::to_string(expected)).c_str());
        }
    }

    void gist_masks_no_twin_of_the_positive_however_its_cosine_is_rounded() {
        Sample sample(0);
        const at::Tensor noise = 1e-9 * at::randn({batch_size, width}, at::kDouble);
        sample.batch.guide_documents = sample.guide.select(1, 1).narrow(0, 0, 1) + noise;
        const auto loss = objective("gist", {{"contrast_queries", false}, {"contrast_documents", false}});
        QCOMPARE((*loss)(sample.batch).parts.at("masked_negatives").item<double>(), 0.0);
    }

    void a_pair_that_is_not_kept_gives_no_loss() {
        for (const char* method : {"cosent", "angle", "triplet", "cosine_similarity", "contrastive", "online_contrastive", "margin_mse",
                                   "kl", "cosine_to_teacher"}) {
            Sample all(2), other(2);
            for (Sample* sample : {&all, &other}) {
                if (std::string_view(method).ends_with("contrastive")) sample->with_verdicts();
                sample->batch.keep.assign(batch_size, 1);
                sample->batch.keep[4] = 0;
            }
            {
                const c10::AutoGradMode no_grad(false);
                other.batch.documents.detach()[4].add_(1);
                other.given.detach()[4].add_(1);
                other.batch.negatives = other.given.flatten(0, 1);
            }
            const auto loss = objective(method);
            QVERIFY2(std::abs((*loss)(all.batch).loss.item<double>() - (*loss)(other.batch).loss.item<double>()) < 1e-12, method);
            all.batch.keep[4] = 1;
            QVERIFY2(std::abs((*loss)(all.batch).loss.item<double>() - (*loss)(other.batch).loss.item<double>()) > 1e-9, method);
        }
    }

    void without_scores_positives_belong_together_and_hard_negatives_do_not() {
        for (const char* method : {"contrastive", "online_contrastive"}) {
            Sample unscored(2), scored(2);
            unscored.without_scores();
            scored.batch.scores.assign(batch_size, 1);
            scored.batch.negative_scores.assign(2 * batch_size, 0);
            const auto loss = objective(method, {{"margin", 1.5}});
            const double got = (*loss)(unscored.batch).loss.item<double>();
            QVERIFY(got > 0);
            QCOMPARE(got, (*loss)(scored.batch).loss.item<double>());
        }
    }

    void queries_may_have_different_numbers_of_negatives() {
        Sample sample(3);  // the second negative of query 0 and all but one of query 5 are left out
        std::vector<std::int64_t> rows;
        PairEmbeddings ragged = sample.batch;
        ragged.negative_owner.clear(), ragged.negative_scores.clear();
        for (std::int64_t n = 0; n < batch_size * 3; ++n) {
            if (n == 1 || n == 16 || n == 17) continue;
            rows.push_back(n);
            ragged.negative_owner.push_back(n / 3);
            ragged.negative_scores.push_back(sample.batch.negative_scores[static_cast<std::size_t>(n)]);
        }
        ragged.negatives = sample.batch.negatives.index_select(0, at::tensor(rows));
        const double got = (*objective("kl"))(ragged).loss.item<double>();
        double expected = 0;
        for (std::int64_t q = 0; q < batch_size; ++q) {  // softmax by softmax
            std::vector<at::Tensor> candidates{ragged.documents[q]};
            std::vector<double> scores{ragged.scores[static_cast<std::size_t>(q)]};
            for (std::size_t n = 0; n < ragged.negative_owner.size(); ++n)
                if (ragged.negative_owner[n] == q) {
                    candidates.push_back(ragged.negatives[static_cast<std::int64_t>(n)]);
                    scores.push_back(ragged.negative_scores[n]);
                }
            const at::Tensor own = at::mv(at::stack(candidates), ragged.queries[q]).log_softmax(0),
                             teacher = at::tensor(scores, at::kDouble).log_softmax(0);
            expected += (teacher.exp() * (teacher - own)).sum().item<double>() / batch_size;
        }
        QVERIFY(std::abs(got - expected) < 1e-12 * std::abs(expected));
    }

    void matryoshka_sums_them_over_prefixes() {
        for (const char* method : {"cosent", "triplet", "cosine_similarity", "kl", "gist"}) {
            const Sample sample(2);
            const auto whole = objective(method);
            const double summed =
                (*objective(method, {{"matryoshka_dims", {width, 4}}, {"matryoshka_weights", {1, 0.5}}}))(sample.batch).loss.item<double>();
            const auto loss_of = [&](std::int64_t dim) {  // each prefix of length 1, as sentence-transformers' MatryoshkaLoss makes it
                PairEmbeddings prefix = sample.batch;
                for (at::Tensor* rows : {&prefix.queries, &prefix.documents, &prefix.negatives}) {
                    const at::Tensor part = rows->narrow(1, 0, dim);
                    *rows = part / part.norm(2, 1, true);
                }
                return (*whole)(prefix).loss.item<double>();
            };
            const double expected = loss_of(width) + 0.5 * loss_of(4);
            QVERIFY2(std::abs(summed - expected) < 1e-12 * std::abs(expected), method);
        }
    }

    void data_without_what_an_objective_reads_are_refused_with_what_to_do() {
        EXPECT_ERROR(objective("margin_mse")->check(three_pairs(1, false)), "'three'", "3 of the 3", "faceter data score");
        EXPECT_ERROR(objective("kl")->check(three_pairs(0, true)), "have none", "faceter data mine");
        EXPECT_ERROR(objective("triplet")->check(three_pairs(0, false)), "triplet", "negatives");
        EXPECT_ERROR(objective("cosent")->check(three_pairs(0, false)), "neither scores nor negatives");
        TrainingSet partly = three_pairs(1, true);
        partly.examples[1].score = Example::no_score;
        EXPECT_ERROR(objective("angle")->check(partly), "2 of the 3", "no order");
        objective("kl")->check(three_pairs(2, true));
        objective("cosent")->check(three_pairs(0, true));
        objective("cosent")->check(three_pairs(1, false));
        objective("triplet")->check(three_pairs(1, false));
        objective("gist")->check(three_pairs(0, false));
        EXPECT_ERROR(objective("cosine_similarity")->check(three_pairs(0, false)), "3 of the 3", "faceter data score");
        EXPECT_ERROR(objective("cosine_similarity")->check(three_pairs(0, true)), "1 of the 3", "no cosine reaches", "highest_score");
        objective("cosine_similarity", {{"highest_score", 2}})->check(three_pairs(1, true));
        for (const char* method : {"contrastive", "online_contrastive"}) {
            EXPECT_ERROR(objective(method)->check(three_pairs(0, false)), "neither scores nor negatives");
            EXPECT_ERROR(objective(method)->check(three_pairs(1, true)), "3 of the 3", "0 (they do not)", "cosent");
            objective(method)->check(three_pairs(1, false));
        }
    }
};

FACETER_TEST(TestObjectives)
#include "test_objectives.moc"
