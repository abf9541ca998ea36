#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/file.h"
#include "common/json.h"

namespace faceter {

class RunDirectory;

/// One process, named so that a later one with the same number is not mistaken for it.
struct ProcessIdentity {
    std::string host;
    std::int64_t pid = 0;
    std::string start;          ///< boot id and start time in clock ticks (/proc/PID/stat)
    std::string machine;        ///< a hash of /etc/machine-id; empty: unknown
    std::string pid_namespace;  ///< a container has its own numbers; empty: unknown
    static ProcessIdentity own();
    static ProcessIdentity from_json(const Json& json);  ///< members of another type count as missing
    Json to_json() const;
    /// Its number means here what it meant there: the same boot and the same processes whatever the host is called now, or the same machine
    /// before it was started anew.
    bool on_this_machine() const;
    /// The same boot, but perhaps another container: its locks hold here, its number says nothing.
    bool shares_kernel() const;
    /// Only where on_this_machine().
    bool alive() const;
};

/// The record of one attempt and rank: journal/<attempt>/rank-N.jsonl. A line is a JSON object
///   {"seq":7,"t":1795244405.123,"event":"step", ... ,"crc":"1c3f09ab"}
/// whose crc is the CRC32C of all bytes before `,"crc":`. Events are synced to disk; steps are gathered and written at most once a second.
/// Thread safe. Events and their members:
///   attempt_started {from_checkpoint, from_step, host, pid, pid_start, machine_id, pid_namespace, locked, machine}   by the constructor
///   heartbeat {phase, step}                       by a thread of its own every 10 s without another line
///   stage_started {stage, total_steps, ...}       phase {name}
///   step {step, total_steps, loss, lr, grad_norm, tokens_per_s, ...numbers}
///   system {step, cpu_percent, memory_gib, threads, gpu_percent, gpu_memory_gib, gpu_power_w}   every 10 s, of each rank; gpu_... where it
///   has one evaluation {step, scores: {data set: percent}} checkpoint {step, path}   warning {message}   stopped {step, checkpoint} failed
///   {code, message}   finished {}
class JournalWriter {
  public:
    struct Start {
        std::string from_checkpoint;
        std::int64_t from_step = 0;
        Json machine = Json::object();
        int rank = 0;
    };
    JournalWriter(const RunDirectory& run, int attempt, const Start& start);
    ~JournalWriter();
    JournalWriter(const JournalWriter&) = delete;
    JournalWriter& operator=(const JournalWriter&) = delete;

    /// Written and synced before it returns. Throws where the disk refuses, and where the attempt was taken over (state.h).
    void event(std::string_view type, Json fields = Json::object());
    /// Gathered; written with the next event or within a second. `fields` hold step and the numbers of the step.
    void step(const Json& fields);
    /// What the process takes of its machine; gathered as steps are.
    void sample(const Json& fields);
    /// What heartbeats report ("train", "evaluate scifact"); also written at once as event `phase`.
    void phase(std::string_view name);
    /// Writes and syncs what is gathered.
    void flush();
    int attempt() const { return attempt_; }

  private:
    void append(std::string_view type, const Json& fields);
    void write_pending(bool sync);
    void check_not_taken_over() const;
    void beat();

    OutputFile file_;
    int attempt_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::string pending_;
    std::string phase_ = "start";
    std::int64_t seq_ = 0, step_ = 0;
    std::chrono::steady_clock::time_point last_write_;
    bool closing_ = false;
    bool broken_ = false;  ///< a write failed: what follows a torn line would never be believed, so nothing follows it
    std::thread heart_;
};

struct JournalEvent {
    std::int64_t seq = 0;
    double time = 0;  ///< seconds since 1970 by the writer's clock
    std::string type;
    Json fields;  ///< the whole object
};

/// Times of the first and the last good line, read from the file's ends only; 0, 0 where there is none.
std::pair<double, double> journal_span(const fs::path& file);

/// The good lines from byte `offset` on (0: all), one after the other: a journal of any length takes the memory of a line. Reading stops at
/// the first line that is torn, whose checksum or sequence is wrong; what follows is reported, never believed. `expected_seq` is the
/// sequence number of the first line (1 at offset 0). A file that is not there holds nothing: a process can be killed between the folder of
/// its attempt and its journal.
class JournalReader {
  public:
    explicit JournalReader(const fs::path& file, std::uint64_t offset = 0, std::int64_t expected_seq = 1);
    ~JournalReader();
    JournalReader(const JournalReader&) = delete;
    JournalReader& operator=(const JournalReader&) = delete;

    /// Nothing at the end.
    std::optional<JournalEvent> next();
    std::int64_t next_seq() const { return next_seq_; }         ///< of the line after those that were given
    std::uint64_t valid_bytes() const { return valid_bytes_; }  ///< offset after them
    std::uint64_t torn_bytes() const { return torn_bytes_; }    ///< at the end: what follows the good lines
    const std::string& problem() const { return problem_; }     ///< why that was cut; empty where nothing was

  private:
    void read_on();
    void end();

    int descriptor_;
    std::string buffer_;
    std::size_t begin_ = 0;  ///< in the buffer, of the next line
    std::uint64_t position_, valid_bytes_, torn_bytes_ = 0;
    std::int64_t next_seq_;
    std::string problem_;
    bool ended_ = false;
};

struct JournalContent {
    std::vector<JournalEvent> events;
    std::uint64_t valid_bytes = 0, torn_bytes = 0;
    std::string problem;
};
/// All that JournalReader gives, of a journal that is known to be short.
JournalContent read_journal(const fs::path& file, std::uint64_t offset = 0, std::int64_t expected_seq = 1);

}  // namespace faceter
