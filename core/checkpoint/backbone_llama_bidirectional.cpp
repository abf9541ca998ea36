#include "checkpoint/encoder_config.h"

// llama-nemotron-embed: Llama read in both directions by code of its release's own (model_type 'llama_bidirec'); how it pools stands in
// config.json as well.

namespace faceter {
namespace {

bool is_release(const Json& config) {
    return config.is_object() && config.contains("model_type") && config.at("model_type") == "llama_bidirec";
}

Json native_llama(const Json& config, std::string_view name) {
    const auto pooling = json_or<std::string>(config, "pooling", "avg", name);
    refuse_unless(pooling == "avg", config, "pooling", name, "avg");
    Json native = config;
    for (const char* key : {"auto_map", "pooling", "temperature"}) native.erase(key);
    native["model_type"] = "llama";
    native["architectures"] = Json::array({"LlamaModel"});
    native["is_causal"] = false;
    return native;
}

const ReleasedLayout release(is_release, native_llama);

}  // namespace
}  // namespace faceter
