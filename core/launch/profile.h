#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"
#include "common/json.h"
#include "settings/schema.h"

namespace faceter {

/// Where and how runs are started besides on this machine: a YAML file of the user's own configuration. What a project or a run folder
/// holds is never read as a profile, since a profile says what is executed.
struct Profile {
    std::string name;
    fs::path file;
    std::string kind;  ///< slurm or ssh
    Json settings;     ///< profile_schema(kind), defaults filled in
    /// Of each run, which train together.
    int processes() const;
};

/// $XDG_CONFIG_HOME/faceter/profiles, else ~/.config/faceter/profiles.
fs::path profile_folder();
/// Names of the files there, sorted; whether they can be read is another matter.
std::vector<std::string> profile_names();
/// What a list of profiles shows.
struct ProfileSummary {
    std::string name, kind, where, description;  ///< where: "partition gpu", or the host
    std::string error;                           ///< why it cannot be used; the others are empty then
};
std::vector<ProfileSummary> profile_summaries();
/// Errors: usage (no such profile, with the nearest), settings (file:line:column of everything that is wrong, or a file that others may
/// write).
Profile read_profile(std::string_view name);
/// Everything from outside that reaches a shell, sbatch or ssh is held to a strict pattern here; control characters are refused everywhere.
Profile parse_profile(std::string_view text, const fs::path& file);

Schema slurm_profile_schema();
Schema ssh_profile_schema();
/// A commented profile to start from (resources/profiles). Usage error for an unknown kind.
std::string profile_template(std::string_view kind);

}  // namespace faceter
