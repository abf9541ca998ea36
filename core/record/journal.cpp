#include "record/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/error.h"
#include "common/hash.h"
#include "common/in_place.h"
#include "common/printable.h"
#include "common/strings.h"
#include "common/untrusted_json.h"
#include "record/run_directory.h"
#include "record/run_lock.h"

namespace faceter {
namespace {

using namespace std::chrono_literals;

constexpr auto flush_interval = 1s, heartbeat_interval = 10s;
constexpr std::size_t max_line_bytes = 4 << 20, read_bytes = 1 << 16;
constexpr JsonLimits line_limits{64, 1000};  // anyone can compute a seal
constexpr std::string_view crc_key = ",\"crc\":\"";
constexpr std::size_t crc_tail = crc_key.size() + 8 + 2;  // ,"crc":"01234567"}

double now_seconds() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()) / 1000;
}

fs::path journal_file(const RunDirectory& run, int attempt, int rank) {
    const fs::path file = run.attempt_journal(attempt, rank);
    make_directories(file.parent_path());
    return file;
}

/// Without waiting for a writer, where somebody put a pipe in its place: reading one by offsets is an error, and a journal of nothing.
int open_journal(const fs::path& file) { return ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC); }

/// The checksum stands last, so that it covers every byte before it and no parsing is needed to verify it.
std::string sealed_line(const Json& object) {
    std::string line = object.dump(-1, ' ', false, Json::error_handler_t::replace);
    line.pop_back();
    return line + fmt::format("{}{:08x}\"}}\n", crc_key, crc32c(line));
}

/// Why a line (without its line break) cannot be believed, or nothing.
std::string_view check_seal(std::string_view line) {
    if (line.size() < crc_tail + 1) return "a line is too short";
    const std::string_view tail = line.substr(line.size() - crc_tail), body = line.substr(0, line.size() - crc_tail);
    if (!tail.starts_with(crc_key) || !tail.ends_with("\"}")) return "a line has no checksum";
    if (tail.substr(crc_key.size(), 8) != fmt::format("{:08x}", crc32c(body))) return "a line's checksum does not fit its bytes";
    return {};
}

std::string_view take_line(std::string_view line, std::int64_t expected_seq, JournalEvent& event) {
    if (const std::string_view problem = check_seal(line); !problem.empty()) return problem;
    event.fields = parse_untrusted_json(line, line_limits);
    if (!event.fields.is_object() || !event.fields.contains("seq") || !event.fields["seq"].is_number_integer() ||
        !event.fields.contains("event") || !event.fields["event"].is_string() || !event.fields.contains("t") ||
        !event.fields["t"].is_number())
        return "a line is not an event";
    event.seq = event.fields["seq"];
    event.time = event.fields["t"];
    event.type = event.fields["event"];
    return event.seq == expected_seq ? "" : event.seq < expected_seq ? "a line stands twice" : "a line is missing";
}

}  // namespace

JournalWriter::JournalWriter(const RunDirectory& run, int attempt, const Start& start)
    : file_(journal_file(run, attempt, start.rank), OutputFile::Mode::exclusive),
      attempt_(attempt),
      step_(start.from_step),
      last_write_(std::chrono::steady_clock::now()) {
    Json fields = ProcessIdentity::own().to_json();
    fields.update({{"attempt", attempt},
                   {"rank", start.rank},
                   {"from_checkpoint", start.from_checkpoint},
                   {"from_step", start.from_step},
                   {"locked", is_run_locked(run)},
                   {"machine", start.machine}});
    event("attempt_started", std::move(fields));
    sync_directory(file_.path().parent_path());
    heart_ = std::thread([this] { beat(); });
}

JournalWriter::~JournalWriter() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    wake_.notify_all();
    heart_.join();
    try {
        flush();
    } catch (const std::exception& error) {
        say(stderr, "{}\n", error.what());  // a destructor cannot throw; the lines before it are on disk
    }
}

void JournalWriter::append(std::string_view type, const Json& fields) {
    Json line = {{"seq", ++seq_}, {"t", now_seconds()}, {"event", type}};
    for (const auto& [key, value] : fields.items())
        if (key != "seq" && key != "t" && key != "event" && key != "crc") line[key] = value;
    if (line.contains("step") && line["step"].is_number_integer()) step_ = line["step"];
    pending_ += sealed_line(line);
}

/// Called with the lock held.
void JournalWriter::write_pending(bool sync) {
    if (broken_) throw failure("{}: the journal could not be written before; free the disk and resume the run", file_.path().string());
    if (!pending_.empty()) {
        check_in_place(file_.path());
        const std::string bytes = std::move(pending_);
        pending_.clear();
        broken_ = true;
        file_.write(bytes);
        broken_ = false;
    }
    if (sync) file_.sync();
    last_write_ = std::chrono::steady_clock::now();
}

/// Of two processes that would write one run, the one that was given up ends here.
void JournalWriter::check_not_taken_over() const {
    std::error_code ignored;
    if (fs::exists(file_.path().parent_path() / "exit.json", ignored))
        throw failure("{}: this attempt was given up, and another process has gone on with the run; this one ends",
                      file_.path().parent_path().string());
}

