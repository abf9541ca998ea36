#include "checkpoint/parameter_count.h"
#include "fuzz.h"

using namespace faceter;

namespace {

/// What the code behind a configuration relies on: sizes that fit integers and memory, heads and positions that exist.
void check(const EncoderConfig& c) {
    FUZZ_CHECK(c.num_layers >= 1 && c.num_layers <= 1024 && c.hidden_dim >= 1 && c.num_heads >= 1 && c.head_dim >= 1 && c.vocab_size >= 1 &&
               c.intermediate_dim >= 1);
    FUZZ_CHECK(parameters_at_least(c) <= 0x1p36);
    FUZZ_CHECK(c.rotary_dim >= 0 && c.rotary_dim <= c.head_dim && c.rotary_dim % 2 == 0);
    FUZZ_CHECK(c.max_positions == 0 || (c.length_limit > 0 && c.length_limit + c.first_position <= c.max_positions));
    FUZZ_CHECK(c.num_token_types >= 0 && c.relative_buckets >= 0);
    FUZZ_CHECK(c.num_key_heads >= 1 && c.num_heads % c.num_key_heads == 0);
    FUZZ_CHECK(c.local.empty() || c.local.size() == static_cast<std::size_t>(c.num_layers));
    for (const Reach& reach : {c.reach, c.local_reach}) FUZZ_CHECK(reach.before >= 0 && reach.after >= 0);
    FUZZ_CHECK(c.attention_scale > 0 && c.norm_epsilon > 0);
    const DropoutRates& d = c.dropout;
    for (const double rate : {d.embeddings, d.attention, d.attention_output, d.inner, d.feed_forward_output, d.final_output})
        FUZZ_CHECK(rate == DropoutRates::nowhere || (rate >= 0 && rate < 1));
    FUZZ_CHECK(c.routed.every == 0 || (c.routed.top_k >= 1 && c.routed.top_k <= c.routed.num_experts));
    FUZZ_CHECK(!c.names.word.empty() && !c.names.qkv.empty() && !c.names.up.empty());
}

}  // namespace

/// The input is the config.json of any family; no weights are there to say otherwise.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Weights none(std::vector<std::filesystem::path>{});
    return fuzz_one(data, size,
                    [](std::string_view text) { check(EncoderConfig::from_json(parse_json(text, "config.json"), "config.json", none)); });
}
