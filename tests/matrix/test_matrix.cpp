#include <set>

#include "checkpoint/encoder_config.h"
#include "common/error.h"
#include "common/strings.h"
#include "experiment/catalogue.h"
#include "matrix/harness/checkpoints.h"
#include "matrix/harness/matrix.h"
#include "model/encoder.h"
#include "support/checkout.h"
#include "support/test.h"
#include "text/tokenizer.h"

using namespace faceter;
using namespace faceter::matrix;

class TestMatrix : public QObject {
    Q_OBJECT

    /// The families that core/checkpoint knows, as its own message lists them.
    static std::string known_families() {
        try {
            EncoderConfig::from_json({{"model_type", "none of them"}}, "config.json", Weights(std::vector<fs::path>{}));
        } catch (const Error& error) {
            const std::string message = error.what();
            const std::size_t start = message.find("known: ") + 7;
            return message.substr(start, message.find(')', start) - start);
        }
        return "";
    }

    static CellResult cell(const std::string& row, const std::string& column) {
        CellResult result;
        result.start = row;
        result.column = column;
        return result;
    }

  private Q_SLOTS:
    void every_family_that_core_knows_has_a_start_model_here() {
        std::set<std::string> made;
        for (const Row& row : made_rows()) made.insert(row.config.at("model_type").get<std::string>());
        const std::string known = known_families();
        QVERIFY(!known.empty());
        for (const std::string_view family : split(known, ','))
            QVERIFY2(made.contains(std::string(trim(family))), (std::string(trim(family)) + " has no line in rows.cpp").c_str());
    }

    void every_variant_that_a_plugin_offers_has_a_column() {
        std::set<std::string> tried;
        for (const Column& column : columns()) tried.insert(column.method);
        for (const std::string& name : Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}).names(ExtensionKind::variant))
            QVERIFY2(tried.contains(name), (name + " has no line in columns.cpp").c_str());
    }

    void every_objective_that_a_plugin_offers_has_a_column() {
        std::set<std::string> tried;
        for (const Column& column : columns())
            if (!column.objective.empty()) tried.insert(column.objective.at("method").get<std::string>());
        const Catalogue catalogue = Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"});
        for (const std::string& name : catalogue.names(ExtensionKind::objective))
            QVERIFY2(tried.contains(name) || catalogue.find(ExtensionKind::objective, name)->plugin == "core",
                     (name + " has no line in columns.cpp").c_str());
    }

    void a_made_checkpoint_is_whole_and_the_same_each_time() {
        const TemporaryDirectory folder;
        for (const Row& row : made_rows()) {
            const fs::path first = start_model(row, folder.path() / "a"), second = start_model(row, folder.path() / "b");
            QCOMPARE(read_file(first / "model.safetensors"), read_file(second / "model.safetensors"));
            const ModelFolder model = ModelFolder::open(first);
            const Weights weights = model.weights();
            Encoder encoder(EncoderConfig::from_json(model.config, row.name, weights), model.dense, at::kFloat);
            encoder.load_weights(weights);
            QCOMPARE(model.normalize, row.normalize);
            QVERIFY(model.pooling == row.pooling);
        }
    }

    void a_made_tokenizer_knows_most_words_and_cuts_some() {
        const TemporaryDirectory folder;
        for (const Row& row : made_rows()) {
            const auto tokenizer = load_tokenizer(start_model(row, folder.path()));
            std::size_t whole = 0, cut = 0;
            for (const std::string& word : conform::words()) {
                std::vector<std::int32_t> none, one;
                tokenizer->encode("", 0, none);
                tokenizer->encode(word, 0, one);
                ++(one.size() - none.size() == 1 ? whole : cut);
            }
            // Qwen's pieces begin without the blank, and meet in the middle of other words.
            const std::size_t least = row.cutting == Cutting::byte_pairs_qwen ? 20 : 50;
            QVERIFY2(whole > least && cut > 10,
                     (row.name + ": " + std::to_string(whole) + " whole, " + std::to_string(cut) + " cut").c_str());
        }
    }

    void the_cover_has_every_column_with_every_trait_and_law_and_every_row() {
        const auto rows = made_rows();
        const auto all = columns();
        std::set<std::pair<std::string, std::string>> wanted, got;
        for (const CellName& name : all_cells(rows, all)) {
            for (const std::string& trait : traits(*name.row)) wanted.emplace(trait, name.column->name);
            for (const std::string& law : conform::all_laws) wanted.emplace(law, name.column->name);
        }
        std::set<std::string> used;
        const auto cover = pairwise_cover(rows, all);
        for (const CellName& name : cover) {
            used.insert(name.row->name);
            for (const std::string& trait : traits(*name.row)) got.emplace(trait, name.column->name);
            for (const std::string& law : name.laws) got.emplace(law, name.column->name);
        }
        QVERIFY(got == wanted);
        QCOMPARE(used.size(), rows.size());
        QVERIFY(cover.size() * 2 < rows.size() * all.size());
    }

    void shards_are_the_whole() {
        const auto rows = made_rows();
        const auto all = columns();
        std::multiset<std::string> whole, parts;
        for (const CellName& name : all_cells(rows, all)) whole.insert(name.text());
        for (std::size_t i = 0; i < 5; ++i)
            for (const CellName& name : shard_of(all_cells(rows, all), i, 5)) parts.insert(name.text());
        QVERIFY(parts == whole);
    }

    void a_known_defect_counts_while_it_stands_and_fails_when_it_holds() {
        const std::vector<KnownDefect> known = {{"bert*", "TLR *", "embed", "not built"}};
        CellResult broken = cell("bert cls", "TLR top 1"), mended = cell("bert", "TLR top 2"), other = cell("t5", "TLR top 1");
        broken.wrong = {{"embed", "no such tensor", "faceter embed"}};
        mended.held = {"embed"};
        other.wrong = {{"embed", "no such tensor", "faceter embed"}};
        QCOMPARE(summary({broken}, known), std::string("1 cells: 0 hold, 0 refused, 1 wrong (known), 0 wrong"));
        QCOMPARE(judge(mended, known).gone.size(), std::size_t{1});
        CellResult refused = cell("bert", "TLR top 1");
        refused.refused = "no such family";
        QVERIFY(judge(refused, known).gone.empty());
        QCOMPARE(summary({broken, mended, other}, known), std::string("3 cells: 0 hold, 0 refused, 1 wrong (known), 2 wrong"));
    }

    void a_column_that_every_start_model_refuses_is_tried_by_none() {
        CellResult refused = cell("bert", "objective gist"), too = cell("t5", "objective gist"), alone = cell("t5", "TLR top 1");
        for (CellResult* each : {&refused, &too, &alone}) each->refused = "no stage trains it";
        QCOMPARE(never_tried({refused, too, alone}), std::vector<std::string>{"objective gist"});
        QVERIFY(never_tried({refused, cell("t5", "objective gist"), alone}).empty());
    }
};

FACETER_TEST(TestMatrix)
#include "test_matrix.moc"