void JournalWriter::event(std::string_view type, Json fields) {
    check_not_taken_over();
    const std::lock_guard lock(mutex_);
    append(type, fields);
    write_pending(true);
}

void JournalWriter::step(const Json& fields) {
    const std::lock_guard lock(mutex_);
    append("step", fields);
    if (std::chrono::steady_clock::now() - last_write_ >= flush_interval) write_pending(false);
}

void JournalWriter::sample(const Json& fields) {
    const std::lock_guard lock(mutex_);
    Json all = fields;
    all["step"] = step_;
    append("system", all);
    if (std::chrono::steady_clock::now() - last_write_ >= flush_interval) write_pending(false);
}

void JournalWriter::phase(std::string_view name) {
    {
        const std::lock_guard lock(mutex_);
        phase_ = name;
    }
    event("phase", {{"name", name}});
}

void JournalWriter::flush() {
    const std::lock_guard lock(mutex_);
    write_pending(true);
}

void JournalWriter::beat() {
    std::unique_lock lock(mutex_);
    while (!closing_) {
        wake_.wait_for(lock, flush_interval);
        if (closing_) return;
        const auto quiet = std::chrono::steady_clock::now() - last_write_;
        try {
            if (quiet >= heartbeat_interval) {
                append("heartbeat", {{"phase", phase_}, {"step", step_}});
                write_pending(false);
            } else if (!pending_.empty() && quiet >= flush_interval) {
                write_pending(false);
            }
        } catch (const std::exception&) {
            // The main thread meets the same error at its next event, where it can be reported.
        }
    }
}

std::pair<double, double> journal_span(const fs::path& file) {
    constexpr std::uint64_t end_bytes = 1 << 16;
    std::error_code error;
    const std::uint64_t size = fs::file_size(file, error);
    const int descriptor = error ? -1 : open_journal(file);
    if (descriptor < 0) return {0, 0};
    const auto times = [&](std::uint64_t offset) {
        std::string bytes(std::min<std::uint64_t>(end_bytes, size - offset), '\0');
        const ssize_t got = ::pread(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        std::vector<double> found;
        for (const std::string_view line : split(bytes, '\n'))
            if (check_seal(line).empty())
                if (const Json event = parse_untrusted_json(line, line_limits);
                    event.is_object() && event.contains("t") && event["t"].is_number())
                    found.push_back(event["t"]);
        return found;
    };
    const std::vector<double> head = times(0), tail = times(size > end_bytes ? size - end_bytes : 0);
    ::close(descriptor);
    if (head.empty()) return {0, 0};
    return {head.front(), tail.empty() ? head.back() : tail.back()};
}

JournalReader::JournalReader(const fs::path& file, std::uint64_t offset, std::int64_t expected_seq)
    : descriptor_(open_journal(file)), position_(offset), valid_bytes_(offset), next_seq_(expected_seq) {
    if (descriptor_ < 0 && errno != ENOENT) throw data_error("{}: cannot open: {}", file.string(), errno_text(errno));
    ended_ = descriptor_ < 0;
}

JournalReader::~JournalReader() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<JournalEvent> JournalReader::next() {
    while (!ended_) {
        const std::size_t length = std::string_view(buffer_).substr(begin_).find('\n');
        if (length == std::string_view::npos) {
            read_on();
            continue;
        }
        JournalEvent event;
        problem_ = take_line(std::string_view(buffer_).substr(begin_, length), next_seq_, event);
        if (!problem_.empty()) {
            end();
            break;
        }
        begin_ += length + 1;
        valid_bytes_ += length + 1;
        ++next_seq_;
        return event;
    }
    return std::nullopt;
}

/// Behind what is left of a line.
void JournalReader::read_on() {
    buffer_.erase(0, std::exchange(begin_, 0));
    const std::size_t before = buffer_.size();
    if (before > max_line_bytes) {
        problem_ = "a line is too long";
        return end();
    }
    buffer_.resize(before + read_bytes);
    ssize_t got = 0;
    do got = ::pread(descriptor_, buffer_.data() + before, read_bytes, static_cast<off_t>(position_));
    while (got < 0 && errno == EINTR);
    const std::size_t added = got > 0 ? static_cast<std::size_t>(got) : 0;
    buffer_.resize(before + added);
    position_ += added;
    if (added == 0) end();
}

void JournalReader::end() {
    ended_ = true;
    struct stat info {};
    if (::fstat(descriptor_, &info) != 0 || static_cast<std::uint64_t>(info.st_size) <= valid_bytes_) return;
    torn_bytes_ = static_cast<std::uint64_t>(info.st_size) - valid_bytes_;
    if (problem_.empty()) problem_ = "the last line is not complete";
}

JournalContent read_journal(const fs::path& file, std::uint64_t offset, std::int64_t expected_seq) {
    JournalReader reader(file, offset, expected_seq);
    JournalContent content;
    while (auto event = reader.next()) content.events.push_back(std::move(*event));
    content.valid_bytes = reader.valid_bytes();
    content.torn_bytes = reader.torn_bytes();
    content.problem = reader.problem();
    return content;
}

}  // namespace faceter
