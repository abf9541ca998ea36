#include "checkpoint/module_members.h"

#include <algorithm>
#include <set>

#include "checkpoint/encoder_config.h"
#include "common/error.h"
#include "common/strings.h"

namespace faceter {
namespace {

using Keys = std::set<std::string, std::less<>>;

bool is_nothing(const Json& value) { return value.is_null() || value == false || (value.is_structured() && value.empty()); }

void require_nothing(const Json& config, const char* key, std::string_view name) {
    if (config.contains(key)) refuse_unless(is_nothing(config.at(key)), config, key, name, "null");
}

void require_text(const Json& config, const char* key, const char* only, std::string_view name) {
    refuse_unless(json_or<std::string>(config, key, only, name) == only, config, key, name, faceter::quoted(only));
}

/// Arguments of another program: those that make no difference to a vector are passed over.
void require_arguments(const Json& config, const char* key, const Keys& of_no_account, std::string_view name) {
    const Json arguments = json_or<Json>(config, key, Json::object(), name);
    if (!arguments.is_object()) throw_json_member(name, key, "is no object");
    for (const auto& [argument, value] : arguments.items())
        if (!value.is_null() && !of_no_account.contains(argument))
            throw data_error("{}: {} has {} {}, which is not supported; take it out where the model's vectors do not need it", name, key,
                             faceter::quoted(argument, 40), faceter::quoted(value.dump(), 60));
}

/// A text's way through the Transformer: forward, to its last hidden states.
void require_text_forward(const Json& config, std::string_view name) {
    const Json ways = json_or<Json>(config, "modality_config", Json(), name);
    if (ways.is_null()) return;
    const Json text = json_or<Json>(ways, "text", Json(), name);
    refuse_unless(text.is_object(), config, "modality_config", name, "one with a way for \"text\"");
    require_text(text, "method", "forward", name);
    require_text(text, "method_output_name", "last_hidden_state", name);
}

void require_sentences(const Json& config, std::string_view name) {
    require_text(config, "module_input_name", "sentence_embedding", name);
    require_text(config, "module_output_name", "sentence_embedding", name);
}

}  // namespace

void refuse_foreign_transformer(const Json& config, std::string_view name) {
    const Keys of_tokenizers = {"padding_side", "use_fast", "trust_remote_code", "clean_up_tokenization_spaces", "legacy", "padding"},
               of_models = {"trust_remote_code", "dtype",        "torch_dtype",       "attn_implementation",
                            "add_pooling_layer", "unpad_inputs", "low_cpu_mem_usage", "use_memory_efficient_attention",
                            "use_safetensors"};
    require_text(config, "transformer_task", "feature-extraction", name);
    require_text(config, "module_output_name", "token_embeddings", name);
    require_text_forward(config, name);
    for (const char* key : {"query_length", "document_length", "query_expansion", "processing_kwargs"}) require_nothing(config, key, name);
    for (const char* key : {"tokenizer_args", "processor_kwargs"}) require_arguments(config, key, of_tokenizers, name);
    for (const char* key : {"model_args", "model_kwargs", "config_args", "config_kwargs"}) require_arguments(config, key, of_models, name);
}

void refuse_foreign_dense(const Json& config, std::string_view name) {
    require_sentences(config, name);
    require_nothing(config, "use_residual", name);
}

void refuse_foreign_normalize(const Json& config, std::string_view name) { require_sentences(config, name); }

void refuse_truncation(const Json& config, std::string_view name) {
    const auto elements = json_or<std::int64_t>(config, "truncate_dim", 0, name);
    if (elements != 0)
        throw data_error(
            "{}: truncate_dim is {}, and vectors are made and trained whole here; take the member out, and cut them where they are used: "
            "--prefix {} of faceter embed and faceter evaluate, objective.matryoshka_dims in training",
            name, elements, elements);
}

}  // namespace faceter
