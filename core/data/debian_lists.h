#pragma once
#include <string>
#include <vector>

#include "common/file.h"
#include "common/json.h"

namespace faceter {

/// Package lists of a Debian or Ubuntu machine, as apt keeps them: which files to read, and where they come from.
struct DebianLists {
    fs::path folder;
    std::vector<fs::path> packages;      ///< *_Packages[.lz4 ...], in the order of their names
    std::vector<fs::path> translations;  ///< *_Translation-en[.lz4 ...]
    Json card;                           ///< suites and their dates, sha256 of the files, when and how they came here
};

/// The lists in a folder. Only the base suites of Debian and Ubuntu are taken where there are such (security and update pockets change
/// daily, third-party archives differ from machine to machine); the card counts what was left aside. Throws a data error where there are
/// none with long descriptions.
DebianLists find_debian_lists(const fs::path& folder);

/// The lists that this machine pinned in the cache folder; the first time they are fetched there with apt-get, from the machine's own
/// package sources, with no system state touched. Where that fails the lists that apt keeps for itself are copied, if they have long
/// descriptions. Later runs see the same files, whatever the archive does; removing the folder that the card names fetches again.
DebianLists pinned_debian_lists();

/// The content of a list, whatever it is compressed with (apt-helper reads what zlib and zstd do not).
std::string read_debian_list(const fs::path& file);

}  // namespace faceter
