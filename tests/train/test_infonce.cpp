#include <ATen/ATen.h>
#include <sys/resource.h>

#include <cmath>
#include <limits>

#include "common/error.h"
#include "common/json.h"
#include "support/tensors.h"
#include "support/test.h"
#include "train/objective.h"

using namespace faceter;
using namespace faceter::testing;

/// InfoNCE in float64 against values and gradients of PyTorch (reference fixtures).
class TestInfonce : public QObject {
    Q_OBJECT
    struct Case {
        PairEmbeddings batch;
        LossResult result;
    };
    static SafetensorsFile file() { return SafetensorsFile(shared_folder() / "fixtures/losses/losses.safetensors"); }
    static Json cases() { return read_json(shared_folder() / "fixtures/losses/losses.json").at("cases"); }

    /// Runs a case and checks its loss and the gradients of everything that has one in the file.
    static void check(const std::string& name, InfoNceSettings settings,
                      std::function<void(PairEmbeddings&, const SafetensorsFile&)> prepare = {}) {
        check(name, InfoNce(settings), prepare);
    }
    static void check(const std::string& name, const PairObjective& objective,
                      std::function<void(PairEmbeddings&, const SafetensorsFile&)> prepare = {}) {
        const SafetensorsFile tensors = file();
        const Json about = cases().at(name);
        PairEmbeddings batch;
        batch.queries = read_tensor(tensors, name + ".q").requires_grad_();
        batch.documents = read_tensor(tensors, name + ".d").requires_grad_();
        batch.temperature = about.at("tau").get<double>();
        at::Tensor given;
        if (tensors.find(name + ".negatives")) {
            given = read_tensor(tensors, name + ".negatives").requires_grad_();
            batch.negatives = given.flatten(0, 1);
            for (std::int64_t i = 0; i < given.size(0) * given.size(1); ++i) batch.negative_owner.push_back(i / given.size(1));
        }
        if (prepare) prepare(batch, tensors);
        const LossResult result = objective(batch);
        const double expected = about.at("loss").get<double>();
        QVERIFY2(std::abs(result.loss.item<double>() - expected) < 1e-10 * std::abs(expected), name.c_str());
        result.loss.backward();
        QVERIFY2(relative_difference(batch.queries.grad(), read_tensor(tensors, name + ".grad_q")) < 1e-10, name.c_str());
        QVERIFY2(relative_difference(batch.documents.grad(), read_tensor(tensors, name + ".grad_d")) < 1e-10, name.c_str());
        if (given.defined())
            QVERIFY2(relative_difference(given.grad(), read_tensor(tensors, name + ".grad_negatives")) < 1e-10, name.c_str());
    }

    /// Eleven pairs with every reason to be left out, two hard negatives for each of the first five.
    static PairEmbeddings mixed_pairs() {
        at::manual_seed(11);
        PairEmbeddings batch;
        batch.queries = at::randn({11, 6}, at::kDouble).requires_grad_();
        batch.documents = at::randn({11, 6}, at::kDouble).requires_grad_();
        batch.negatives = at::randn({10, 6}, at::kDouble).requires_grad_();
        batch.temperature = 0.3;
        batch.document_texts = {1, 2, 3, 1, 5, 6, 7, 8, 9, 2, 1};
        batch.labels = {4, 4, no_label, 5, 5, 5, no_label, 6, 4, 6, 4};
        for (std::uint64_t n = 0; n < 10; ++n) {
            batch.negative_owner.push_back(static_cast<std::int64_t>(n / 2));
            batch.negative_texts.push_back(n % 3 == 0 ? n : 100 + n);
            batch.negative_labels.push_back(n % 4 == 0 ? no_label : 4 + n % 3);
        }
        return batch;
    }

    /// A hard negative that counts for another query alone.
    static bool of_another(const PairEmbeddings& b, const InfoNceSettings& s, std::size_t i, std::size_t j) {
        const std::size_t rows = b.document_texts.size();
        return j >= rows && s.hard_negatives == InfoNceSettings::HardNegatives::own &&
               b.negative_owner[j - rows] != static_cast<std::int64_t>(i);
    }

