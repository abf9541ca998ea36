#include "launch/feed.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <regex>
#include <thread>

#include "common/error.h"
#include "common/hash.h"
#include "common/printable.h"
#include "common/strings.h"
#include "common/untrusted_json.h"
#include "launch/slurm.h"
#include "record/state.h"

namespace faceter {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto look_interval = std::chrono::milliseconds(300);
constexpr auto beat_interval = std::chrono::seconds(5), job_interval = std::chrono::seconds(5);
constexpr std::uint64_t max_file_bytes = std::uint64_t(256) << 20;
constexpr std::size_t max_head_bytes = 1 << 16, chunk_bytes = 1 << 20;

void write_all(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t wrote = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
        if (wrote < 0 && errno != EINTR) throw failure("the other side is gone: {}", errno_text(errno));
        if (wrote > 0) bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

void send(const Json& head, std::string_view bytes = {}) {
    write_all(head.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" + std::string(bytes));
}

/// Nothing more will come of a run.
void send_end(const std::string& id, int code, const std::string& cause) {
    send({{"run", id}, {"over", true}, {"exit_code", code}, {"cause", cause}});
}

std::string part_of_file(const fs::path& file, std::uint64_t offset) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return "";
    std::string bytes(chunk_bytes, '\0');
    const ssize_t got = ::pread(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    ::close(descriptor);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
}

/// One run as the mirror knows it.
class FedRun {
  public:
    FedRun(const RunDirectory& run, const Json& known) : run_(run), follower_(run) {
        for (const auto& [path, value] : known.items())
            if (is_fed_file(path) && value.is_number_unsigned()) known_[path].value = value.get<std::uint64_t>();
    }

    /// Sends what is new; says that it is over once everything has been sent that was there when it was.
    void look() {
        follower_.update();
        const RunState state = follower_.state();
        for (const std::string& path : fed_files(run_.folder())) is_growing_file(path) ? send_growth(path) : send_whole(path);
        send_removal("control/job.json");  // it goes on without SLURM
        over_ = is_over(state.phase) || is_gone();
        if (is_over(state.phase))
            send_end(run_.info().id, state.phase == RunPhase::done ? 0 : state.exit_code, state.cause);
        else if (over_)
            send_end(run_.info().id, static_cast<int>(ExitCode::failed), run_.folder().string() + " was moved or removed");
    }
    bool over() const { return over_; }

  private:
    bool is_gone() const {
        std::error_code error;
        return !fs::exists(run_.folder() / "run.json", error) && !error;
    }

    struct Known {
        std::optional<std::uint64_t> value;  ///< size, or CRC
        std::string stamp;                   ///< of a whole file when it was read last
    };

    void send_growth(const std::string& path) {
        std::uint64_t offset = known_[path].value.value_or(0);
        for (bool is_new = !known_[path].value;; is_new = false) {  // also one that is still empty
            const std::string bytes = part_of_file(run_.folder() / path, offset);
            if (bytes.empty() && !is_new) break;
            send({{"run", run_.info().id}, {"file", path}, {"offset", offset}, {"size", bytes.size()}}, bytes);
            offset += bytes.size();
        }
        known_[path].value = offset;
    }

    void send_whole(const std::string& path) {
        struct stat info {};
        const fs::path file = run_.folder() / path;
        if (::stat(file.c_str(), &info) != 0) return;
        const std::string stamp = fmt::format("{}.{}/{}/{}", info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size, info.st_ino);
        Known& known = known_[path];
        if (known.stamp == stamp) return;
        const std::string bytes = read_file(file, max_file_bytes);
        known.stamp = stamp;
        const std::uint64_t crc = crc32c(bytes);
        if (known.value == crc) return;
        known.value = crc;
        send({{"run", run_.info().id}, {"file", path}, {"size", bytes.size()}}, bytes);
    }

    /// As an empty file, which readers take for none; a mirror of any version does.
    void send_removal(const std::string& path) {
        const auto known = known_.find(path);
        const std::uint64_t empty = crc32c("");
        std::error_code error;
        if (known == known_.end() || known->second.value.value_or(empty) == empty) return;
        if (fs::exists(run_.folder() / path, error) || error) return;
        known->second = {empty, ""};
        send({{"run", run_.info().id}, {"file", path}, {"size", 0}});
    }

    RunDirectory run_;
    RunFollower follower_;
    std::map<std::string, Known> known_;
    bool over_ = false;
};

int rank_of_order(const std::string& path) {
    if (path.ends_with("exit.json") || path == "control/job.json") return 3;
    return path.ends_with(".jsonl") ? 2 : path == "run.json" ? 1 : 0;
}

}  // namespace

bool is_fed_file(std::string_view path) {
    static const std::regex pattern(
        "experiment\\.yaml|run\\.json|control/job\\.json|(results|tables|figures)/[A-Za-z0-9_-][A-Za-z0-9._-]{0,110}\\.json|"
        "journal/[1-9][0-9]{0,5}/(rank-[0-9]{1,4}\\.jsonl|exit\\.json)|logs/[1-9][0-9]{0,5}/rank-[0-9]{1,4}\\.log");
    return path.size() < 200 && std::regex_match(std::string(path), pattern);
}

bool is_growing_file(std::string_view path) { return path.ends_with(".jsonl") || path.ends_with(".log"); }

std::vector<std::string> fed_files(const fs::path& run) {
    std::vector<std::string> files;
    const auto add = [&](const fs::path& file) {
        const std::string path = file.lexically_relative(run).string();
        if (is_fed_file(path)) files.push_back(path);
    };
    const auto add_folder = [&](const fs::path& folder, const auto& each) {
        std::error_code error;
        for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) each(it->path());
    };
    for (const char* file : {"experiment.yaml", "run.json", "control/job.json"})
        if (fs::exists(run / file)) add(run / file);
    for (const char* folder : {"results", "tables", "figures"}) add_folder(run / folder, add);
    for (const char* folder : {"logs", "journal"}) add_folder(run / folder, [&](const fs::path& attempt) { add_folder(attempt, add); });
    std::sort(files.begin(), files.end());
    std::stable_sort(files.begin(), files.end(),
                     [](const std::string& a, const std::string& b) { return rank_of_order(a) < rank_of_order(b); });
    return files;
}

Json feed_request(const std::map<std::string, fs::path>& mirrors, bool once) {
    Json runs = Json::object();
    for (const auto& [id, folder] : mirrors) {
        Json known = Json::object();
        for (const std::string& path : fed_files(folder))
            known[path] = is_growing_file(path) ? static_cast<std::uint64_t>(fs::file_size(folder / path))
                                                : std::uint64_t{crc32c(read_file(folder / path, max_file_bytes))};
        runs[id] = std::move(known);
    }
    return {{"runs", runs}, {"once", once}};
}

bool FrameReader::has_begun() {
    const std::size_t at = buffer_.find(begin_);
    if (at != std::string::npos) {
        buffer_.erase(0, at + begin_.size());
        begin_.clear();
        return true;
    }
    if (buffer_.size() > max_head_bytes)
        throw data_error("the other machine sends no frames but {}", faceter::quoted(buffer_.substr(0, 60)));
    return false;
}

std::optional<FeedFrame> FrameReader::next() {
    if (!has_begun()) return std::nullopt;
    const std::size_t end = buffer_.find('\n');
    if (end == std::string::npos) {
        if (buffer_.size() > max_head_bytes)
            throw data_error("the other machine sends no frames but {}", faceter::quoted(buffer_.substr(0, 60)));
        return std::nullopt;
    }
    Json head = parse_untrusted_json(std::string_view(buffer_).substr(0, end));
    if (!head.is_object()) throw data_error("the other machine sends no frames but {}", faceter::quoted(buffer_.substr(0, end)));
    const auto size = json_or<std::uint64_t>(head, "size", 0, "a frame of the other machine");
    if (size > max_file_bytes) throw data_error("the other machine sends a file of {} bytes; a run's files are smaller", size);
    if (buffer_.size() - end - 1 < size) return std::nullopt;
    FeedFrame frame{std::move(head), buffer_.substr(end + 1, size)};
    buffer_.erase(0, end + 1 + size);
    return frame;
}

int feed_runs(const Project& project, const Json& request) {
    const bool once = json_or(request, "once", false, "request");
    std::vector<FedRun> runs;
    const Json asked = json_at<Json>(request, "runs", "request");
    for (const auto& [id, known] : asked.items()) try {
            runs.emplace_back(project.find_run(id), known);
        } catch (const Error& error) {                   // deleted: those beside it are sent all the same
            if (error.code() != ExitCode::usage) throw;  // it is there, and cannot be read now: that is no end
            send_end(id, static_cast<int>(ExitCode::failed), error.what());
        }
    auto next_beat = Clock::now(), next_jobs = Clock::now();
    for (;;) {
        if (Clock::now() >= next_jobs) {
            for (const std::string& warning : refresh_slurm_jobs(project)) say(stderr, "warning: {}\n", warning);
            next_jobs = Clock::now() + job_interval;
        }
        for (FedRun& run : runs)
            if (!run.over()) run.look();
        if (once || std::all_of(runs.begin(), runs.end(), [](const FedRun& run) { return run.over(); })) return 0;
        if (Clock::now() >= next_beat) send({{"beat", true}});  // finds out that nobody listens any more
        if (Clock::now() >= next_beat) next_beat = Clock::now() + beat_interval;
        std::this_thread::sleep_for(look_interval);
    }
}

}  // namespace faceter
