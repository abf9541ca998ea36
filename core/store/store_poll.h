#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/state.h"
#include "store/store.h"

namespace faceter {

/// Looks for what is new in a project's runs and takes it in. It remembers between looks what is in the store and how far the journals of
/// live runs were read.
class Poll {
  public:
    explicit Poll(Store& store) : store_(store) {}
    /// `thorough`: every run; else live ones and an eighth of the others.
    std::vector<std::string> look(bool thorough, const LookProgress& progress);
    std::vector<std::string> unusable() const;
    bool has_looked() const { return has_looked_; }
    /// Runs that were taken in one by one: what a store in memory must have as well.
    void took(const std::string& run) { taken_.insert(run); }
    const std::set<std::string>& taken() const { return taken_; }

  private:
    struct Known {
        std::uint64_t signature = 0;  ///< hash of the stamps that it was taken in with; 0: to be looked at
        int attempt = 0;
        RunPhase phase = RunPhase::queued;
        std::string seen;                       ///< stamps at the last look of a live run
        std::unique_ptr<RunFollower> follower;  ///< of a live run
        std::string record;                     ///< stamp of run.json when it was read
        std::string why_unusable;               ///< no run, or one that cannot be read any more; not tried again at every look
        bool is_unusable() const { return !why_unusable.empty(); }
    };
    void load_known();
    void list_runs(bool thorough, std::vector<std::string>& warnings);
    void take_names(std::vector<std::string>& warnings);
    bool is_unchanged(Known& known, const std::string& id, bool in_turn) const;
    void take(Known& known, const std::string& id, std::vector<std::string>& warnings);

    Store& store_;
    std::unordered_map<std::string, Known> known_;
    std::vector<std::string> ids_;
    std::set<std::string> taken_;
    bool has_looked_ = false;
    std::string listed_;  ///< stamp of runs/ when ids_ was made; empty: list again
    std::uint64_t counter_ = 0;
    std::size_t turn_ = 0;
    int runs_folder_ = -1;  ///< open during a look
};

}  // namespace faceter
