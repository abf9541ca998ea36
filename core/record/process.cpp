#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <limits>

#include <fmt/format.h>

#include "common/hash.h"
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

const std::string& boot_id() {
    static const std::string id = small_file("/proc/sys/kernel/random/boot_id");
    return id;
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
    return fmt::format("{}:{}", boot_id(), fields[start_time]);
}

/// Another user's, where /proc is mounted with hidepid: only that there is one can be told.
bool is_hidden(std::int64_t pid) {
    if (pid > std::numeric_limits<pid_t>::max() || !process_stat(pid).empty()) return false;
    return ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == EPERM;
}

/// The id itself is not for others to see (machine-id(5)), and runs are passed on.
const std::string& machine_hash() {
    static const std::string id = small_file("/etc/machine-id");
    static const std::string hash = id.empty() ? "" : sha256_hex("faceter " + id).substr(0, 32);
    return hash;
}

std::string pid_namespace_name() {
    std::error_code error;
    const fs::path name = fs::read_symlink("/proc/self/ns/pid", error);
    return error ? "" : name.string();
}

std::string text_member(const Json& json, const char* key) {
    return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

}  // namespace

ProcessIdentity ProcessIdentity::own() {
    return {host_name(), ::getpid(), process_start(::getpid()), machine_hash(), pid_namespace_name()};
}

ProcessIdentity ProcessIdentity::from_json(const Json& json) {
    ProcessIdentity process{text_member(json, "host"), 0, text_member(json, "pid_start"), text_member(json, "machine_id"),
                            text_member(json, "pid_namespace")};
    if (json.is_object() && json.contains("pid") && json["pid"].is_number_integer()) process.pid = json["pid"];
    return process;
}

Json ProcessIdentity::to_json() const {
    return {{"host", host}, {"pid", pid}, {"pid_start", start}, {"machine_id", machine}, {"pid_namespace", pid_namespace}};
}

bool ProcessIdentity::shares_kernel() const { return !boot_id().empty() && start.starts_with(boot_id() + ":"); }

bool ProcessIdentity::on_this_machine() const {
    if (shares_kernel() && !pid_namespace.empty()) return pid_namespace == pid_namespace_name();
    const std::string& here = machine_hash();
    return host == host_name() && (machine.empty() || here.empty() || machine == here);
}

bool ProcessIdentity::alive() const {
    if (pid <= 0 || start.empty()) return false;
    return process_start(pid) == start || (shares_kernel() && is_hidden(pid));
}

}  // namespace faceter
