#include "checkpoint/parameter_count.h"

#include "common/file.h"
#include "support/sample_model.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const Weights no_weights(std::vector<std::filesystem::path>{});

Json bert() {
    return {{"model_type", "bert"},          {"num_hidden_layers", 2},  {"hidden_size", 12},
            {"num_attention_heads", 3},      {"intermediate_size", 20}, {"vocab_size", 50},
            {"max_position_embeddings", 64}, {"type_vocab_size", 2}};
}

EncoderConfig read(const Json& json) { return EncoderConfig::from_json(json, "config.json", no_weights); }

/// A file of one tensor with so many values.
Weights weights_of(const fs::path& folder, std::int64_t values) {
    const std::vector<float> data(static_cast<std::size_t>(values));
    SafetensorsWriter writer;
    writer.add("w", DType::f32, {values}, data.data());
    writer.write(folder / "model.safetensors");
    return Weights(std::vector<fs::path>{folder / "model.safetensors"});
}

}  // namespace

class TestParameterCount : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void matrices_and_tables_are_counted() {
        const double tables = 12 * (50 + 64 + 2), block = 4 * 12 * 12 + 2 * 12 * 20;
        QCOMPARE(parameters_at_least(read(bert())), tables + 2 * block);
    }
    void sizes_whose_products_overflow_are_refused() {
        Json positions = bert(), types = bert();
        positions["max_position_embeddings"] = types["type_vocab_size"] = positions["hidden_size"] = types["hidden_size"] = 1 << 24;
        positions["num_attention_heads"] = types["num_attention_heads"] = 1;
        EXPECT_ERROR(read(positions), "config.json", "more than 68719476736 parameters");
        EXPECT_ERROR(read(types), "config.json", "more than 68719476736 parameters");
        EXPECT_ERROR(read({{"model_type", "t5"},
                           {"num_layers", 2},
                           {"d_model", 8},
                           {"num_heads", 1 << 24},
                           {"d_kv", 1},
                           {"d_ff", 8},
                           {"vocab_size", 9},
                           {"relative_attention_num_buckets", 1 << 24},
                           {"relative_attention_max_distance", 1 << 24}}),
                     "parameters");
    }
    void a_model_larger_than_its_file_is_refused_before_it_is_made() {
        TemporaryDirectory folder;
        const EncoderConfig config = read(bert());
        const auto needed = static_cast<std::int64_t>(parameters_at_least(config));
        require_held_by(config, {}, weights_of(folder.path(), needed), "config.json");
        EXPECT_ERROR(require_held_by(config, {}, weights_of(folder.path(), needed - 1), "config.json"), std::string("config.json"),
                     std::to_string(needed), std::to_string(needed - 1), std::string("model.safetensors"));
        DenseModule huge;
        huge.name = "2_Dense";
        huge.in_features = huge.out_features = 1 << 20;
        EXPECT_ERROR(require_held_by(config, {huge}, weights_of(folder.path(), needed), "config.json"), "parameters or more");
    }
    /// As sentence-transformers warns.
    void a_model_of_the_hub_that_is_called_as_instructors_are_is_told_what_these_need() {
        const TemporaryDirectory hub;
        const auto remarks = [&](const char* name) {
            const fs::path snapshot = hub.path() / name / "snapshots/00ff";
            write_sample_model(snapshot);
            return check_model(ModelFolder::open(snapshot));
        };
        QVERIFY(remarks("models--org--own").empty() && remarks("models--instructor--own").empty());
        const std::vector<std::string> told = remarks("models--org--My-Instructor");
        QVERIFY(told.size() == 1 && told[0].find("'org/My-Instructor'") != std::string::npos);
        QVERIFY(told[0].find("set include_prompt to false") != std::string::npos);
    }
};

FACETER_TEST(TestParameterCount)
#include "test_parameter_count.moc"
