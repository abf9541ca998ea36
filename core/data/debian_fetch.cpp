#include <unistd.h>

#include "common/error.h"
#include "common/lock_file.h"
#include "common/strings.h"
#include "data/child_process.h"
#include "data/debian_lists.h"

namespace faceter {
namespace {

/// What apt-get update may do: fetch package lists and English descriptions into a private folder, and nothing else. The hooks that
/// machines run after an update, caches beside the lists, and the optional lists (file contents, icons) are switched off.
constexpr std::string_view apt_configuration = R"(#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear Acquire::Languages;
Acquire::Languages { "en"; };
Acquire::Retries "2";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons-large::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons-hidpi::DefaultEnabled "false";
Acquire::IndexTargets::deb::CNF::DefaultEnabled "false";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
)";

/// "debian-bookworm", "ubuntu-noble": the machine's distribution, for the folder's name.
std::string distribution() {
    std::string id = "unknown", codename = "unknown";
    for (const char* file : {"/etc/os-release", "/usr/lib/os-release"}) {
        if (!fs::is_regular_file(file)) continue;
        const std::string content = read_file(file, 1 << 16);
        for (std::string_view line : split(content, '\n')) {
            std::string value;
            for (const char c : line.substr(std::min(line.find('=') + 1, line.size())))
                if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) value += c;
            if (line.starts_with("ID=")) id = value;
            if (line.starts_with("VERSION_CODENAME=")) codename = value;
        }
        break;
    }
    return id + "-" + codename;
}

/// Empty where all went well, else what went wrong. apt-get ends with 0 even where it reached no mirror; what it says stands in `said`.
std::string fetch_with_apt(const fs::path& lists, std::string& said) {
    make_directories(lists / "partial");
    const fs::path configuration = lists.parent_path() / "apt.conf";
    write_file_atomic(configuration, apt_configuration);
    const ChildResult result =
        run_child({"apt-get", "-q", "-c", configuration.string(), "-o", "Dir::State::lists=" + lists.string(), "update"},
                  std::chrono::seconds(600), std::uint64_t(1) << 24);
    if (result.exit_code == 127) return "apt-get is not on this machine";
    said = faceter::quoted(trim(result.last_lines), 300);
    if (result.exit_code != 0) return fmt::format("apt-get update failed: {}", faceter::quoted(trim(result.last_lines), 600));
    return {};
}

/// Moves the lists that will be read, and the release files, into `target`; the rest stays behind.
void take_lists(const fs::path& from, const fs::path& target, bool copy) {
    make_directories(target);
    for (const auto& entry : fs::directory_iterator(from)) {
        const std::string name = entry.path().filename().string();
        const bool wanted = name.find("_Packages") != std::string::npos || name.find("_Translation-en") != std::string::npos ||
                            name.ends_with("_InRelease") || name.ends_with("_Release");
        if (!wanted || !entry.is_regular_file()) continue;
        if (copy)
            fs::copy_file(entry.path(), target / name, fs::copy_options::overwrite_existing);
        else
            fs::rename(entry.path(), target / name);
    }
}

/// The folder to pin, complete but for its final name.
void fill(const fs::path& work, const fs::path& target) {
    std::string said;
    std::string problem = fetch_with_apt(work / "lists", said);
    std::string how = "apt-get update";
    take_lists(work / "lists", target, false);
    const auto usable = [&] {
        try {
            return !find_debian_lists(target).translations.empty();
        } catch (const Error&) {
            return false;
        }
    };
    if (!usable() && fs::is_directory("/var/lib/apt/lists")) {
        take_lists("/var/lib/apt/lists", target, true);
        how = "copied from /var/lib/apt/lists";
    }
    if (!usable())
        throw data_error(
            "source debian: the package index could not be fetched ({}), and this machine has none with long descriptions; connect it to "
            "its "
            "package mirror, or fetch the lists on another machine and set path to their folder",
            problem.empty() ? "apt-get update brought no English descriptions; it said " + said : problem);
    DebianLists lists = find_debian_lists(target);
    lists.card.erase("folder");
    lists.card["fetched"] = utc_now();
    lists.card["fetched_with"] = how;
    if (!problem.empty()) lists.card["fetch_problem"] = problem;
    write_file_atomic(target / "index.json", lists.card.dump(1) + "\n");
}

}  // namespace

DebianLists pinned_debian_lists() {
    const fs::path root = cache_directory() / "debian", pinned = root / distribution();
    if (!fs::exists(pinned / "index.json")) {
        make_directories(root);
        LockFile lock(root / ".lock");
        lock.wait_unless_stopped("another process that fetches the package lists");
        if (!fs::exists(pinned / "index.json")) {
            const fs::path work = root / fmt::format(".fetch-{}", ::getpid());
            std::error_code ignored;
            try {
                fill(work, work / "pinned");
                fs::remove_all(pinned, ignored);
                rename_synced(work / "pinned", pinned);
            } catch (...) {
                fs::remove_all(work, ignored);
                throw;
            }
            fs::remove_all(work, ignored);
        }
    }
    const Json record = read_json(pinned / "index.json", 1 << 24);
    DebianLists lists = find_debian_lists(pinned);
    if (lists.card.at("sha256") != json_at<std::string>(record, "sha256", (pinned / "index.json").string()))
        throw data_error(
            "{}: these package lists are not those that were fetched (index.json has other hashes); remove the folder to fetch them again",
            pinned.string());
    lists.card.update(record);
    return lists;
}

}  // namespace faceter
