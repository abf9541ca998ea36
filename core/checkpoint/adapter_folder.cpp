#include "checkpoint/adapter_folder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr const char* prefix = "base_model.model.";
constexpr std::int64_t largest_rank = 4096;

/// What PEFT may add to LoRA and this program has no form for: the value must be empty, false or null, or the one named.
void refuse_other_forms(const Json& config, const std::string& name) {
    const auto type = json_at<std::string>(config, "peft_type", name);
    if (type != "LORA") throw data_error("{}: peft_type is {}; only LORA adapters can be read", name, faceter::quoted(type));
    for (const char* key : {"use_dora", "use_qalora", "use_bdlora", "fan_in_fan_out", "lora_bias", "modules_to_save", "rank_pattern",
                            "alpha_pattern", "layer_replication", "target_parameters", "trainable_token_indices", "alora_invocation_tokens",
                            "arrow_config", "kasa_config", "monteclora_config"}) {
        const Json value = config.contains(key) ? config.at(key) : Json();
        const bool off =
            value.is_null() || (value.is_boolean() && !value.get<bool>()) || ((value.is_object() || value.is_array()) && value.empty());
        if (!off)
            throw data_error("{}: {} is {}, which is not supported; merge the adapter into its model with PEFT and use that", name, key,
                             faceter::quoted(value.dump()));
    }
    const auto bias = json_or<std::string>(config, "bias", "none", name);
    if (bias != "none") throw data_error("{}: bias is {}; only adapters without trained biases can be read", name, faceter::quoted(bias));
}

/// PiSSA, OLoRA, CorDA, LoftQ and LoRA-GA begin with a part of the base model's weights, which PEFT takes out of these when it opens the
/// adapter.
void refuse_changed_base(const Json& config, const std::string& name) {
    constexpr std::array<std::string_view, 4> beside_base = {"gaussian", "orthogonal", "eva", "mica"};
    const Json init = json_or<Json>(config, "init_lora_weights", true, name);
    const std::string text = init.is_string() ? lowercase_ascii(init.get<std::string>()) : "";
    if (!init.is_boolean() && std::find(beside_base.begin(), beside_base.end(), text) == beside_base.end())
        throw data_error(
            "{}: init_lora_weights is {}, by which PEFT changes the base model's weights as well, which is not supported; save the adapter "
            "as "
            "plain LoRA (save_pretrained() with path_initial_model_for_weight_conversion), or merge it into its model with PEFT and use "
            "that",
            name, faceter::quoted(init.dump()));
}

AdapterConfig read_config(const std::filesystem::path& file) {
    const std::string name = file.string();
    const Json json = read_json(file, 1 << 20);
    if (!json.is_object()) throw data_error("{}: is no JSON object", name);
    refuse_other_forms(json, name);
    refuse_changed_base(json, name);
    AdapterConfig config;
    config.rank = json_at<std::int64_t>(json, "r", name);
    config.alpha = json_at<double>(json, "lora_alpha", name);
    config.dropout = json_or<double>(json, "lora_dropout", 0, name);
    config.rank_stabilised = json_or<bool>(json, "use_rslora", false, name);
    config.base_model = json_or<std::string>(json, "base_model_name_or_path", "", name);
    if (config.rank < 1 || config.rank > largest_rank) throw data_error("{}: r is {}; expected 1 to {}", name, config.rank, largest_rank);
    if (!std::isfinite(config.alpha)) throw data_error("{}: lora_alpha is not finite", name);
    if (!(config.dropout >= 0 && config.dropout < 1)) throw data_error("{}: lora_dropout is {}; expected 0 to 1", name, config.dropout);
    const Json targets = json_or<Json>(json, "target_modules", Json::array(), name);
    if (targets.is_string())
        config.targets = {
            targets.get<std::string>()};  // "all-linear" or a regular expression: which layers there are is read from the tensors
    else
        config.targets = json_or<std::vector<std::string>>(json, "target_modules", {}, name);
    return config;
}

