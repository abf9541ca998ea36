#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "checkpoint/weights.h"

namespace faceter {

/// A low-rank adapter's form (LoRA, Hu et al., 2022, section 4.1): h = W x + scale * B A dropout(x), A [rank, in], B [out, rank].
struct AdapterConfig {
    std::int64_t rank = 8;
    double alpha = 16;
    double dropout = 0;            ///< of x, in training
    bool rank_stabilised = false;  ///< scale = alpha / sqrt(rank) instead of alpha / rank (PEFT's use_rslora)
    std::vector<std::string>
        targets;  ///< ends of the names of the linear layers that have one ("query"), or "all-linear"; empty: query and value of attention
    std::string base_model;  ///< what the adapter was trained on: a folder or a hub name; may be empty
    double scale() const;
};

/// A folder as PEFT writes it: adapter_config.json and adapter_model.safetensors.
struct AdapterFolder {
    std::filesystem::path folder;
    AdapterConfig config;
    Weights weights;
    std::vector<std::string> modules;  ///< the linear layers that have an update, as their checkpoint calls them
                                       ///< ("encoder.layer.0.attention.self.query"), sorted
    std::vector<std::string> tables;   ///< the same of tables of embeddings ("embeddings.word_embeddings")

    /// Throws a data error: a file missing or broken; a kind of adapter other than plain LoRA (DoRA, trained biases, ranks by layer ...),
    /// named; tensors that do not come in pairs A and B of the rank that the configuration says.
    static AdapterFolder open(const std::filesystem::path& folder);
};

/// What PEFT puts behind the name of a layer for its A ('A') or B ('B'): ".lora_A.weight", of a table ".lora_embedding_A".
std::string adapter_ending(char part, bool table);
/// The name of A or B of a linear layer in adapter_model.safetensors, and of a table of embeddings.
std::string adapter_tensor_name(const std::string& module, char part);
std::string table_tensor_name(const std::string& module, char part);
/// Writes adapter_config.json into `folder`, which must exist. `targets` are written as they are.
void write_adapter_config(const std::filesystem::path& folder, const AdapterConfig& config);
/// PEFT's rule: `module` is the target, or ends with "." and the target; "all-linear" is every one.
bool is_adapter_target(const std::string& module, const std::vector<std::string>& targets);

}  // namespace faceter
