#pragma once
#include <memory>
#include <string>
#include <vector>

#include "common/file.h"
#include "conform/embeddings.h"
#include "conform/line_process.h"
#include "record/run_directory.h"

namespace faceter::conform {

/// What a command did, with the line that a person can repeat.
struct Outcome {
    int code = -1;
    std::string out, err, command;
    /// Exit code and the end of what it said.
    std::string said() const;
};

/// What embeds, as `faceter embed` names it: a run of a project under a task, or a folder under one of its prompts (empty: its default).
struct EmbedSource {
    std::string model, project, task;
    std::vector<std::string> options() const;
    /// "faceter embed --model ..."
    std::string command() const;
};

/// The programs as a user has them, each call a process of its own but for `embed`. Thread safe.
class Programs {
  public:
    Programs(fs::path faceter, fs::path worker)
        : faceter_(std::move(faceter)),
          worker_(std::move(worker)),
          session_(std::make_unique<LineProcess>(std::vector<std::string>{worker_.string(), "session"})) {}
    Outcome faceter(std::vector<std::string> arguments) const;
    /// By the live worker, which spares the start that a command takes. Broken: it fails, or ends.
    Embeddings embed(const EmbedSource& source, const std::vector<std::string>& texts) const;
    /// Starts the worker of a run and kills it as soon as its journal has `bytes`, or lets it end before that; whether it was killed.
    bool kill_at(const RunDirectory& run, std::uint64_t bytes) const;

  private:
    fs::path faceter_, worker_;
    std::unique_ptr<LineProcess> session_;
};

}  // namespace faceter::conform
