#include <ATen/ATen.h>

#include <cmath>

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