/// The layer that a tensor belongs to, and whether it is a table of embeddings.
std::pair<bool, std::string> module_of(const std::string& tensor, const std::string& file) {
    constexpr std::size_t front = std::string_view(prefix).size();
    for (const bool table : {false, true})
        for (const char part : {'A', 'B'})
            if (const std::string ending = adapter_ending(part, table); tensor.starts_with(prefix) && tensor.ends_with(ending))
                return {table, tensor.substr(front, tensor.size() - front - ending.size())};
    throw data_error(
        "{}: tensor {} is no part of a plain LoRA adapter; expected names such as {}encoder.layer.0.attention.self.query.lora_A.weight",
        file, faceter::quoted(tensor, 160), prefix);
}

}  // namespace

double AdapterConfig::scale() const {
    return rank_stabilised ? alpha / std::sqrt(static_cast<double>(rank)) : alpha / static_cast<double>(rank);
}

std::string adapter_ending(char part, bool table) {
    return table ? fmt::format(".lora_embedding_{}", part) : fmt::format(".lora_{}.weight", part);
}
std::string adapter_tensor_name(const std::string& module, char part) { return prefix + module + adapter_ending(part, false); }
std::string table_tensor_name(const std::string& module, char part) { return prefix + module + adapter_ending(part, true); }

bool is_adapter_target(const std::string& module, const std::vector<std::string>& targets) {
    return std::any_of(targets.begin(), targets.end(), [&](const std::string& target) {
        return target == "all-linear" || module == target || module.ends_with("." + target);
    });
}

AdapterFolder AdapterFolder::open(const std::filesystem::path& folder) {
    if (!std::filesystem::is_directory(folder))
        throw data_error("{}: is no folder; expected a PEFT adapter (adapter_config.json, adapter_model.safetensors)", folder.string());
    const std::filesystem::path file = folder / "adapter_model.safetensors";
    const AdapterConfig config = read_config(folder / "adapter_config.json");
    if (!std::filesystem::exists(file) && std::filesystem::exists(folder / "adapter_model.bin"))
        throw data_error(
            "{}: holds adapter_model.bin, a pickle, which is not opened (it can run code); save it with safe_serialization=True",
            folder.string());
    AdapterFolder opened{folder, config, Weights(std::vector<std::filesystem::path>{file}), {}, {}};
    std::set<std::pair<bool, std::string>> layers;
    for (const std::string& tensor : opened.weights.names()) layers.insert(module_of(tensor, file.string()));
    for (const auto& [table, module] : layers) {
        const auto name = table ? table_tensor_name : adapter_tensor_name;
        const TensorInfo &a = opened.weights.at(name(module, 'A')), &b = opened.weights.at(name(module, 'B'));
        for (const auto& [info, ranked] : {std::pair(&a, 0), std::pair(&b, 1)})
            if (info->shape.size() != 2 || info->shape[static_cast<std::size_t>(ranked)] != config.rank)
                throw data_error("{}: tensor '{}' has shape [{}]; with r = {} its {} is expected to be {}", file.string(), info->name,
                                 fmt::join(info->shape, ", "), config.rank, ranked ? "second size" : "first size", config.rank);
        (table ? opened.tables : opened.modules).push_back(module);
    }
    if (layers.empty()) throw data_error("{}: holds no tensors", file.string());
    return opened;
}

void write_adapter_config(const std::filesystem::path& folder, const AdapterConfig& config) {
    const Json json = {{"base_model_name_or_path", config.base_model},
                       {"bias", "none"},
                       {"fan_in_fan_out", false},
                       {"inference_mode", true},
                       {"init_lora_weights", true},
                       {"lora_alpha", config.alpha},
                       {"lora_dropout", config.dropout},
                       {"modules_to_save", nullptr},
                       {"peft_type", "LORA"},
                       {"r", config.rank},
                       {"target_modules", config.targets},
                       {"task_type", "FEATURE_EXTRACTION"},
                       {"use_dora", false},
                       {"use_rslora", config.rank_stabilised}};
    write_file_atomic(folder / "adapter_config.json", json.dump(2) + "\n");
}

}  // namespace faceter
