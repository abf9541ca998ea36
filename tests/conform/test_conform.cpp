#include <QTemporaryDir>

#include "checkpoint/safetensors.h"
#include "checkpoint/weights.h"
#include "conform/capabilities.h"
#include "conform/moved_weights.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::conform;
using namespace faceter::testing;

class TestConform : public QObject {
    Q_OBJECT

    static CellResult cell(const std::string& start, const std::string& column) {
        CellResult result;
        result.start = start;
        result.column = column;
        return result;
    }

  private Q_SLOTS:
    void a_variant_is_tried_with_its_defaults_and_with_every_other_choice() {
        Catalogue catalogue;
        catalogue.add(ExtensionKind::variant,
                      {"mixture",
                       "Mixture.",
                       {"mixture",
                        "",
                        {choice("placement", {"every", "every_other", "last"}, "every", "Which."), boolean("shared", true, "Whether."),
                         integer("experts", 4, "How many.")}}},
                      "demo");
        const auto columns = columns_of(catalogue, {});
        QCOMPARE(columns.size(), std::size_t{4});
        QVERIFY(columns[0].settings.empty());
        QCOMPARE(columns[2].name, std::string("mixture placement: last"));
        QCOMPARE(columns[3].settings.dump(), std::string(R"({"shared":false})"));
        EXPECT_ERROR(columns_of(catalogue, {"mixtures"}), "no variant or objective 'mixtures'", "mixture");
    }

    void an_objective_trains_the_first_variant_and_is_taught_by_the_start_model() {
        Catalogue catalogue;
        catalogue.add(ExtensionKind::variant, {"plain", "Plain.", {"plain", "", {}}}, "core");
        catalogue.add(ExtensionKind::objective,
                      {"margin", "Hinge.", {"margin", "", {text("teacher", "", "Who."), boolean("hard", true, "Whether.")}}}, "demo");
        const auto columns = columns_of(catalogue, {"margin"});
        QCOMPARE(columns.size(), std::size_t{2});
        QCOMPARE(columns[1].method, std::string("plain"));
        QCOMPARE(columns[1].name, std::string("margin hard: false"));
        QCOMPARE(columns[1].objective.dump(), std::string(R"({"method":"margin","teacher":"","hard":false})"));
        QCOMPARE(columns_of(catalogue, {}).size(), std::size_t{1});
    }

    void a_law_is_tried_with_those_that_it_needs() {
        QCOMPARE(with_needed({"peers"}), (std::set<std::string>{"embed", "export", "peers"}));
        QCOMPARE(with_needed({"company", "rerun"}), (std::set<std::string>{"company", "embed", "rerun"}));
        QVERIFY(with_needed({}).empty());  // all
    }

    void a_difference_is_relative_to_the_vector_and_never_small_where_a_number_is_missing() {
        const Embeddings a = Embeddings::of_json({{3.0, 4.0}, {0.0, 0.0}}), b = Embeddings::of_json({{3.0, 4.5}, {0.0, 0.0}});
        QCOMPARE(difference(a, a), 0.0);
        QCOMPARE(difference(a, b), 0.1);
        QVERIFY(std::isinf(difference(a, Embeddings::of_json({{3.0, 4.0}}))));
        QVERIFY(std::isinf(difference(a, Embeddings::of_json({{3.0, nullptr}, {0.0, 0.0}}))));
    }

    void weights_are_moved_by_as_much_as_a_rounding_moves_them_and_the_same_way_every_time() {
        const QTemporaryDir folder;
        const fs::path root = folder.path().toStdString(), model = root / "model";
        const std::vector<float> values = {1, -3, 0.125F, 100};
        make_directories(model);
        SafetensorsWriter writer;
        writer.add("w", DType::f32, {4}, values.data());
        writer.write(model / "model.safetensors");
        const auto moved = [&](const char* name, Rounding rounding) {
            copy_moved(model, root / name, rounding);
            const SafetensorsFile file(root / name / "model.safetensors");
            std::vector<float> read(values.size());
            file.read(file.tensors().front(), read.data());
            return read;
        };
        const auto once = moved("once", Rounding::float32), half = moved("half", Rounding::bf16);
        QCOMPARE(moved("twice", Rounding::float32), once);
        for (std::size_t i = 0; i < values.size(); ++i) {
            QVERIFY(once[i] == std::nextafter(values[i], 1e30F) || once[i] == std::nextafter(values[i], -1e30F));
            QCOMPARE(std::abs(half[i] - values[i]), std::abs(values[i]) / 512);
        }
    }

