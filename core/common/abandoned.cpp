#include "common/abandoned.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "common/strings.h"

namespace faceter {
namespace {

/// PID or PID-N; 0 where it is neither.
pid_t process_in(std::string_view ending) {
    const auto process = parse_int(ending.substr(0, ending.find('-')));
    const bool plain = std::all_of(ending.begin(), ending.end(), [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
    return plain && process && *process > 0 && *process < INT32_MAX ? static_cast<pid_t>(*process) : 0;
}

/// The process that wrote what has this name, for a place of that name; 0 where it is something else.
pid_t writer_of(std::string_view name, const std::string& place) {
    for (const std::string& beginning : {place + ".tmp-", "." + place + ".tmp-"})
        if (name.starts_with(beginning)) return process_in(name.substr(beginning.size()));
    return 0;
}

bool is_gone(pid_t process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

bool is_old(const fs::path& path) {
    std::error_code error;
    auto newest = fs::last_write_time(path, error);
    if (!error && fs::is_directory(fs::symlink_status(path)))
        for (const auto& entry : fs::recursive_directory_iterator(path)) newest = std::max(newest, entry.last_write_time());
    return !error && fs::file_time_type::clock::now() - newest > std::chrono::hours(1);
}

void remove_abandoned_in(const fs::path& folder, const std::string& place) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) try {
            const pid_t writer = writer_of(it->path().filename().string(), place);
            if (writer > 0 && is_gone(writer) && is_old(it->path())) remove_tree(it->path());
        } catch (const std::exception&) {  // somebody else's, or just going: what is written now is written all the same
        }
}

}  // namespace

void remove_abandoned(const fs::path& place) {
    const fs::path whole = absolute_path(place);
    const std::string name = whole.filename().string();
    if (name.empty()) return;
    remove_abandoned_in(whole.parent_path(), name);
    std::error_code ignored;
    if (fs::is_directory(whole, ignored)) remove_abandoned_in(whole, name);
}

}  // namespace faceter
