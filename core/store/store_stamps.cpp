#include "store/store_stamps.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstring>

#include "common/hash.h"

namespace faceter {
namespace {

constexpr std::int64_t settle_ns = 2'000'000'000;  // a file changed within this time may change again without another time stamp

void put_number(std::string& text, std::int64_t number, char after) {
    char digits[24];
    char* const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    text.append(digits, end);
    text += after;
}

void put_stamp(int directory, const char* path, std::int64_t since, std::string& text, bool& settled) {
    struct stat info {};
    if (::fstatat(directory, path, &info, 0) != 0) {
        text += "-;";
        return;
    }
    const std::int64_t changed = static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
    if (changed > since - settle_ns) settled = false;
    put_number(text, changed, '/');
    put_number(text, info.st_size, ';');
}

/// A folder and each file in it: one that is rewritten in its place, as by cp, leaves its folder's time as it was.
void put_files(int directory, const char* path, std::int64_t since, std::string& text, bool& settled) {
    put_stamp(directory, path, since, text, settled);
    const int folder = ::openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* const entries = folder < 0 ? nullptr : ::fdopendir(folder);
    if (!entries) {
        if (folder >= 0) ::close(folder);
        return;
    }
    std::uint64_t sum = 0;  // they come in no order
    while (const dirent* const entry = ::readdir(entries)) {
        if (entry->d_name[0] == '.') continue;
        std::string file = std::string(entry->d_name) + '/';
        put_stamp(folder, entry->d_name, since, file, settled);
        sum += hash64(file);
    }
    ::closedir(entries);
    put_number(text, static_cast<std::int64_t>(sum), ';');
}

}  // namespace

std::int64_t now_ns() {
    struct timespec now {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

RunStamps stamps_of(int directory, const std::string& folder, int attempt, std::int64_t reading_since) {
    RunStamps stamps;
    stamps.settled = true;
    std::string path = folder + "/", newest = "journal/";
    put_number(newest, attempt, '/');
    const std::size_t stem = path.size();
    const auto look = [&](std::string_view part, std::string& text) {
        path.resize(stem);
        path += part;
        put_stamp(directory, path.c_str(), reading_since, text, stamps.settled);
    };
    path += "results";
    put_files(directory, path.c_str(), reading_since, stamps.results, stamps.settled);
    look("tables", stamps.documents);
    look("figures", stamps.documents);
    look("run.json", stamps.record);
    stamps.all = stamps.record + stamps.results + stamps.documents;
    look("journal", stamps.all);
    look(newest, stamps.all);
    look(newest + "rank-0.jsonl", stamps.all);
    look("user.jsonl", stamps.all);
    for (const char* part : {"control/job.json", "control/supervisor.json", "control/submission"}) look(part, stamps.all);
    return stamps;
}

std::string folder_stamp(const std::string& folder, bool& settled) {
    std::string text;
    put_stamp(AT_FDCWD, folder.c_str(), now_ns(), text, settled);
    return text;
}

}  // namespace faceter
