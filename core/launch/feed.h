#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/run_directory.h"

namespace faceter {

/// How the record of runs travels from the machine where they run to a mirror of it: a request, then frames until the runs are over. A
/// frame is a line of JSON and, where it names a file, that many bytes:
///   {"run": ID, "file": "journal/1/rank-0.jsonl", "offset": 1200, "size": 300}   appended at the offset
///   {"run": ID, "file": "results/sts.json", "size": 2000}                        the whole file anew
///   {"run": ID, "over": true, "exit_code": 0, "cause": ""}                       nothing more will come of it
///   {"beat": true}                                                               every few seconds
/// Checkpoints and models stay where they are.
struct FeedFrame {
    Json head;
    std::string bytes;
};

/// Files of a run that travel; anything else is refused on both sides. Those that only grow go on where the mirror ends.
bool is_fed_file(std::string_view path);
bool is_growing_file(std::string_view path);
/// Those of a run folder, in the order in which a reader of the mirror should see them: what a journal speaks of before the journal.
std::vector<std::string> fed_files(const fs::path& run);

/// {"runs": {ID: {path: size of a growing file, or CRC32C of another}}, "once": false}: what a mirror has.
Json feed_request(const std::map<std::string, fs::path>& mirrors, bool once);

/// Takes bytes as they come apart into frames. Errors (data): no frame, or one larger than a run's files are.
class FrameReader {
  public:
    FrameReader() = default;
    /// Frames follow on `begin`; what comes before it is what a shell says at its start.
    explicit FrameReader(std::string begin) : begin_(std::move(begin)) {}
    void add(std::string_view bytes) { buffer_ += bytes; }
    std::optional<FeedFrame> next();

  private:
    bool has_begun();

    std::string buffer_, begin_;
};

/// `faceter feed`: answers a request with frames on standard output until the runs are over, or once.
int feed_runs(const Project& project, const Json& request);

}  // namespace faceter
