#include "checkpoint/config_members.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "common/strings.h"

namespace faceter {
namespace {

using Members = std::set<std::string, std::less<>>;

std::map<std::string, Members>& members_by_type() {
    static std::map<std::string, Members> all;
    return all;
}

/// What every configuration may hold: heads, training, generation, bookkeeping. None of it changes the hidden states.
const Members& of_no_account() {
    static const Members all = {"architectures",
                                "model_type",
                                "torch_dtype",
                                "dtype",
                                "transformers_version",
                                "name_or_path",
                                "use_cache",
                                "tie_word_embeddings",
                                "id2label",
                                "label2id",
                                "num_labels",
                                "problem_type",
                                "finetuning_task",
                                "task_specific_params",
                                "pretraining_tp",
                                "auto_map",
                                "custom_pipelines",
                                "chunk_size_feed_forward",
                                "is_encoder_decoder",
                                "final_logit_softcapping",
                                "tokenizer_class",
                                "torchscript",
                                "return_dict",
                                "max_length",
                                "adapters",
                                "sentence_transformers",
                                "pruned_heads",
                                "prefix",
                                "use_bfloat16",
                                "tie_encoder_decoder"};
    return all;
}

bool is_of_no_account(std::string_view key) {
    constexpr std::array<std::string_view, 8> beginnings = {
        "_", "classifier_", "pooler_", "output_", "initializer_", "summary_", "sparse_", "gradient_checkpointing"};
    return of_no_account().contains(key) || key.ends_with("_token_id") || key.ends_with("attn_implementation") ||
           std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view beginning) { return key.starts_with(beginning); });
}

bool is_nothing(const Json& value) { return value.is_null() || value == false; }

bool is_one_at_most(const Json& value) { return value.is_null() || (value.is_number() && value.get<double>() <= 1); }

bool is_one(const Json& value) { return value.is_null() || (value.is_number() && value.get<double>() == 1); }

bool is_all_full(const Json& value) {
    return value.is_null() ||
           (value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& type) { return type == "full_attention"; }));
}

/// A member by which some code computes otherwise, and where it asks for nothing.
struct Foreign {
    const char* key;
    bool (*asks_for_nothing)(const Json& value);
    const char* expected;
    std::vector<std::string_view> but;  ///< families that read it themselves, or whose own code does not
};

const std::vector<Foreign>& foreign_members() {
    static const std::vector<Foreign> all = {
        {"quantization_config", is_nothing, "null", {}},
        {"is_decoder", is_nothing, "false", {"t5", "mt5"}},
        {"add_cross_attention", is_nothing, "false", {"t5", "mt5"}},
        {"attn_logit_softcapping", is_nothing, "null", {}},
        {"use_sliding_window", is_nothing, "false", {"qwen2", "qwen3"}},
        {"layer_types", is_all_full, "full_attention", {"qwen2", "qwen3", "gemma3_text", "modernbert"}},
        {"use_bidirectional_attention", is_nothing, "false", {"gemma3_text", "eurobert"}},
        {"is_causal", is_nothing, "false", {"qwen2", "qwen3", "mistral", "llama", "gemma3_text"}},
        {"attention_bias",
         is_nothing,
         "false",
         {"llama", "qwen2", "qwen3", "eurobert", "gemma3_text", "modernbert", "gte", "jina_embeddings_v3"}},
        {"mlp_bias", is_nothing, "false", {"llama", "eurobert", "modernbert"}},
        {"partial_rotary_factor", is_one, "1", {}},
        {"num_experts", is_one_at_most, "none", {"nomic_bert"}},
        {"num_local_experts", is_one_at_most, "none", {}},
        {"n_routed_experts", is_one_at_most, "none", {}},
    };
    return all;
}

std::size_t shared_members(const Json& config, const Members& members) {
    return static_cast<std::size_t>(
        std::count_if(members.begin(), members.end(), [&](const std::string& key) { return config.contains(key); }));
}

std::size_t shared_beginning(std::string_view a, std::string_view b) {
    return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

}  // namespace

FamilyMembers::FamilyMembers(std::initializer_list<const char*> types, const char* members) {
    for (const char* type : types)
        for (const std::string_view member : split(members, ' ')) members_by_type()[type].emplace(member);
}

void refuse_foreign_members(const Json& config, const std::string& type, std::string_view name) {
    for (const Foreign& foreign : foreign_members())
        if (config.contains(foreign.key) && std::find(foreign.but.begin(), foreign.but.end(), type) == foreign.but.end())
            refuse_unless(foreign.asks_for_nothing(config.at(foreign.key)), config, foreign.key, name, foreign.expected);
}

void refuse_rotary_without_kinds(const Json& config, std::string_view name) {
    const auto is_said = [&](const char* key) { return config.contains(key) && config.at(key).is_object() && !config.at(key).empty(); };
    if (is_said("rope_parameters"))
        refuse_unless(config.at("rope_parameters").contains("full_attention") || config.at("rope_parameters").contains("sliding_attention"),
                      config, "rope_parameters", name, "one that names full_attention and sliding_attention");
    if (is_said("rope_scaling"))
        refuse_unless(config.at("rope_scaling").contains("rope_type"), config, "rope_scaling", name, "one with rope_type");
}

std::vector<std::string> unknown_members(const Json& config, const std::string& type) {
    const auto found = members_by_type().find(type);
    std::vector<std::string> unknown;
    const auto is_foreign = [](const std::string& key) {  // what it may say was looked at
        return std::any_of(foreign_members().begin(), foreign_members().end(), [&](const Foreign& foreign) { return key == foreign.key; });
    };
    for (const auto& [key, value] : config.items())
        if (!value.is_null() && !is_of_no_account(key) &&
            (found == members_by_type().end() || (!found->second.contains(key) && !is_foreign(key))))
            unknown.push_back(key);
    return unknown;
}

Json under_own_names(const Json& config, std::initializer_list<std::pair<const char*, const char*>> names) {
    Json own = config;
    for (const auto& [shared, name] : names)
        if (config.contains(shared) && !config.at(shared).is_null()) own[name] = config.at(shared);
    return own;
}

std::string nearest_family(const Json& config, const std::string& type, const std::vector<std::string>& known) {
    if (const auto by_name = nearest(type, known)) return *by_name;
    constexpr std::size_t telling = 4;  // as many letters of a name in common: "qwen3_moe" is near qwen3, as "bidirectional_qwen3" is
    std::string best;
    std::pair<std::size_t, std::size_t> most{0, 0};
    for (const std::string& family : known) {
        const bool within = family.size() > telling && type.find(family) != std::string::npos;
        const std::size_t letters = within ? family.size() : shared_beginning(type, family);
        const std::pair rank(letters >= telling ? letters : 0, shared_members(config, members_by_type()[family]));
        if (rank <= most) continue;
        most = rank;
        best = family;
    }
    return best;
}

}  // namespace faceter
