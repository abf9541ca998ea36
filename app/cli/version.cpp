#include "cli/version.h"

#include <fmt/format.h>

#include "common/build_commit.h"
#include "common/strings.h"

namespace faceter::cli {
namespace {

#ifdef __clang__
constexpr const char* compiler = "clang " __clang_version__;
#else
constexpr const char* compiler = "g++ " __VERSION__;
#endif

}  // namespace

std::string version_text(const PluginList& plugins) {
    std::vector<std::string> names;
    for (const Manifest& plugin : plugins.manifests) names.push_back(plugin.id + " " + plugin.version);
    std::string text = fmt::format("faceter {}\n", FACETER_VERSION);
    if (*build_commit) text += fmt::format("commit    {}\n", build_commit);
    text += fmt::format("libtorch  {}\ncompiler  {}\nplugins   {}", FACETER_BUILT_FOR_TORCH, compiler,
                        names.empty() ? "none" : join(names, ", "));
    for (const RejectedPlugin& plugin : plugins.rejected) text += fmt::format("\nleft out  {}: {}", plugin.file.string(), plugin.reason);
    return text;
}

}  // namespace faceter::cli
