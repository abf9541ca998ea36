#include <unistd.h>

#include <cerrno>
#include <csignal>

#include <fmt/format.h>

#include "common/strings.h"
#include "record/journal.h"
#include "record/process_stat.h"

namespace faceter {
namespace {

std::string small_file(const fs::path& path) {
    try {
        return std::string(trim(read_file(path, 1 << 16)));
    } catch (const std::exception&) {
        return "";
    }
}

std::string host_name() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

}  // namespace

std::vector<std::string> process_stat(std::int64_t pid) {
    const std::string stat = small_file(fmt::format("/proc/{}/stat", pid));
    const std::size_t command_end = stat.rfind(')');
    if (command_end == std::string::npos) return {};
    std::vector<std::string> fields;
    for (const std::string_view field : split(std::string_view(stat).substr(std::min(command_end + 2, stat.size())), ' '))
        fields.emplace_back(field);
    return fields;
}

namespace {

/// Boot id and start time: together with the number, a name that no other process ever has. Empty where there is no such process.
std::string process_start(std::int64_t pid) {
    const auto fields = process_stat(pid);
    constexpr std::size_t state = 0, start_time = 19;  // fields 3 and 22 of proc(5), counted from behind the name
    if (fields.size() <= start_time || fields[state] == "Z" || fields[state] == "X") return "";
    return fmt::format("{}:{}", small_file("/proc/sys/kernel/random/boot_id"), fields[start_time]);
}

}  // namespace

ProcessIdentity ProcessIdentity::own() { return {host_name(), ::getpid(), process_start(::getpid())}; }

bool ProcessIdentity::on_this_machine() const { return host == host_name(); }

bool ProcessIdentity::alive() const { return pid > 0 && !start.empty() && process_start(pid) == start; }

}  // namespace faceter
