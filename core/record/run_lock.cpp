#include "record/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "common/error.h"
#include "common/printable.h"
#include "common/untrusted_json.h"
#include "record/journal.h"
#include "record/state.h"

namespace faceter {
namespace {

constexpr auto beat_interval = std::chrono::seconds(10);
constexpr double stale_s = 60;

fs::path lock_path(const RunDirectory& run) { return run.control() / "lock"; }
fs::path held_path(const RunDirectory& run) { return run.control() / "lock.held"; }

ProcessIdentity holder_of(const fs::path& held) { return ProcessIdentity::from_json(parse_untrusted_json(read_file(held, 1 << 16))); }

/// The holder whose process is gone for sure, or who has not touched it for a minute.
std::optional<ProcessIdentity> stale_holder(const RunDirectory& run, const fs::path& held) {
    try {
        const ProcessIdentity holder = holder_of(held);
        const bool gone = holder.on_this_machine() ? !holder.alive() : seconds_since_written(run, held) > stale_s;
        return gone ? std::optional(holder) : std::nullopt;
    } catch (const Error&) {
        return std::nullopt;  // just removed: the next attempt to make it tells
    }
}

bool is_held_by(const fs::path& held, const ProcessIdentity& holder) {
    try {
        return holder_of(held).to_json() == holder.to_json();
    } catch (const Error&) {
        return false;  // one that is just being written
    }
}

/// Where nobody has made one there meanwhile.
void put_back(const fs::path& from, const fs::path& held) {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, held.c_str(), RENAME_NOREPLACE) == 0) return;
    if (errno == EEXIST) return remove_file(from);
    rename_synced(from, held);  // a file system that cannot look and rename at once
}

/// Of several that find the same stale file one moves it away. One that another has put there since is his, and goes back.
void remove_stale(const fs::path& held, const ProcessIdentity& judged) {
    const fs::path mine = held.string() + fmt::format(".stale-{}", ::getpid());
    try {
        rename_synced(held, mine);
    } catch (const Error&) {
        return;  // it is gone already
    }
    if (is_held_by(mine, judged)) return remove_file(mine);
    put_back(mine, held);
}

bool make_held(const fs::path& held) {
    std::optional<OutputFile> file;
    try {
        file.emplace(held, OutputFile::Mode::exclusive);
    } catch (const Error&) {
        std::error_code ignored;
        if (fs::exists(held, ignored)) return false;
        throw;
    }
    file->write(ProcessIdentity::own().to_json().dump() + "\n");
    file->sync();
    file->close();
    return true;
}

}  // namespace

RunLock::RunLock(const RunDirectory& run) {
    make_directories(run.control());
    lock_.emplace(lock_path(run), LockFile::Children::inherit);
    const LockOutcome outcome = lock_->try_lock();
    if (outcome == LockOutcome::held) throw failure("{}: another worker is running it", run.info().id);
    if (outcome == LockOutcome::unsupported) hold_file(run);
}

void RunLock::hold_file(const RunDirectory& run) {
    const fs::path held = held_path(run);
    if (!make_held(held)) {
        const auto stale = stale_holder(run, held);
        if (!stale)
            throw failure("{}: another worker is running it (its file system has no locks; {} stands in and is touched)", run.info().id,
                          held.string());
        remove_stale(held, *stale);
        if (!make_held(held)) throw failure("{}: another worker has just begun to run it", run.info().id);
    }
    held_ = held;
    beaten_ = std::chrono::steady_clock::now();
    say(stderr, "warning: {}: this file system has no locks; {} stands in for one while this process lives\n", run.info().id,
        held.string());
}

RunLock::~RunLock() {
    std::error_code ignored;
    if (!held_.empty()) fs::remove(held_, ignored);
}

void RunLock::beat() {
    const auto now = std::chrono::steady_clock::now();
    if (held_.empty() || now - beaten_ < beat_interval) return;
    ::utimensat(AT_FDCWD, held_.c_str(), nullptr, 0);
    beaten_ = now;
}

bool is_run_locked(const RunDirectory& run) {
    std::error_code ignored;
    return is_locked(lock_path(run)) || (fs::exists(held_path(run), ignored) && !stale_holder(run, held_path(run)));
}

namespace {

/// The holder whose process is known to be gone.
std::optional<ProcessIdentity> dead_holder(const RunDirectory& run) {
    try {
        std::error_code ignored;
        if (!fs::exists(held_path(run), ignored)) return std::nullopt;
        const ProcessIdentity holder = holder_of(held_path(run));
        return holder.on_this_machine() && !holder.alive() ? std::optional(holder) : std::nullopt;
    } catch (const Error&) {
        return std::nullopt;  // just removed, or nothing that says whose it is
    }
}

}  // namespace

bool has_dead_lock(const RunDirectory& run) { return dead_holder(run).has_value(); }

void remove_dead_lock(const RunDirectory& run) {
    if (const auto holder = dead_holder(run)) remove_stale(held_path(run), *holder);
}

}  // namespace faceter
