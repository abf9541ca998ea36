#include "store/store_poll.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "common/error.h"
#include "common/hash.h"
#include "record/run_names.h"
#include "store/store.h"
#include "store/store_errors.h"
#include "store/store_stamps.h"

namespace faceter {
namespace {

constexpr std::size_t turns = 8;

/// Of ten thousand runs the stamps themselves are some MB.
std::uint64_t signature_of(std::string_view stamps) { return stamps.empty() ? 0 : std::max<std::uint64_t>(1, hash64(stamps)); }

bool is_live(RunPhase phase) { return phase == RunPhase::running || phase == RunPhase::silent; }

class OpenFolder {
  public:
    explicit OpenFolder(const fs::path& folder) : descriptor_(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}
    ~OpenFolder() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    OpenFolder(const OpenFolder&) = delete;
    OpenFolder& operator=(const OpenFolder&) = delete;
    int descriptor() const { return descriptor_; }

  private:
    int descriptor_;
};

}  // namespace

/// Another program (or another call) may have taken runs in since the last look.
void Poll::load_known() {
    if (counter_ != 0 && counter_ == store_.change_counter()) return;
    std::unordered_map<std::string, Known> rows;
    Statement stored(*store_.database_, "SELECT id, signature, attempt, phase FROM runs");
    while (stored.next()) {
        Known& known = rows[stored.text(0)];
        if (const auto before = known_.find(stored.text(0)); before != known_.end()) known = std::move(before->second);
        // None stands there of a run that another program was warned of, which was told here once.
        if (const std::uint64_t signature = signature_of(stored.text(1)); signature != 0) known.signature = signature;
        known.attempt = static_cast<int>(stored.integer(2));
        known.phase = static_cast<RunPhase>(stored.integer(3));
    }
    for (auto& [id, known] : known_)
        if (known.is_unusable() && !rows.contains(id)) rows.emplace(id, std::move(known));
    known_ = std::move(rows);
}

void Poll::list_runs(bool thorough, std::vector<std::string>& warnings) {
    bool settled = true;
    const Project project(store_.project_, false);
    const std::string stamp = folder_stamp(project.runs_folder().string(), settled);
    if (thorough || !settled || stamp != listed_) {
        project.name_runs();
        ids_ = project.run_ids();
        listed_ = settled ? stamp : "";
        take_names(warnings);
    }
    if (known_.size() == ids_.size() && std::all_of(ids_.begin(), ids_.end(), [&](const std::string& id) { return known_.contains(id); }))
        return;
    std::vector<std::string> gone;
    for (const auto& [id, known] : known_)
        if (!std::binary_search(ids_.begin(), ids_.end(), id)) gone.push_back(id);
    for (const std::string& id : gone) {
        store_.remove(id);  // also one that could not be read at last: it may have been taken in before
        known_.erase(id);
    }
}

/// Of rows that are there already: those of older versions have none, and a project that was put together anew, or whose list of names was
/// lost, may give others. A paper may speak of the old one.
void Poll::take_names(std::vector<std::string>& warnings) {
    Database& database = *store_.database_;
    std::vector<std::string> ids, names;
    Statement rows(database, "SELECT id, name FROM runs");
    while (rows.next()) ids.push_back(rows.text(0)), names.push_back(rows.text(1));
    const std::vector<std::string> given = names_of_runs(store_.project_, ids);
    if (given == names) return;
    for (std::size_t i = 0; i < ids.size(); ++i)
        if (!names[i].empty() && !given[i].empty() && given[i] != names[i])
            warnings.push_back(
                fmt::format("{}: what was called {} is {} from now on: its list of names was changed or lost", ids[i], names[i], given[i]));
    database.transaction([&] {
        database.execute("UPDATE revisions SET newest = newest + 1");
        Statement rename(database, "UPDATE runs SET name = ?1, revision = (SELECT newest FROM revisions) WHERE id = ?2 AND name IS NOT ?1");
        for (std::size_t i = 0; i < ids.size(); ++i) rename.bind(given[i], ids[i]).run();
    });
}

/// A live run is looked at whenever its files changed, and in its turn (has its process died?); one that waits or is over when its folders
/// changed.
bool Poll::is_unchanged(Known& known, const std::string& id, bool in_turn) const {
    if (known.is_unusable() || known.phase == RunPhase::queued) return !in_turn;
    if (is_live(known.phase)) {
        if (in_turn || !known.follower) return false;
        const RunStamps stamps = stamps_of(runs_folder_, id, known.attempt);
        return stamps.settled && stamps.all == known.seen;
    }
    if (known.signature == 0) return false;
    return !in_turn || known.signature == signature_of(stamps_of(runs_folder_, id, known.attempt).all);
}

void Poll::take(Known& known, const std::string& id, std::vector<std::string>& warnings) {
    const fs::path folder = store_.project_ / "runs" / id;
    const std::int64_t reading_since = now_ns();
    try {
        const RunStamps before = stamps_of(runs_folder_, id, known.attempt);
        if (!known.follower || known.record != before.record) known.follower = std::make_unique<RunFollower>(RunDirectory(folder));
        known.record = before.record;
        const RunState state = store_.take(*known.follower, warnings);
        known.seen = before.all;
        known.phase = state.phase;
        known.attempt = state.attempt;
        known.why_unusable.clear();
        known.signature = 0;
        if (is_over(state.phase)) {
            const RunStamps after = stamps_of(runs_folder_, id, state.attempt, reading_since);
            if (after.settled) known.signature = signature_of(after.all);
        }
        if (is_live(state.phase)) return;
        known.follower.reset();
        known.seen = std::string();
    } catch (const DamagedStore&) {
        throw;
    } catch (const Error& error) {
        if (error.code() != ExitCode::data) throw;
        known.follower.reset();
        std::error_code ignored;
        if (!fs::exists(fs::symlink_status(folder, ignored))) return;  // deleted since it was listed: the next look sees that
        known.why_unusable = error.what();
        warnings.push_back(known.why_unusable);
    }
}

std::vector<std::string> Poll::unusable() const {
    std::vector<std::string> reasons;
    for (const auto& [id, known] : known_)
        if (known.is_unusable()) reasons.push_back(known.why_unusable);
    return reasons;
}

std::vector<std::string> Poll::look(bool thorough, const LookProgress& progress) {
    std::vector<std::string> warnings;
    has_looked_ = true;
    load_known();
    list_runs(thorough, warnings);
    const OpenFolder folder(store_.project_ / "runs");
    runs_folder_ = folder.descriptor();
    turn_ = (turn_ + 1) % turns;
    bool any = false;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
        const auto [entry, fresh] = known_.try_emplace(ids_[i]);
        if (!fresh && is_unchanged(entry->second, ids_[i], thorough || i % turns == turn_)) continue;
        take(entry->second, ids_[i], warnings);
        any = true;
        if (progress && !progress(i + 1, ids_.size())) break;
    }
    counter_ = store_.change_counter();
    // A program that looks all day needs the pages that it wrote no more: kept, they are as large as the store.
    if (any) store_.database_->execute("PRAGMA shrink_memory");
    return warnings;
}

}  // namespace faceter
