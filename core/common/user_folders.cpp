#include "common/user_folders.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "common/error.h"

namespace faceter {

fs::path home_folder() {
    if (const char* home = std::getenv("HOME"); home && *home) return home;
    std::string room(1 << 14, '\0');
    passwd user{}, *found = nullptr;
    if (::getpwuid_r(::geteuid(), &user, room.data(), room.size(), &found) != 0 || !found || !user.pw_dir) return {};
    return user.pw_dir;
}

fs::path temporary_folder() {
    std::error_code error;
    const fs::path folder = fs::temp_directory_path(error);
    if (!error) return folder;
    const char* set = std::getenv("TMPDIR");
    throw failure("{}: no folder for temporary files: {}; set TMPDIR to one", set ? set : "/tmp", errno_text(error.value()));
}

}  // namespace faceter
