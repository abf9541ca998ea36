#include "checkpoint/encoder_config.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <QProcess>

#include "checkpoint/parameter_count.h"
#include "checkpoint/relative_position.h"
#include "common/file.h"
#include "support/checkout.h"
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

Json scalings() {
    return {{{"rope_type", "linear"}, {"factor", 3.5}},
            {{"rope_type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 1024}},
            {{"rope_type", "yarn"}, {"factor", 2}, {"original_max_position_embeddings", 2048}, {"beta_fast", 16}, {"beta_slow", 2}},
            {{"rope_type", "yarn"}, {"factor", 8}, {"original_max_position_embeddings", 512}, {"truncate", false}, {"mscale", 0.8}},
            {{"rope_type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 1024}, {"mscale", 1}, {"mscale_all_dim", 0.7}},
            {{"rope_type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 1024}, {"attention_factor", 0.9}},
            {{"rope_type", "llama3"},
             {"factor", 32},
             {"low_freq_factor", 1},
             {"high_freq_factor", 4},
             {"original_max_position_embeddings", 8192}},
            {{"rope_type", "llama3"},
             {"factor", 8},
             {"low_freq_factor", 0.5},
             {"high_freq_factor", 6},
             {"original_max_position_embeddings", 256}}};
}

bool sees(const Reach& reach, std::int64_t before, std::int64_t after) { return reach.before == before && reach.after == after; }

}  // namespace

/// What configurations of the families mean where a fixture has one case of several.
class TestEncoderConfig : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void mpnet_counts_positions_from_two_whatever_its_padding_is() {
        const Json mpnet = {{"model_type", "mpnet"},        {"num_hidden_layers", 1}, {"hidden_size", 24},
                            {"num_attention_heads", 2},     {"vocab_size", 100},      {"intermediate_size", 40},
                            {"max_position_embeddings", 19}};
        for (const int pad : {0, 1, 5}) {
            const EncoderConfig c = read(mpnet, {{"pad_token_id", pad}});
            QCOMPARE(c.first_position, std::int64_t{2});
            QCOMPARE(c.length_limit, std::int64_t{17});
        }
    }
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
        for (const char* type : {"qwen2", "qwen3"}) {
            EXPECT_ERROR(read(decoder(type), {{"layer_types", used["layer_types"]}, {"sliding_window", 5}}), "config.json",
                         "layer_types names sliding_attention, and there is no window for it");
            EXPECT_ERROR(
                read(decoder(type), {{"layer_types", used["layer_types"]}, {"use_sliding_window", true}, {"sliding_window", nullptr}}),
                "no window for it");
        }
        used["layer_types"] = {"sliding_attention"};
        EXPECT_ERROR(read(decoder("qwen3"), used), "config.json", "layer_types names 1 blocks, num_hidden_layers 4");
        used["layer_types"] = {"full_attention", "full_attention", "full_attention", "linear_attention"};
        EXPECT_ERROR(read(decoder("qwen3"), used), "linear_attention", "sliding_attention");
    }

    /// transformers 5.23, models/mistral/configuration_mistral.py and models/qwen3/configuration_qwen3.py.
    void a_window_that_the_configuration_does_not_name_is_that_of_transformers() {
        QVERIFY(sees(read(decoder("mistral")).reach_of(3), 4095, 0));
        QVERIFY(sees(read(decoder("mistral"), {{"is_causal", false}}).reach_of(0), 4096, 4096));
        for (const char* type : {"qwen2", "qwen3"}) {
            const Json used = {{"use_sliding_window", true}, {"max_window_layers", 2}};
            QVERIFY(!read(decoder(type)).is_local(3));
            QVERIFY(!read(decoder(type), used).is_local(1) && sees(read(decoder(type), used).reach_of(2), 4095, 0));
            const Json none = {{"use_sliding_window", true}, {"max_window_layers", 2}, {"sliding_window", nullptr}};
            QVERIFY(!read(decoder(type), none).is_local(2));
        }
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

    void distances_of_deberta_fall_into_the_buckets_of_the_released_code() {
        NEED_SHARED();
        const SafetensorsFile expected(shared_folder() / "fixtures/deberta_v2/expected.safetensors");
        const auto numbers = [&](const std::string& name) {
            const TensorInfo& info = *expected.find(name);
            std::vector<std::int64_t> values(static_cast<std::size_t>(info.numel()));
            expected.read(info, values.data());
            return values;
        };
        const auto compare = [&](const std::string& prefix, std::int64_t buckets, std::int64_t longest) {
            const Disentangled table{buckets, true, true, buckets, longest};
            const auto distances = numbers(prefix + "relative_position"), wanted = numbers(prefix + "relative_bucket");
            for (std::size_t i = 0; i < distances.size(); ++i)
                QCOMPARE(table.row(distances[i]), std::clamp<std::int64_t>(wanted[i] + buckets, 0, 2 * buckets - 1));
        };
        compare("", 8, 64);
        compare("released.", 256, 512);
        const Disentangled plain{6, true, true, 0, 6};
        QVERIFY(plain.row(-9) == 0 && plain.row(-2) == 4 && plain.row(5) == 11 && plain.row(9) == 11);
    }

    void deberta_is_read_with_the_terms_that_it_has() {
        Json json = decoder("deberta-v2");
        json.update({{"relative_attention", true}, {"share_att_key", true}, {"position_biased_input", false}});
        const EncoderConfig both = read(json, {{"pos_att_type", "p2c|c2p"}, {"position_buckets", 8}, {"norm_rel_ebd", "layer_norm"}});
        QVERIFY(both.disentangled == (Disentangled{8, true, true, 8, 512}));
        QVERIFY(std::abs(both.attention_scale - 1 / std::sqrt(12.0)) < 1e-12 && both.max_positions == 0);
        const EncoderConfig one = read(json, {{"pos_att_type", {"c2p"}}, {"max_relative_positions", 10}});
        QVERIFY(one.disentangled == (Disentangled{10, true, false, 0, 10}) && one.names.relative_norm.empty());
        EXPECT_ERROR(read(json), "pos_att_type", "c2p, p2c or both");
        EXPECT_ERROR(read(json, {{"pos_att_type", "c2p"}, {"share_att_key", false}}), "share_att_key false", "true");
        EXPECT_ERROR(read(json, {{"pos_att_type", "c2p"}, {"conv_kernel_size", 3}}), "conv_kernel_size 3", "0");
        EXPECT_ERROR(read(json, {{"pos_att_type", "c2p"}, {"position_buckets", 2}}), "2 position_buckets", "at least 4");
        EXPECT_ERROR(read(json, {{"pos_att_type", "c2p"}, {"embedding_size", 12}}), "embedding_size 12", "hidden_size");
    }

    /// Numbers of transformers 5.23 (ROPE_INIT_FUNCTIONS).
    void yarn_and_llama_3_slow_pairs_down_as_transformers_does() {
        const auto scaled = [](const Json& scaling) {
            return read(decoder("llama"),
                        {{"head_dim", 10}, {"rope_theta", 1000}, {"max_position_embeddings", 400}, {"rope_scaling", scaling}})
                .rotary;
        };
        const auto equals = [](const Rotary& rotary, const std::vector<float>& wanted, double amplitude) {
            for (std::size_t i = 0; i < wanted.size(); ++i)
                if (std::abs(rotary.frequencies.at(i) - wanted[i]) > 3e-7f * wanted[i]) return false;
            return std::abs(rotary.amplitude - amplitude) < 1e-6;
        };
        QVERIFY(equals(scaled({{"rope_type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 100}}),
                       {1.0f, 0.188391477f, 0.0315478668f, 0.00396223227f, 0.000995267881f}, 1.138629436111989));
        QVERIFY(equals(scaled({{"type", "yarn"}, {"factor", 4}}), {1.0f, 0.204090774f, 0.0394348353f, 0.00693390658f, 0.000995267881f},
                       1.138629436111989));
        QVERIFY(equals(scaled({{"rope_type", "yarn"},
                               {"factor", nullptr},
                               {"original_max_position_embeddings", 100},
                               {"beta_fast", 8},
                               {"beta_slow", 2},
                               {"truncate", false},
                               {"mscale", 1.0},
                               {"mscale_all_dim", 0.5}}),
                       {1.0f, 0.15691784f, 0.0157739334f, 0.00396223227f, 0.000995267881f}, 1.0648216253695715));
        QVERIFY(
            equals(scaled({{"rope_type", "yarn"}, {"factor", 2.5}, {"original_max_position_embeddings", 100}, {"attention_factor", 1.25}}),
                   {1.0f, 0.200950906f, 0.0378574431f, 0.00633957144f, 0.00159242854f}, 1.25));
        QVERIFY(equals(scaled({{"rope_type", "llama3"},
                               {"factor", 8},
                               {"low_freq_factor", 1},
                               {"high_freq_factor", 4},
                               {"original_max_position_embeddings", 128}}),
                       {1.0f, 0.251188636f, 0.0131387133f, 0.00198111613f, 0.000497633941f}, 1));
    }

    /// Whatever a configuration says beside: the same frequencies as transformers' own functions.
    void linear_yarn_and_llama_3_equal_transformers() {
        const QString python = qEnvironmentVariable("FACETER_PEERS");
        if (python.isEmpty()) QSKIP("no Python with transformers (FACETER_PEERS)");
        Json configs = Json::array();
        for (const std::int64_t head_dim : {6, 32, 128})
            for (const double base : {1000.0, 500000.0})
                for (const Json& scaling : scalings())
                    configs.push_back(
                        {{"head_dim", head_dim}, {"rope_theta", base}, {"max_position_embeddings", 4096}, {"rope_scaling", scaling}});
        const TemporaryDirectory folder;
        const fs::path input = folder.path() / "configs.json", output = folder.path() / "frequencies.json";
        write_file_atomic(input, configs.dump());
        QProcess peer;
        peer.start(python, {FACETER_SOURCE_DIR "/tests/checkpoint/peer_rotary.py", input.c_str(), output.c_str()});
        QVERIFY(peer.waitForFinished(300'000));
        QVERIFY2(peer.exitCode() == 0, peer.readAllStandardError().constData());
        const Json wanted = read_json(output);
        QCOMPARE(wanted.size(), configs.size());
        for (std::size_t i = 0; i < configs.size(); ++i) {
            const Rotary rotary = read(decoder("llama"), configs[i]).rotary;
            const auto frequencies = wanted[i].at("frequencies").get<std::vector<float>>();
            for (std::size_t pair = 0; pair < frequencies.size(); ++pair) {
                const float own = rotary_frequency(static_cast<std::int64_t>(pair), configs[i].at("head_dim"), rotary);
                QVERIFY2(std::abs(own - frequencies[pair]) <= 1e-6f * frequencies[pair], configs[i].dump().c_str());
            }
            QVERIFY(std::abs(rotary.amplitude - wanted[i].at("amplitude").get<float>()) < 1e-6f);
        }
    }

    void dynamic_scaling_takes_the_place_of_a_limit_of_length() {
        const EncoderConfig usual = read(decoder("qwen3"), {{"max_position_embeddings", 40}});
        for (const char* member : {"rope_scaling", "rope_parameters"})
            for (const char* key : {"rope_type", "type"}) {
                const EncoderConfig c =
                    read(decoder("qwen3"), {{"max_position_embeddings", 40}, {member, {{key, "dynamic"}, {"factor", 3}}}});
                QVERIFY(c.rotary_scaling == 3 && c.trained_positions == 40 && c.length_limit == 0 && c.rotary == usual.rotary);
            }
        QVERIFY(usual.rotary_scaling == 0 && usual.length_limit == 40);
        EXPECT_ERROR(read(decoder("qwen3"), {{"rope_scaling", {{"rope_type", "dynamic"}}}}), "factor");
        EXPECT_ERROR(read(decoder("qwen3"), {{"head_dim", 2}, {"rope_scaling", {{"rope_type", "dynamic"}, {"factor", 3}}}}),
                     "these have 2");
        EXPECT_ERROR(read(decoder("gemma3_text"), {{"rope_scaling", {{"rope_type", "dynamic"}, {"factor", 3}}}}), "dynamic");
    }

    /// As transformers 5.23 does: T5Config sets what config.json says of them over what feed_forward_proj makes them.
    void t5_computes_with_the_activation_that_is_named_beside_its_projection() {
        const auto t5 = [](const Json& more) {
            Json json = {{"model_type", "t5"}, {"num_layers", 2}, {"d_model", 8},   {"num_heads", 2},
                         {"d_kv", 4},          {"d_ff", 8},       {"vocab_size", 9}};
            json.update(more);
            return read(json);
        };
        const EncoderConfig plain = t5(Json::object());
        QVERIFY(!plain.gated && plain.activation == Activation::relu);
        const EncoderConfig gated = t5({{"feed_forward_proj", "gated-gelu"}});
        QVERIFY(gated.gated && gated.activation == Activation::gelu_tanh);
        QVERIFY(t5({{"feed_forward_proj", "gated-silu"}}).activation == Activation::silu);
        QVERIFY(t5({{"feed_forward_proj", "gelu"}}).activation == Activation::gelu);
        QVERIFY(t5({{"feed_forward_proj", "gated-gelu"}, {"dense_act_fn", "gelu"}}).activation == Activation::gelu);
        QVERIFY(t5({{"dense_act_fn", "gelu_new"}}).activation == Activation::gelu_tanh);
        QVERIFY(t5({{"is_gated_act", true}}).gated && !t5({{"feed_forward_proj", "gated-silu"}, {"is_gated_act", false}}).gated);
        EXPECT_ERROR(t5({{"dense_act_fn", "tanh"}}), "config.json", "dense_act_fn 'tanh'");
        EXPECT_ERROR(t5({{"feed_forward_proj", "gated-tanh"}}), "feed_forward_proj", "gated-silu");
    }

    /// transformers 5.23 reads rope_scaling in the place of rope_parameters, with rope_theta from beside it.
    void two_ways_to_say_rotary_positions_are_read_as_transformers_does_or_refused() {
        const Json scaling = {{"rope_type", "linear"}, {"factor", 3}};
        for (const char* type : {"llama", "qwen3", "mistral", "eurobert"}) {
            const auto both = [&](const Json& more) {
                Json members = {{"rope_scaling", scaling}};
                members.update(more);
                return read(decoder(type), members).rotary;
            };
            const Rotary wanted = both({{"rope_theta", 500}});
            const Json yarn = {{"rope_type", "yarn"}, {"factor", 4}, {"rope_theta", 500}, {"attention_factor", 2}};
            QVERIFY(wanted.base == 500 && wanted.stretch == 3);
            QVERIFY(both({{"rope_theta", 500}, {"rope_parameters", yarn}}) == wanted);
            QVERIFY(both({{"rope_theta", 500}, {"rope_parameters", {{"rope_type", "dynamic"}, {"factor", 2}}}}) == wanted);
            QVERIFY(both({{"rope_theta", 500}, {"rope_parameters", Json::object()}}) == wanted);
            EXPECT_ERROR(both({{"rope_theta", 77}, {"rope_parameters", {{"rope_theta", 500}}}}),
                         "rope_scaling stands beside rope_parameters", "rope_theta would be 77, not 500");
            EXPECT_ERROR(both({{"rope_theta", nullptr}, {"rope_parameters", {{"rope_theta", 500}}}}), "would be 10000, not 500");
            const Json by_kind = {{"full_attention", {{"rope_theta", 500}}}, {"sliding_attention", {{"rope_theta", 50}}}};
            EXPECT_ERROR(read(decoder(type), {{"rope_parameters", by_kind}}), "rope_parameters", "one for all blocks alike");
        }
    }

    /// Numbers of transformers 5.23's formula by hand: 1 / (factor 100^(i / 2)).
    void longrope_has_a_set_of_frequencies_for_short_texts_and_one_for_long_ones() {
        const Json longrope = {
            {"rope_type", "longrope"}, {"short_factor", {1, 2}}, {"long_factor", {4, 5}}, {"original_max_position_embeddings", 16}};
        const EncoderConfig c = read(decoder("llama"), {{"max_position_embeddings", 64}, {"rope_theta", 100}, {"rope_scaling", longrope}});
        QVERIFY(c.trained_positions == 16 && c.rotary_scaling > 0 && c.length_limit == 64);
        QVERIFY(c.rotary.frequencies == (std::vector<float>{1, 0.05f, 0.25f, 0.02f}));
        QVERIFY(std::abs(c.rotary.amplitude - std::sqrt(1.5)) < 1e-6);  // sqrt(1 + ln 4 / ln 16)
        QVERIFY(c.local_rotary == c.rotary);
    }

    void a_family_that_is_known_and_not_built_is_refused_with_the_reason() {
        EXPECT_ERROR(read(Json{{"model_type", "embedding_gemma2"}, {"text_config", Json::object()}}), "values are normed", "gemma3_text");
    }

    void heads_and_scalings_that_do_not_fit_are_refused() {
        EXPECT_ERROR(read(decoder("qwen3"), {{"num_key_value_heads", 4}}), "6 heads of queries", "4 heads of keys");
        EXPECT_ERROR(read(decoder("eurobert"), {{"num_attention_heads", 5}, {"num_key_value_heads", 5}}), "hidden_size 24");
        EXPECT_ERROR(read(decoder("gemma3_text"), {{"rope_scaling", {{"rope_type", "longrope"}, {"factor", 4}}}}), "longrope",
                     "yarn and llama3 are");
        EXPECT_ERROR(read(decoder("llama"), {{"rope_scaling", {{"rope_type", "longrope"}, {"factor", 4}}}}), "short_factor");
        const auto factors = [](std::vector<double> short_ones) {
            return Json{{"rope_scaling", {{"rope_type", "longrope"}, {"short_factor", short_ones}, {"long_factor", {2, 3}}}}};
        };
        EXPECT_ERROR(read(decoder("llama"), factors({1, 2, 3})), "short_factor", "3 numbers, expected 2");
        EXPECT_ERROR(read(decoder("llama"), factors({1, 0})), "short_factor 0", "positive");
        EXPECT_ERROR(read(decoder("qwen3"), {{"rope_scaling", {{"type", "mrope"}, {"mrope_section", {1, 1}}}}}), "mrope");
        EXPECT_ERROR(read(decoder("llama"), {{"rope_scaling", {{"rope_type", "yarn"}, {"factor", -4}}}}), "factor -4", "positive");
        EXPECT_ERROR(read(decoder("llama"), {{"rope_scaling", {{"rope_type", "llama3"}, {"factor", 4}}}}), "low_freq_factor");
        EXPECT_ERROR(read(decoder("llama"), {{"rope_scaling", {{"rope_type", "linear"}, {"factor", 0}}}}), "factor 0");
        EXPECT_ERROR(read(decoder("llama"), {{"rope_scaling", 3}}), "rope_scaling", "no object");
        EXPECT_ERROR(read(decoder("llama"), {{"rope_parameters", {1, 2}}}), "rope_parameters", "no object");
        for (const double original : {0.0, -4.0, 0.5, 1e20}) {
            Json longrope = factors({1, 2});
            longrope["rope_scaling"]["original_max_position_embeddings"] = original;
            EXPECT_ERROR(read(decoder("llama"), longrope), "original_max_position_embeddings", "expected 1 to 16777216");
        }
        EXPECT_ERROR(read(decoder("gemma3_text"), {{"attn_logit_softcapping", 50}}), "attn_logit_softcapping", "null");
        EXPECT_ERROR(read(decoder("gemma3_text"), {{"query_pre_attn_scalar", 0}}), "query_pre_attn_scalar");
    }

    void nvidias_releases_are_llama_read_in_both_directions() {
        Json release = decoder("llama_bidirec");
        release.update({{"pooling", "avg"}, {"temperature", 0.2}, {"auto_map", {{"AutoModel", "own.Model"}}}});
        const EncoderConfig c = read(release);
        QVERIFY(!c.reach_of(0).is_limited() && c.remarks.empty());
        QVERIFY(read(decoder("llama")).reach_of(0).after == 0);
        QCOMPARE(native_config(release, "config.json").at("model_type").get<std::string>(), std::string("llama"));
        EXPECT_ERROR(read(release, {{"pooling", "last"}}), "pooling \"last\"", "avg");
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

    void what_a_family_has_no_part_for_is_refused_by_the_name_of_the_member_data() {
        QTest::addColumn<QString>("type");
        QTest::addColumn<QString>("member");
        QTest::addColumn<QString>("value");
        for (const auto& [type, member, value] : std::initializer_list<std::array<const char*, 3>>{
                 {"bert", "is_decoder", "true"},
                 {"roberta", "add_cross_attention", "true"},
                 {"bert", "is_causal", "true"},
                 {"bert", "quantization_config", "{\"bits\": 4}"},
                 {"eurobert", "attn_logit_softcapping", "30.0"},
                 {"llama", "use_sliding_window", "true"},
                 {"mistral", "layer_types", "[\"full_attention\", \"sliding_attention\", \"full_attention\", \"full_attention\"]"},
                 {"mistral", "attention_bias", "true"},
                 {"qwen3", "use_bidirectional_attention", "true"},
                 {"qwen3", "mlp_bias", "true"},
                 {"qwen3", "partial_rotary_factor", "0.5"},
                 {"qwen3", "num_experts", "8"},
                 {"gte", "num_key_value_heads", "2"},
                 {"mpnet", "relative_attention_num_buckets", "64"},
                 {"deberta-v2", "is_causal", "true"}})
            QTest::addRow("%s %s", type, member) << type << member << value;
    }
    void what_a_family_has_no_part_for_is_refused_by_the_name_of_the_member() {
        QFETCH(QString, type);
        QFETCH(QString, member);
        QFETCH(QString, value);
        Json json = decoder(type.toUtf8().constData());
        json["num_key_value_heads"] = json["num_attention_heads"];
        json["position_biased_input"] = false;
        read(json);  // without the member it is read
        json[member.toStdString()] = parse_json(value.toStdString(), "value");
        EXPECT_ERROR(read(json), std::string("config.json"), member.toStdString(), std::string("is not supported"));
    }

    void rotary_positions_that_name_no_kind_of_block_are_refused_where_there_are_two() {
        for (const char* type : {"gemma3_text", "modernbert"}) {
            Json json = decoder(type);
            json["num_key_value_heads"] = json["num_attention_heads"];
            EXPECT_ERROR(read(json, {{"rope_parameters", {{"rope_type", "linear"}, {"factor", 2}}}}), "rope_parameters", "full_attention");
            EXPECT_ERROR(read(json, {{"rope_scaling", {{"type", "linear"}, {"factor", 2}}}}), "rope_scaling", "rope_type");
        }
        EXPECT_ERROR(read(decoder("gemma3_text"), {{"is_causal", false}}), "is_causal false", "use_bidirectional_attention");
    }

    void members_that_a_family_does_not_know_are_told() {
        const auto remarks = read(decoder("qwen3"), {{"multi_query_depth", 3}, {"use_cache", true}, {"eos_token_id", 2}}).remarks;
        QCOMPARE(remarks.size(), std::size_t{1});
        QVERIFY(remarks[0].find("config.json: qwen3 has no such members") == 0);
        QVERIFY(remarks[0].find("'multi_query_depth'") != std::string::npos && remarks[0].find("use_cache") == std::string::npos);
        QVERIFY(read(decoder("qwen3")).remarks.empty());
    }

    /// Of nomic_bert the reader follows that code; one for other tasks is no matter.
    void code_of_a_models_own_beside_a_family_of_transformers_is_told() {
        const Json own = {{"auto_map", {{"AutoModel", "modeling_own.OwnModel"}}}},
                   head = {{"auto_map", {{"AutoModelForSequenceClassification", "modeling_own.OwnHead"}}}};
        const auto remarks = read(decoder("qwen3"), own).remarks;
        QCOMPARE(remarks.size(), std::size_t{1});
        QVERIFY(remarks[0].starts_with("config.json: auto_map names code of the model's own") && remarks[0].ends_with("own qwen3"));
        Json nomic = decoder("nomic_bert");
        nomic.erase("num_key_value_heads");
        QVERIFY(read(nomic, own).remarks.empty() && read(decoder("qwen3"), head).remarks.empty());
    }

    void heads_of_a_size_of_their_own_are_read_in_every_rotary_family() {
        for (const char* type : {"gte", "jina_embeddings_v3", "nomic_bert"}) {
            Json json = decoder(type);
            json.erase("num_key_value_heads");
            QVERIFY2(read(json, {{"head_dim", 10}}).head_dim == 10 && read(json).head_dim == 4, type);
        }
    }

    void each_family_drops_where_transformers_does() {
        const double nowhere = DropoutRates::nowhere;
        const Json t5 = {{"model_type", "t5"}, {"num_layers", 2}, {"d_model", 24},    {"num_heads", 3},
                         {"d_kv", 8},          {"d_ff", 40},      {"vocab_size", 100}};
        QVERIFY(read(t5).dropout == (DropoutRates{0.1, 0.1, 0.1, 0.1, 0.1, 0.1}));
        const Json modern = {{"model_type", "modernbert"}, {"num_hidden_layers", 2},  {"hidden_size", 24},
                             {"num_attention_heads", 3},   {"intermediate_size", 40}, {"vocab_size", 100}};
        QVERIFY(read(modern).dropout == (DropoutRates{0, 0, 0, 0, nowhere, nowhere}));
        const DropoutRates own = read(modern, {{"embedding_dropout", 0.1}, {"attention_dropout", 0.2}, {"mlp_dropout", 0.3}}).dropout;
        QVERIFY(own == (DropoutRates{0.1, 0.2, 0.2, 0.3, nowhere, nowhere}));
        QVERIFY(own.everywhere(0.4) == (DropoutRates{0.4, 0.4, 0.4, 0.4, nowhere, nowhere}));
        EXPECT_ERROR(read(modern, {{"embedding_dropout", 1.5}}), "embedding_dropout");
        const Json bert = {{"model_type", "bert"},         {"num_hidden_layers", 2},  {"hidden_size", 24},
                           {"num_attention_heads", 3},     {"intermediate_size", 40}, {"vocab_size", 100},
                           {"max_position_embeddings", 32}};
        QVERIFY(read(bert, {{"hidden_dropout_prob", 0.2}}).dropout == (DropoutRates{0.2, 0.1, 0.2, nowhere, 0.2, 0.2}));
        const Json distil = {{"model_type", "distilbert"}, {"n_layers", 2},    {"dim", 24}, {"n_heads", 3},
                             {"hidden_dim", 40},           {"vocab_size", 100}};
        const DropoutRates no_output = read(distil, {{"dropout", 0.2}}).dropout;  // of attention's output
        QCOMPARE(no_output.attention_output, nowhere);
        QVERIFY(no_output.embeddings == 0.2 && no_output.feed_forward_output == 0.2 && no_output.attention == 0.1);
        QCOMPARE(no_output.everywhere(0.3).attention_output, nowhere);
    }

    void nomic_bert_is_read_as_transformers_writes_it() {
        const Json native = {{"model_type", "nomic_bert"},
                             {"num_hidden_layers", 2},
                             {"hidden_size", 24},
                             {"num_attention_heads", 3},
                             {"intermediate_size", 40},
                             {"vocab_size", 100},
                             {"hidden_act", "gelu"},
                             {"layer_norm_eps", 1e-3},
                             {"max_position_embeddings", 77},
                             {"hidden_dropout_prob", 0.2},
                             {"rope_parameters", {{"rope_type", "linear"}, {"factor", 3}, {"rope_theta", 50}}}};
        const EncoderConfig c = read(native);
        QVERIFY(c.gated && c.activation == Activation::gelu && c.norm_epsilon == 1e-3 && c.intermediate_dim == 40);
        QVERIFY(c.rotary == (Rotary{50, 3}) && c.length_limit == 77 && c.dropout.embeddings == 0.2 &&
                c.dropout.feed_forward_output == 0.2 && c.remarks.empty());
        QCOMPARE(read(native, {{"rope_parameters", nullptr}}).rotary.base, 1000.0);
    }

    /// The released code reads a table of positions then.
    void a_nomic_bert_that_turns_nothing_is_refused() {
        Json nomic = decoder("nomic_bert");
        nomic.erase("num_key_value_heads");
        for (const double fraction : {0.0, 0.1})
            EXPECT_ERROR(read(nomic, {{"rotary_emb_fraction", fraction}}), "config.json: rotary_emb_fraction 0", "position_embeddings");
        QCOMPARE(read(nomic, {{"rotary_emb_fraction", 0.5}}).rotary_dim, std::int64_t{2});
    }

    /// transformers 5.23, models/modernbert/configuration_modernbert.py.
    void modernbert_takes_no_base_for_both_kinds_of_block() {
        Json json = decoder("modernbert");
        json.erase("num_key_value_heads");
        json["rope_theta"] = 500;
        const EncoderConfig c = read(json);
        QVERIFY(c.rotary.base == 160'000 && c.local_rotary.base == 10'000);
        QVERIFY(c.remarks.size() == 1 && c.remarks[0].find("'rope_theta'") != std::string::npos);
        QCOMPARE(read(json, {{"global_rope_theta", 77}}).rotary.base, 77.0);
        const Json full = {{"full_attention", {{"rope_type", "default"}, {"rope_theta", 80}}}};
        QCOMPARE(read(json, {{"rope_parameters", full}}).rotary.base, 80.0);
    }

    void a_tensor_without_elements_says_no_size() {
        const TemporaryDirectory folder;
        const float nothing = 0;
        SafetensorsWriter writer;
        writer.add("encoder.layers.0.mlp.fc11.weight", DType::f32, {std::int64_t{1} << 60, 0}, &nothing);
        writer.write(folder.path() / "model.safetensors");
        const Weights weights(std::vector<fs::path>{folder.path() / "model.safetensors"});
        Json routed = decoder("nomic_bert");
        routed.erase("num_key_value_heads");
        routed.update({{"num_experts", 8}, {"moe_every_n_layers", 2}});
        QCOMPARE(EncoderConfig::from_json(routed, "config.json", weights).intermediate_dim, std::int64_t{40});
    }
    void sizes_that_make_no_model_are_refused() {
        for (const char* key : {"num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size", "vocab_size"})
            for (const std::int64_t size : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1} << 40})
                EXPECT_ERROR(read(decoder("llama"), {{key, size}}), key, "expected 1 to 16777216");
        EXPECT_ERROR(read(decoder("llama"), {{"num_hidden_layers", 1025}}), "1025 layers");
        EXPECT_ERROR(read(decoder("bert"), {{"num_attention_heads", 5}}), "hidden_size 24 is not a multiple of num_attention_heads 5");
        EXPECT_ERROR(read(decoder("bert"), {{"vocab_size", 1 << 24}, {"hidden_size", 1 << 16}, {"num_attention_heads", 8}}), "more than",
                     "parameters");
        for (const double epsilon : {0.0, -1e-5, 1.0, 1e300}) EXPECT_ERROR(read(decoder("llama"), {{"rms_norm_eps", epsilon}}), "epsilon");
    }
    void an_mt5_that_does_not_name_its_feed_forward_has_a_gated_one() {
        const Json json = {{"num_layers", 2}, {"d_model", 24}, {"num_heads", 3}, {"d_kv", 8}, {"d_ff", 40}, {"vocab_size", 100}};
        QVERIFY(read(json, {{"model_type", "mt5"}}).gated && !read(json, {{"model_type", "t5"}}).gated);
    }

    void sizes_may_stand_under_the_names_of_most_families_where_a_family_has_names_of_its_own() {
        const Json shared = {{"num_hidden_layers", 2}, {"hidden_size", 24}, {"num_attention_heads", 3}, {"vocab_size", 100}};
        const auto is_read = [](const EncoderConfig& c, std::int64_t head_dim) {
            return c.num_layers == 2 && c.hidden_dim == 24 && c.num_heads == 3 && c.head_dim == head_dim && c.remarks.empty();
        };
        QVERIFY(is_read(read(shared, {{"model_type", "distilbert"}, {"hidden_dim", 40}}), 8));
        QVERIFY(is_read(read(shared, {{"model_type", "distilbert"}, {"hidden_dim", 40}, {"n_layers", 6}, {"dim", 48}}), 8));
        for (const char* type : {"t5", "mt5"}) QVERIFY(is_read(read(shared, {{"model_type", type}, {"head_dim", 10}, {"d_ff", 40}}), 10));
        EXPECT_ERROR(read(shared, {{"model_type", "distilbert"}, {"num_attention_heads", nullptr}}), "'n_heads' is missing");
    }

    void a_family_that_is_not_known_is_told_with_what_the_nearest_one_lacks() {
        Json json = decoder("qwen3_moe");
        json.update({{"num_experts", 64}, {"moe_intermediate_size", 8}, {"norm_topk_prob", true}, {"use_cache", true}});
        EXPECT_ERROR(read(json), "model_type 'qwen3_moe' is not supported", "the nearest family is qwen3",
                     "asks for by 'moe_intermediate_size', 'norm_topk_prob'", "num_experts 64 is not supported");
        json = {{"model_type", "electra"},  {"num_hidden_layers", 2},         {"hidden_size", 24},
                {"num_attention_heads", 3}, {"embedding_size", 12},           {"intermediate_size", 40},
                {"vocab_size", 100},        {"type_vocab_size", 2},           {"hidden_act", "gelu"},
                {"layer_norm_eps", 1e-12},  {"max_position_embeddings", 512}, {"summary_type", "first"}};
        EXPECT_ERROR(read(decoder("bidirectional_own_qwen3")), "the nearest family is qwen3");
        EXPECT_ERROR(read(json), "model_type 'electra' is not supported", "the nearest family is bert",
                     "embedding_size 12 is not supported");
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