    /// What the mask of row i, column j is, said for one pair.
    static bool left_out(const PairEmbeddings& b, const InfoNceSettings& s, std::size_t i, std::size_t j) {
        const std::size_t rows = b.document_texts.size();
        const bool hard = j >= rows, by_text = s.mask != InfoNceSettings::Mask::none;
        if (i == j) return false;
        bool masked = of_another(b, s, i, j);
        if (by_text) masked |= b.document_texts[i] == (hard ? b.negative_texts[j - rows] : b.document_texts[j]);
        if (s.mask == InfoNceSettings::Mask::same_label && b.labels[i] != no_label)
            masked |= b.labels[i] == (hard ? b.negative_labels[j - rows] : b.labels[j]);
        return masked;
    }

    /// The loss by its equation over the whole matrix of logits, with ATen's own gradients; and how many logits were left out as false
    /// negatives.
    static std::pair<at::Tensor, double> unblocked(const PairEmbeddings& b, const InfoNceSettings& s, std::int64_t dim, bool unit) {
        const auto scaled = [&](const at::Tensor& x) {
            const at::Tensor prefix = x.narrow(1, 0, dim);
            return unit ? prefix / prefix.norm(2, -1, true).clamp_min(1e-12) : prefix;
        };
        const bool hard = s.hard_negatives != InfoNceSettings::HardNegatives::none;
        const at::Tensor documents = hard ? at::cat({b.documents, b.negatives}) : b.documents;
        at::Tensor logits = at::matmul(scaled(b.queries), scaled(documents).t()) / b.temperature;
        const at::Tensor mask = at::zeros(logits.sizes(), at::kBool);
        double false_negatives = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(logits.size(0)); ++i)
            for (std::size_t j = 0; j < static_cast<std::size_t>(logits.size(1)); ++j) {
                const bool out = left_out(b, s, i, j);
                mask[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(j)] = out;
                false_negatives += out && !of_another(b, s, i, j);
            }
        logits = logits.masked_fill(mask, -std::numeric_limits<double>::infinity());
        const at::Tensor keep =
            b.keep.empty() ? at::ones({11}, at::kDouble) : at::tensor(at::ArrayRef<std::int64_t>(b.keep)).to(at::kDouble);
        const auto mean = [&](const at::Tensor& x) { return ((x.logsumexp(1) - x.narrow(1, 0, 11).diagonal()) * keep).sum() / keep.sum(); };
        const at::Tensor one_way = mean(logits);
        return {s.symmetric ? (one_way + mean(logits.narrow(1, 0, 11).t())) / 2 : one_way, false_negatives};
    }

    static std::vector<at::Tensor> gradients_of(const at::Tensor& loss, const PairEmbeddings& batch) {
        for (const at::Tensor* rows : {&batch.queries, &batch.documents, &batch.negatives}) rows->mutable_grad() = at::Tensor();
        loss.backward();
        std::vector<at::Tensor> all;
        for (const at::Tensor* rows : {&batch.queries, &batch.documents, &batch.negatives})
            all.push_back(rows->grad().defined() ? rows->grad().clone() : at::zeros_like(*rows));
        return all;
    }

    static void blocks_equal_the_whole(const PairEmbeddings& batch, InfoNceSettings settings) {
        const auto [expected, masked] = unblocked(batch, settings, 6, settings.cosine);
        const at::Tensor of_both = unblocked(batch, settings, 3, true).first * 2 + unblocked(batch, settings, 6, true).first;
        const auto gradients = gradients_of(expected, batch), both_gradients = gradients_of(of_both, batch);
        for (const std::int64_t rows : {1, 3, 4, 11, 64}) {
            settings.block_rows = rows;
            const LossResult result = InfoNce(settings)(batch);
            QVERIFY(std::abs(result.loss.item<double>() - expected.item<double>()) < 1e-13);
            QCOMPARE(result.parts.at("masked_negatives").item<double>(), masked);
            const auto own = gradients_of(result.loss, batch);
            const Matryoshka prefixes(std::make_unique<InfoNce>(settings), {3, 6}, {2.0, 1.0});
            const auto of_prefixes = gradients_of(prefixes(batch).loss, batch);
            for (std::size_t i = 0; i < own.size(); ++i) {
                QVERIFY((own[i] - gradients[i]).abs().max().item<double>() < 1e-13);
                QVERIFY((of_prefixes[i] - both_gradients[i]).abs().max().item<double>() < 1e-13);
            }
        }
    }

  private Q_SLOTS:
    void temperature_scales_cosines() {
        NEED_SHARED();
        for (const char* name : {"infonce_tau0.02", "infonce_tau0.05", "infonce_tau1.0"}) check(name, {});
    }
    void dot_products_are_taken_as_they_are() {
        NEED_SHARED();
        InfoNceSettings settings;
        settings.cosine = false;
        check("infonce_dot", settings);
    }
    void matryoshka_sums_over_prefixes_each_normalised_anew() {
        NEED_SHARED();
        const Json about = cases().at("matryoshka");
        check("matryoshka", Matryoshka(std::make_unique<InfoNce>(InfoNceSettings{}), about.at("dims").get<std::vector<std::int64_t>>(),
                                       about.at("weights").get<std::vector<double>>()));
    }
    void prefixes_are_of_length_1_under_dot_products_too() {
        InfoNceSettings dot;
        dot.cosine = false;
        const PairEmbeddings batch = mixed_pairs();
        const auto loss = [&](const InfoNceSettings& settings) {
            return Matryoshka(std::make_unique<InfoNce>(settings), {4, 2}, {})(batch).loss.item<double>();
        };
        QCOMPARE(loss(dot), loss({}));
    }
    /// Whatever stands in the data as an answer to a query is no wrong answer to it.
    void positives_of_one_query_are_no_negatives_of_each_other() {
        at::manual_seed(3);
        PairEmbeddings batch;
        batch.queries = at::randn({3, 4});
        batch.queries[2] = batch.queries[0];
        batch.documents = at::randn({3, 4});
        batch.query_texts = {7, 8, 7};
        batch.document_texts = {1, 2, 3};
        const LossResult result = InfoNce({})(batch);
        QCOMPARE(result.parts.at("masked_negatives").item<double>(), 2.0);
        const at::Tensor scores = at::mm(normalize_rows(batch.queries), normalize_rows(batch.documents).t()) / batch.temperature;
        double expected = 0;
        for (std::int64_t i = 0; i < 3; ++i) {
            double total = 0;
            for (std::int64_t j = 0; j < 3; ++j)
                if (i == j || batch.query_texts[static_cast<std::size_t>(i)] != batch.query_texts[static_cast<std::size_t>(j)])
                    total += std::exp(scores[i][j].item<double>() - scores[i][i].item<double>());
            expected += std::log(total) / 3;
        }
        QVERIFY(std::abs(result.loss.item<double>() - expected) < 1e-5 * std::abs(expected));
        InfoNceSettings settings;
        settings.mask = InfoNceSettings::Mask::none;
        QCOMPARE(InfoNce(settings)(batch).parts.at("masked_negatives").item<double>(), 0.0);
    }
    void a_prefix_longer_than_the_embedding_is_refused() {
        PairEmbeddings batch;
        batch.queries = batch.documents = at::randn({3, 8});
        QVERIFY_THROWS_EXCEPTION(Error, Matryoshka(std::make_unique<InfoNce>(InfoNceSettings{}), {8, 16}, {})(batch));
        QVERIFY_THROWS_EXCEPTION(Error, Matryoshka(std::make_unique<InfoNce>(InfoNceSettings{}), {8, 4}, {1.0}));
    }
    void symmetric_is_the_mean_of_both_directions() {
        NEED_SHARED();
        InfoNceSettings settings;
        settings.symmetric = true;
        check("infonce_bidirectional_mean", settings);
    }
    void hard_negatives_count_for_all_queries_or_for_their_own() {
        NEED_SHARED();
        InfoNceSettings settings;
        check("infonce_hard_negatives_all", settings);
        settings.hard_negatives = InfoNceSettings::HardNegatives::own;
        check("infonce_hard_negatives_own", settings);
    }
    void examples_of_one_label_are_no_negatives_of_each_other() {
        NEED_SHARED();
        InfoNceSettings settings;
        settings.mask = InfoNceSettings::Mask::same_label;
        check("infonce_false_negative_mask", settings, [](PairEmbeddings& batch, const SafetensorsFile& tensors) {
            const at::Tensor labels = read_tensor(tensors, "infonce_false_negative_mask.labels");
            for (std::int64_t i = 0; i < labels.size(0); ++i)
                batch.labels.push_back(static_cast<std::uint64_t>(labels[i].item<std::int64_t>()));
        });
    }
    void a_masked_row_gives_no_loss_but_stays_a_negative() {
        NEED_SHARED();
        check("infonce_noise_mask", {}, [](PairEmbeddings& batch, const SafetensorsFile& tensors) {
            const at::Tensor keep = read_tensor(tensors, "infonce_noise_mask.keep");
            batch.keep.assign(keep.data_ptr<std::int64_t>(), keep.data_ptr<std::int64_t>() + keep.numel());
        });
    }
    /// Every option that there is, with blocks that divide the batch and blocks that do not.
    void blocks_of_rows_give_the_whole_loss_and_its_gradients() {
        using Mask = InfoNceSettings::Mask;
        using Hard = InfoNceSettings::HardNegatives;
        PairEmbeddings batch = mixed_pairs();
        for (const bool kept : {false, true}) {
            if (kept) batch.keep = {1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1};
            for (const bool symmetric : {false, true})
                for (const bool cosine : {false, true})
                    for (const Mask mask : {Mask::none, Mask::same_text, Mask::same_label})
                        for (const Hard hard : {Hard::none, Hard::own, Hard::all}) {
                            InfoNceSettings settings;
                            settings.symmetric = symmetric, settings.cosine = cosine, settings.mask = mask, settings.hard_negatives = hard;
                            blocks_equal_the_whole(batch, settings);
                        }
        }
    }
    /// A column can be left out by every row of the first block.
    void one_label_for_all_leaves_the_positives_alone() {
        PairEmbeddings batch = mixed_pairs();
        batch.labels.assign(11, 4);
        InfoNceSettings settings;
        settings.mask = InfoNceSettings::Mask::same_label, settings.symmetric = true, settings.block_rows = 2;
        settings.hard_negatives = InfoNceSettings::HardNegatives::none;
        const LossResult result = InfoNce(settings)(batch);
        QCOMPARE(result.loss.item<double>(), 0.0);
        for (const at::Tensor& gradient : gradients_of(result.loss, batch)) QCOMPARE(gradient.abs().max().item<double>(), 0.0);
    }
    /// The whole matrix of logits would be 1 GiB, its mask and gradient more.
    void sixteen_thousand_pairs_take_little_memory() {
        at::manual_seed(12);
        PairEmbeddings batch;
        batch.queries = at::randn({16384, 4}).requires_grad_();
        batch.documents = at::randn({16384, 4}).requires_grad_();
        batch.document_texts.resize(16384);
        for (std::size_t i = 0; i < batch.document_texts.size(); ++i) batch.document_texts[i] = i / 2;
        const auto peak_mib = [] {
            rusage usage{};
            ::getrusage(RUSAGE_SELF, &usage);
            return usage.ru_maxrss / 1024;
        };
        const long before = peak_mib();
        const LossResult result = InfoNce({})(batch);
        result.loss.backward();
        QCOMPARE(result.parts.at("masked_negatives").item<double>(), 16384.0);
        QVERIFY2(peak_mib() - before < 300, std::to_string(peak_mib() - before).c_str());
    }
    void the_same_text_twice_is_masked_and_counted() {
        at::manual_seed(1);
        PairEmbeddings batch;
        batch.queries = at::randn({3, 8}, at::kDouble);
        batch.documents = at::randn({3, 8}, at::kDouble);
        batch.documents[2] = batch.documents[0];
        batch.document_texts = {7, 8, 7};
        QCOMPARE(InfoNce({})(batch).parts.at("masked_negatives").item<double>(), 2.0);
        InfoNceSettings none;
        none.mask = InfoNceSettings::Mask::none;
        QVERIFY(InfoNce(none)(batch).loss.item<double>() > InfoNce({})(batch).loss.item<double>());
    }
};

FACETER_TEST(TestInfonce)
#include "test_infonce.moc"
