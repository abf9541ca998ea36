#pragma once
#include <string>
#include <vector>

#include "common/file.h"
#include "record/run_directory.h"

namespace faceter::conform {

/// What a command did, with the line that a person can repeat.
struct Outcome {
    int code = -1;
    std::string out, err, command;
    /// Exit code and the end of what it said.
    std::string said() const;
};

/// The programs as a user has them, each call a process of its own. Thread safe.
class Programs {
  public:
    Programs(fs::path faceter, fs::path worker) : faceter_(std::move(faceter)), worker_(std::move(worker)) {}
    Outcome faceter(std::vector<std::string> arguments) const;
    /// Starts the worker of a run and kills it as soon as its journal has `bytes`, or lets it end before that; whether it was killed.
    bool kill_at(const RunDirectory& run, std::uint64_t bytes) const;

  private:
    fs::path faceter_, worker_;
};

}  // namespace faceter::conform
