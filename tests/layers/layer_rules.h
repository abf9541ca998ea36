#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/file.h"

namespace faceter::layers {

/// A folder of core/ as core/layers.txt describes it.
struct Layer {
    std::string library;            ///< base (no Qt, no torch) or learn (torch, no Qt)
    std::set<std::string> may_use;  ///< folders of core/, itself included
};
using LayerTable = std::map<std::string, Layer>;

/// Throws where a line is not `library folder: folders`, a name is unknown, or a folder uses one that comes after it.
LayerTable read_layers(const fs::path& file);

/// Every C++ source and header below `folder`, in order.
std::vector<fs::path> sources_in(const fs::path& folder);

/// One sentence for each #include of core/, plugins/ and app/ under `root` that the table does not allow.
std::vector<std::string> include_violations(const fs::path& root);

/// One sentence for each line of core/, plugins/ and app/ outside of core/common that parses JSON without the limits of
/// common/json.h and common/untrusted_json.h.
std::vector<std::string> raw_json_parsing(const fs::path& root);

/// One sentence for each place of a plugin (and of the templates that new ones begin with) that reads one of its declared settings, or one
/// whose name is not written out, with a default of its own: `json_or(settings, "rank", 8, ...)`, `settings.value("rank", 8)`.
std::vector<std::string> repeated_defaults(const fs::path& root);
/// The same of core and the programs, for what core's own schemas declare, null no value of it, and for the run's seed. "" and {} say that
/// there is none, and are no default; a key that one schema declares so and another not (hard_negatives) counts in a read of "objective" or
/// "curriculum".
std::vector<std::string> repeated_core_defaults(const fs::path& root);

/// One sentence for each folder of core/, plugins/ and app/ without a README.md.
std::vector<std::string> missing_readmes(const fs::path& root);

/// One sentence for each source file with more than `limit` lines.
std::vector<std::string> long_files(const fs::path& root, const std::vector<fs::path>& files, std::size_t limit);

/// One sentence for each file of more than `limit` bytes.
std::vector<std::string> large_files(const fs::path& root, const std::vector<fs::path>& files, std::uintmax_t limit);

}  // namespace faceter::layers
