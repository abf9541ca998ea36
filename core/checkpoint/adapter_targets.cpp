#include "checkpoint/adapter_targets.h"

#include <algorithm>

#include "checkpoint/adapter_folder.h"
#include "common/error.h"
#include "common/strings.h"

namespace faceter {
namespace {

/// The last parts of the names, each once.
std::vector<std::string> ends_of(const std::vector<std::string>& modules) {
    std::vector<std::string> ends;
    for (const std::string& module : modules) {
        std::string end = module.substr(module.rfind('.') + 1);
        if (std::find(ends.begin(), ends.end(), end) == ends.end()) ends.push_back(std::move(end));
    }
    return ends;
}

}  // namespace

AdapterModules adapter_modules(const EncoderConfig& config) {
    const EncoderNames& names = config.names;
    AdapterModules modules;
    for (std::int64_t i = 0; i < config.num_layers; ++i) {
        const std::string block = fmt::format(fmt::runtime(names.block), i);
        for (const std::string& name : names.qkv) modules.linears.push_back(block + name);
        modules.linears.push_back(block + names.attention_output);
        if (config.is_routed(i)) continue;
        for (const std::string& name : names.up) modules.linears.push_back(block + name);
        modules.linears.push_back(block + names.down);
    }
    modules.tables.push_back(names.word);
    if (config.num_token_types > 0) modules.tables.push_back(names.token_type);
    return modules;
}

bool is_table_target(const std::string& module, const std::vector<std::string>& targets) {
    return std::any_of(targets.begin(), targets.end(),
                       [&](const std::string& target) { return target != "all-linear" && is_adapter_target(module, {target}); });
}

void require_adapter_targets(const std::vector<std::string>& targets, const AdapterModules& modules) {
    const auto any = [](const std::vector<std::string>& all, const auto& is) { return std::any_of(all.begin(), all.end(), is); };
    for (const std::string& target : targets) {
        if (any(modules.linears, [&](const std::string& module) { return is_adapter_target(module, {target}); }) ||
            any(modules.tables, [&](const std::string& module) { return is_table_target(module, {target}); }))
            continue;
        throw settings_error("no linear layer of the model is called {}{}", faceter::quoted(target),
                             suggestion(target, ends_of(modules.linears)));
    }
}

}  // namespace faceter