    void weights_that_are_stored_in_half_precision_are_moved_too() {
        const QTemporaryDir folder;
        const fs::path root = folder.path().toStdString(), model = root / "model";
        make_directories(model);
        const std::vector<std::uint16_t> stored = {0x3F80, 0xC040, 0x3E00};  // 1, -3 and 0.125
        SafetensorsWriter writer;
        writer.add("w", DType::bf16, {3}, stored.data());
        writer.write(model / "model.safetensors");
        const auto moved = [&](const std::string& name, Rounding rounding, std::uint64_t draw) {
            copy_moved(model, root / name, rounding, draw);
            const Weights weights(std::vector<fs::path>{root / name / "model.safetensors"});
            std::vector<float> read(stored.size());
            weights.read_float("w", read);
            return read;
        };
        const std::vector<float> values = {1, -3, 0.125F};
        const auto half = moved("half", Rounding::bf16, 1), once = moved("once", Rounding::float32, 1);
        for (std::size_t i = 0; i < values.size(); ++i) {
            QCOMPARE(std::abs(half[i] - values[i]), std::abs(values[i]) / 512);
            QVERIFY(once[i] == std::nextafter(values[i], 1e30F) || once[i] == std::nextafter(values[i], -1e30F));
        }
        bool differ = false;
        for (std::uint64_t draw = 2; draw < 6; ++draw) differ = differ || moved(std::to_string(draw), Rounding::bf16, draw) != half;
        QVERIFY(differ);
    }

    void a_step_may_part_as_far_as_roundings_led_up_to_it() {
        const std::vector<std::vector<double>> noise = {{1e-4, 2e-2, 1e-3}, {3e-4, 1e-2, 5e-3}};
        const std::vector<double> bounds = loss_bounds(1e-3, 4, noise);
        QCOMPARE(bounds, (std::vector<double>{4 * 3e-4, 4 * 2e-2, 4 * 2e-2}));
        QCOMPARE(loss_bounds(0.5, 4, noise), (std::vector<double>{0.5, 0.5, 0.5}));
    }

    void a_result_comes_back_from_its_line() {
        CellResult result = cell("bert", "mote placement: every");
        result.held = {"check", "train"};
        result.limits = {{"export", "no form outside"}};
        result.wrong = {{"embed", "not finite", "faceter embed"}};
        result.apart = {{"company", 1e-7}};
        QCOMPARE(CellResult::from_json(result.to_json()).to_json().dump(), result.to_json().dump());
    }

    void the_table_counts_by_method_and_says_why_something_is_refused() {
        CellResult refused = cell("routed", "mote"), wrong = cell("bert", "mote norms: shared");
        refused.refused = "faceter: /tmp/x/cell.yaml: needs a dense start, and /tmp/x/models/routed has routed blocks\nmore";
        wrong.wrong = {{"embed", "not finite", ""}};
        CellResult compared = cell("bert", "dense"), limited = cell("routed", "dense");
        compared.apart = {{"company", 2e-7}, {"export", 0}};
        limited.apart = {{"company", 3e-7}};
        limited.limits = {{"peers", "they refuse it"}};
        const std::string table = capabilities({cell("bert", "mote"), wrong, compared, refused, limited});
        QVERIFY2(table.find("| start model | mote | dense |") != std::string::npos, table.c_str());
        QVERIFY2(table.find("| bert | 1, 1 wrong | yes |") != std::string::npos, table.c_str());
        QVERIFY2(table.find("| routed | refused | yes |") != std::string::npos, table.c_str());
        QVERIFY2(table.find("- mote (routed): refused: needs a dense start, and routed has routed blocks\n") != std::string::npos,
                 table.c_str());
        QVERIFY2(table.find("- dense (routed): peers: they refuse it\n") != std::string::npos, table.c_str());
        QVERIFY2(table.find("length: company 3.0e-07, export 0.0e+00.\n") != std::string::npos, table.c_str());
        QCOMPARE(totals_of({cell("bert", "mote"), wrong, refused}).wrong, std::size_t{1});
    }
};

FACETER_TEST(TestConform)
#include "test_conform.moc"
