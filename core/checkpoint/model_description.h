#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"

namespace faceter {

/// What a model is made of beyond its config.json: faceter.json beside it. A folder without that file is one dense encoder, or what its
/// config.json says.
struct ModelDescription {
    /// A block as it differs from config.json's.
    struct BlockShape {
        int task_experts = 0;       ///< 0: none; their tensors are "<block>experts.E.<name>", the dense block's stand beside them
        bool shared_norms = false;  ///< task experts own only their MLP
        std::int64_t routed_experts = 0, top_k = 1;  ///< experts picked by token; 0: none
        bool renormalise = false;
    };
    struct RouteShape {
        std::string instruction;
        int encoder = 0, expert = -1, adapter = -1;  ///< -1: the dense block, no adapter
        bool routed = false;                         ///< the model's router chooses the adapter of each text
    };
    struct TaskShape {
        std::string name, type;
        RouteShape query, document;
    };

    int num_encoders = 1;               ///< of several, tensors are "encoders.N.<name>"
    std::vector<BlockShape> blocks;     ///< of every encoder; empty: as config.json says
    std::vector<std::string> adapters;  ///< names; the i-th lies in adapters/i as PEFT keeps it
    std::vector<TaskShape> tasks;

    /// Whether a plain Hugging Face folder says all of it.
    bool is_plain() const;
    bool has_task_experts() const;
    bool has_routed_blocks() const;

    Json to_json() const;
    /// Errors (data): a member that is missing, of another type or beyond the others. `name`: the file's.
    static ModelDescription from_json(const Json& json, std::string_view name);
    /// Of faceter.json in `folder`; nothing where there is none.
    static std::optional<ModelDescription> read(const std::filesystem::path& folder);
};

inline constexpr const char* model_description_file = "faceter.json";

}  // namespace faceter
