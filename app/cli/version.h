#pragma once
#include <string>

#include "experiment/manifest.h"

namespace faceter::cli {

/// The commit that was built, with "-dirty" where files differed from it; empty: not from a checkout. In a file of its own that each build
/// writes where it changed (packaging/cmake/write_commit.cmake), so that nothing else is compiled again.
extern const char* const build_commit;

/// What `faceter --version` prints: version, commit, the libtorch and the compiler that it was built with, plugins.
std::string version_text(const PluginList& plugins);

}  // namespace faceter::cli
