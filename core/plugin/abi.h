#pragma once
#include <cstdint>
#include <string>

/// The interface number, raised with every change of what a plugin sees.
#define FACETER_PLUGIN_ABI 3u
#define FACETER_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))

namespace faceter {
class Registry;
inline constexpr std::uint32_t plugin_abi = FACETER_PLUGIN_ABI;

/// What must agree between a plugin and the program that loads it: compiler ABI, libtorch, Faceter and sanitizers, as one text of
/// "name=value" fields, so that a mismatch can name the field.
std::string build_fingerprint();

}  // namespace faceter

/// What `faceter_plugin_entry` returns: plain C, checked field by field before any C++ of the plugin runs.
struct faceter_plugin {
    std::uint64_t size;       ///< sizeof(faceter_plugin)
    std::uint32_t abi;        ///< FACETER_PLUGIN_ABI
    const char* id;           ///< the manifest's id
    const char* fingerprint;  ///< faceter::build_fingerprint() of the plugin's build
    void (*register_extensions)(faceter::Registry& registry);
};

/// Defines the entry of a plugin (include plugin/fingerprint.h too): FACETER_PLUGIN("mote", [](faceter::Registry& registry) { ... })
#define FACETER_PLUGIN(ID, ...)                                                                                                        \
    FACETER_PLUGIN_EXPORT const faceter_plugin* faceter_plugin_entry() {                                                               \
        static const faceter_plugin plugin = {sizeof(faceter_plugin), FACETER_PLUGIN_ABI, ID, FACETER_BUILD_FINGERPRINT, __VA_ARGS__}; \
        return &plugin;                                                                                                                \
    }
