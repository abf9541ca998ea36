#include "evaluation_names.h"

#include <map>

#include "common/error.h"
#include "common/file.h"
#include "common/file_name.h"

namespace faceter::worker {
namespace {

/// The last `parts` parts of a path: "en/sts".
std::string path_ending(const fs::path& path, std::size_t parts) {
    fs::path ending, rest = path;
    for (std::size_t i = 0; i < parts && rest.has_relative_path(); ++i, rest = rest.parent_path())
        ending = ending.empty() ? rest.filename() : rest.filename() / ending;
    return ending.string();
}

bool is_whole(const std::string& ending, const fs::path& path) { return ending.size() + 1 >= path.string().size(); }

}  // namespace

void name_apart(std::vector<Json>& entries) {
    std::vector<std::size_t> parts(entries.size(), 1);
    const auto path_of = [&](std::size_t i) { return fs::path(entries[i].at("path").get<std::string>()); };
    const auto name_of = [&](std::size_t i) {
        return entries[i].contains("name") ? entries[i]["name"].get<std::string>() : path_ending(path_of(i), parts[i]);
    };
    for (bool apart = false; !apart;) {
        std::map<std::string, std::vector<std::size_t>> by_file;
        for (std::size_t i = 0; i < entries.size(); ++i) by_file[safe_file_name(name_of(i))].push_back(i);
        apart = true;
        for (const auto& [file, members] : by_file) {
            if (members.size() < 2) continue;
            apart = false;
            bool longer = false;
            for (const std::size_t i : members)
                if (!entries[i].contains("name") && !is_whole(name_of(i), path_of(i))) longer = ++parts[i];
            if (!longer)
                throw usage_error("{} and {} cannot be told apart by a name; name each folder once", path_of(members[0]).string(),
                                  path_of(members[1]).string());
        }
    }
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i]["name"] = name_of(i);
}

}  // namespace faceter::worker
