#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"

namespace faceter {

/// Short names of runs: VARIANT-N (a trial's VARIANT-smoke-N), as RouterRetriever-1, unique in a project whatever the case of letters.
///
/// PROJECT/names.jsonl holds a line a name: {"name": ..., "run": id}. Lines are only ever added, so that no name is given twice, also after
/// its run was deleted; where two lines give one name (two machines wrote without locks, two copies of a project were put together), the
/// earlier one holds. A run's own run.json keeps the name that it was made with; it has that name in another project as well where no other
/// run has it there.

struct RunInfo;

/// "mote" or "mote-s2" against a run's variant and seed, in any case of letters.
bool is_called(const RunInfo& run, std::string_view name);

/// What an id or a short name has of a name: as safe_file_name() has it, with one '-' for all in a row and neither '-' nor '.' at an end,
/// so that no command takes it for an option; at most `longest` bytes. Empty where nothing is left.
std::string word_of_name(std::string_view name, std::size_t longest);

struct NamedRun {
    std::string id, variant, created;
    bool smoke = false;
    std::string wished;  ///< the name that it has elsewhere; empty: none
};

/// The name of a run: what the project gave, else the wished one while it is free there, else empty.
std::string name_of_run(const fs::path& project, const std::string& id, const std::string& wished);
/// The names that were given to some ids; empty where none was.
std::vector<std::string> names_of_runs(const fs::path& project, const std::vector<std::string>& ids);
/// The id that a name was given to, in any case of letters; nothing where it was not given.
std::optional<std::string> id_of_name(const fs::path& project, std::string_view name);
/// Those of some runs that have not been given one.
std::vector<std::string> unnamed_runs(const fs::path& project, std::vector<std::string> ids);
/// Gives a name; the same again where the run has one.
std::string give_run_name(const fs::path& project, const NamedRun& run);
/// Gives names to several at once, by creation. Where the project cannot be written, they hold for this process alone: every process
/// derives the same.
void give_run_names(const fs::path& project, std::vector<NamedRun> runs);

}  // namespace faceter
