#pragma once

namespace faceter {

/// The commit that the running program was built from, with "-dirty" where files differed from it; empty: not from a checkout. Each program
/// of app/ has its own (packaging/cmake/write_commit.cmake), in a file that is written only where it changed: a library that had it would
/// be linked anew with every commit, and all tests with it.
extern const char* const build_commit;

}  // namespace faceter
