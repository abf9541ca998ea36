#include "checkpoint/encoder_config.h"

#include "checkpoint/parameter_count.h"
#include "support/sample_model.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const Weights no_weights(std::vector<std::filesystem::path>{});

Json decoder(const char* type) {
    return {{"model_type", type},       {"num_hidden_layers", 4},  {"hidden_size", 24}, {"num_attention_heads", 6},
            {"num_key_value_heads", 2}, {"intermediate_size", 40}, {"vocab_size", 100}};
}

EncoderConfig read(const Json& json) { return EncoderConfig::from_json(json, "config.json", no_weights); }

EncoderConfig read(Json json, const Json& more) {
    json.update(more);
    return read(json);
}

bool sees(const Reach& reach, std::int64_t before, std::int64_t after) { return reach.before == before && reach.after == after; }

}  // namespace

/// What configurations of the families mean where a fixture has one case of several.
class TestEncoderConfig : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_window_counts_the_token_itself_where_a_decoder_reads_forwards() {
        const EncoderConfig forwards = read(decoder("mistral"), {{"sliding_window", 5}}),
                            both = read(decoder("mistral"), {{"sliding_window", 5}, {"is_causal", false}}),
                            none = read(decoder("mistral"), {{"sliding_window", nullptr}});
        QVERIFY(sees(forwards.reach_of(0), 4, 0) && sees(both.reach_of(3), 5, 5) && sees(none.reach_of(0), Reach::everything, 0));
        QVERIFY(!read(decoder("eurobert")).reach_of(0).is_limited());
    }

    void the_windows_of_qwen_are_off_until_they_are_asked_for() {
        const Json window = {{"sliding_window", 5}, {"max_window_layers", 2}};
        Json used = window;
        used["use_sliding_window"] = true;
        const EncoderConfig off = read(decoder("qwen3"), window), on = read(decoder("qwen3"), used);
        QVERIFY(sees(off.reach_of(3), Reach::everything, 0));
        QVERIFY(sees(on.reach_of(1), Reach::everything, 0) && sees(on.reach_of(2), 4, 0));
        used["layer_types"] = {"sliding_attention", "full_attention", "full_attention", "full_attention"};
        QVERIFY(read(decoder("qwen3"), used).is_local(0) && !read(decoder("qwen3"), used).is_local(3));
        used["layer_types"] = {"sliding_attention"};
        EXPECT_ERROR(read(decoder("qwen3"), used), "config.json", "layer_types names 1 blocks, num_hidden_layers 4");
        used["layer_types"] = {"full_attention", "full_attention", "full_attention", "linear_attention"};
        EXPECT_ERROR(read(decoder("qwen3"), used), "linear_attention", "sliding_attention");
    }

    void gemma_halves_its_window_in_both_directions_and_has_two_rotary_bases() {
        const EncoderConfig forwards = read(decoder("gemma3_text"), {{"sliding_window", 9}, {"sliding_window_pattern", 2}}),
                            both = read(decoder("gemma3_text"), {{"sliding_window", 9}, {"use_bidirectional_attention", true}});
        QVERIFY(sees(forwards.reach_of(0), 8, 0) && sees(forwards.reach_of(1), Reach::everything, 0));
        QVERIFY(sees(both.reach_of(0), 4, 4));
        QVERIFY(both.rotary.base == 1'000'000 && both.local_rotary.base == 10'000);
        const EncoderConfig scaled =
            read(decoder("gemma3_text"), {{"rope_scaling", {{"rope_type", "linear"}, {"factor", 8}}}, {"rope_local_base_freq", 500}});
        QVERIFY(scaled.rotary.stretch == 8 && scaled.local_rotary.stretch == 1 && scaled.local_rotary.base == 500);
    }

    void a_window_that_transformers_has_halved_is_remarked_on() {
        Json release = decoder("gemma3_text");
        release.update({{"num_hidden_layers", 24}, {"hidden_size", 768}, {"num_attention_heads", 3}, {"num_key_value_heads", 1}});
        release.update({{"sliding_window", 512}, {"use_bidirectional_attention", true}});
        QVERIFY(read(release).remarks.empty());
        const auto remarks = read(release, {{"sliding_window", 257}}).remarks;
        QCOMPARE(remarks.size(), std::size_t{1});
        QVERIFY(remarks[0].find("sliding_window is 257, EmbeddingGemma's release has 512") != std::string::npos);
    }

    void heads_and_scalings_that_do_not_fit_are_refused() {
        EXPECT_ERROR(read(decoder("qwen3"), {{"num_key_value_heads", 4}}), "6 heads of queries", "4 heads of keys");
        EXPECT_ERROR(read(decoder("eurobert"), {{"num_attention_heads", 5}, {"num_key_value_heads", 5}}), "hidden_size 24");
        EXPECT_ERROR(read(decoder("llama"), {{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 4}}}}), "yarn", "linear");
        EXPECT_ERROR(read(decoder("llama"), {{"rope_scaling", {{"rope_type", "linear"}, {"factor", 0}}}}), "factor 0");
        EXPECT_ERROR(read(decoder("llama"), {{"rope_scaling", 3}}), "rope_scaling", "no object");
        EXPECT_ERROR(read(decoder("llama"), {{"rope_parameters", {1, 2}}}), "rope_parameters", "no object");
        EXPECT_ERROR(read(decoder("gemma3_text"), {{"attn_logit_softcapping", 50}}), "attn_logit_softcapping", "null");
        EXPECT_ERROR(read(decoder("gemma3_text"), {{"query_pre_attn_scalar", 0}}), "query_pre_attn_scalar");
    }

    void a_release_with_code_of_its_own_is_rewritten_in_the_layout_of_transformers() {
        const Json gte = native_config({{"model_type", "new"},
                                        {"hidden_size", 32},
                                        {"num_attention_heads", 4},
                                        {"rope_theta", 20000},
                                        {"pack_qkv", true},
                                        {"rope_scaling", {{"type", "ntk"}, {"factor", 8}}}},
                                       "config.json");
        QCOMPARE(gte.at("model_type").get<std::string>(), std::string("gte"));
        QVERIFY(!gte.contains("pack_qkv") && !gte.contains("rope_scaling"));
        const Json& rotary = gte.at("rope_parameters");
        QCOMPARE(rotary.at("rope_theta").get<double>(), 160000.0);
        QCOMPARE(rotary.at("factor").get<double>(), 1.681792830507429);  // 8^(2 / 8), as transformers writes it
        EXPECT_ERROR(native_config({{"model_type", "new"}, {"rope_scaling", {{"type", "ntk"}, {"factor", 8}, {"mixed_b", 1}}}}, "c"),
                     "ntk");
        const Json xlmr = {{"model_type", "xlm-roberta"}, {"position_embedding_type", "absolute"}};
        QVERIFY(native_config(xlmr, "c") == xlmr);
        QCOMPARE(
            native_config({{"model_type", "xlm-roberta"}, {"position_embedding_type", "rotary"}}, "c").at("model_type").get<std::string>(),
            std::string("jina_embeddings_v3"));
    }

    void a_family_that_is_not_known_is_told_with_the_nearest_one() {
        EXPECT_ERROR(read({{"model_type", "qwen-3"}}), "config.json", "model_type 'qwen-3' is not supported", "did you mean 'qwen3'?",
                     "gte");
        TemporaryDirectory folder;
        write_sample_model(folder.path() / "model");
        QVERIFY(check_model(ModelFolder::open(folder.path() / "model")).empty());
        write_file_atomic(folder.path() / "model/config.json", R"({"model_type": "eurobart"})");
        EXPECT_ERROR(check_model(ModelFolder::open(folder.path() / "model")), "model/config.json", "did you mean 'eurobert'?");
    }
};

FACETER_TEST(TestEncoderConfig)
#include "test_encoder_config.moc"
