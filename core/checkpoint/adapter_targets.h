#pragma once
#include <string>
#include <vector>

#include "checkpoint/encoder_config.h"

namespace faceter {

/// What of an encoder a low-rank adapter can change, as its checkpoint calls it: "encoder.layer.0.attention.self.query".
struct AdapterModules {
    std::vector<std::string> linears;  ///< without the MLPs of token-routed blocks
    std::vector<std::string> tables;   ///< of embeddings
};
AdapterModules adapter_modules(const EncoderConfig& config);

/// Whether a target is the table or the end of its name; "all-linear" means none, as in PEFT.
bool is_table_target(const std::string& module, const std::vector<std::string>& targets);

/// Errors (settings): a target that is none of them, with the last parts of their names.
void require_adapter_targets(const std::vector<std::string>& targets, const AdapterModules& modules);

}  // namespace faceter
