#include "data/debian_lists.h"

#include <algorithm>
#include <map>

#include "common/error.h"
#include "common/hash.h"
#include "common/strings.h"
#include "data/child_process.h"
#include "data/input_stream.h"

namespace faceter {
namespace {

constexpr std::uint64_t max_list_bytes = std::uint64_t(1) << 30;

std::string without_packing(const std::string& name) {
    for (const std::string_view ending : {".lz4", ".xz", ".gz", ".zst", ".bz2", ".lzma"})
        if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
    return name;
}

/// What an InRelease or Release file says about its suite.
struct Release {
    std::string prefix;  ///< the lists' names begin so
    std::string origin, suite, codename, date;
};

std::string header_value(std::string_view text, std::string_view key) {
    for (const std::string_view line : split(text, '\n'))
        if (line.starts_with(key) && line.substr(key.size()).starts_with(':')) return std::string(trim(line.substr(key.size() + 1)));
    return {};
}

std::vector<Release> read_releases(const fs::path& folder) {
    std::vector<Release> releases;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        for (const std::string_view ending : {"_InRelease", "_Release"}) {
            if (!name.ends_with(ending) || !entry.is_regular_file()) continue;
            const std::string head = read_file(entry.path(), 1 << 26).substr(0, 4096);
            releases.push_back({name.substr(0, name.size() - ending.size() + 1), header_value(head, "Origin"), header_value(head, "Suite"),
                                header_value(head, "Codename"), header_value(head, "Date")});
        }
    }
    std::sort(releases.begin(), releases.end(), [](const Release& a, const Release& b) { return a.prefix < b.prefix; });
    return releases;
}

const Release* release_of(const std::vector<Release>& releases, const std::string& name) {
    for (const Release& release : releases)
        if (name.starts_with(release.prefix)) return &release;
    return nullptr;
}

bool is_base_suite(const Release* release) {
    if (!release || (release->origin != "Debian" && release->origin != "Ubuntu")) return false;
    const std::string names = release->suite + " " + release->codename;
    static constexpr std::string_view pockets[] = {"-security", "-updates", "-backports", "-proposed"};
    return std::none_of(std::begin(pockets), std::end(pockets),
                        [&](std::string_view pocket) { return names.find(pocket) != std::string::npos; });
}

/// All files of the folder whose name without packing ends so, by name.
std::vector<fs::path> files_ending(const fs::path& folder, std::string_view ending) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.is_regular_file() && without_packing(entry.path().filename().string()).ends_with(ending)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

/// Keeps the files of base suites, where there are any; returns how many were left aside.
std::size_t keep_base_suites(std::vector<fs::path>& files, const std::vector<Release>& releases) {
    std::vector<fs::path> base;
    for (const fs::path& file : files)
        if (is_base_suite(release_of(releases, file.filename().string()))) base.push_back(file);
    if (base.empty()) return 0;
    const std::size_t aside = files.size() - base.size();
    files = std::move(base);
    return aside;
}

Json describe_files(const DebianLists& lists) {
    Json files = Json::array();
    Sha256 all;
    for (const auto* group : {&lists.packages, &lists.translations})
        for (const fs::path& file : *group) {
            const std::string hash = sha256_file(file);
            all.update(hash);
            files.push_back({{"name", file.filename().string()}, {"bytes", fs::file_size(file)}, {"sha256", hash}});
        }
    return {{"sha256", all.finish()}, {"files", files}};
}

}  // namespace

DebianLists find_debian_lists(const fs::path& folder) {
    if (!fs::is_directory(folder))
        throw data_error("{}: no such folder; a folder with the package lists of apt is expected", folder.string());
    DebianLists lists;
    lists.folder = folder;
    lists.packages = files_ending(folder, "_Packages");
    lists.translations = files_ending(folder, "_Translation-en");
    if (lists.packages.empty()) throw data_error("{}: no list of packages (*_Packages) in this folder", folder.string());
    const auto releases = read_releases(folder);
    const std::size_t aside = keep_base_suites(lists.packages, releases) + keep_base_suites(lists.translations, releases);
    Json suites = Json::array();
    for (const Release& release : releases)
        if (std::any_of(lists.packages.begin(), lists.packages.end(),
                        [&](const fs::path& file) { return file.filename().string().starts_with(release.prefix); }))
            suites.push_back(
                {{"origin", release.origin}, {"suite", release.suite}, {"codename", release.codename}, {"date", release.date}});
    lists.card = {{"folder", folder.string()}, {"suites", suites}, {"lists_left_aside", aside}};
    lists.card.update(describe_files(lists));
    return lists;
}

std::string read_debian_list(const fs::path& file) {
    const std::string ending = file.extension().string();
    if (ending == ".lz4" || ending == ".xz" || ending == ".bz2" || ending == ".lzma") {
        ChildResult result = run_child({"/usr/lib/apt/apt-helper", "cat-file", file.string()}, std::chrono::seconds(120), max_list_bytes);
        if (result.exit_code == 127)
            throw data_error(
                "{}: apt-helper (of apt) is needed to read this file and is not on this machine; decompress the file beforehand",
                file.string());
        if (result.exit_code != 0)
            throw data_error("{}: apt-helper cannot read it: {}", file.string(), faceter::quoted(trim(result.last_lines), 300));
        return std::move(result.output);
    }
    const auto input = InputStream::open(file);
    std::string content;
    std::vector<char> piece(1 << 16);
    while (const std::size_t got = input->read(piece.data(), piece.size())) {
        content.append(piece.data(), got);
        if (content.size() > max_list_bytes) throw data_error("{}: larger than {}", file.string(), format_bytes(max_list_bytes));
    }
    return content;
}

}  // namespace faceter
