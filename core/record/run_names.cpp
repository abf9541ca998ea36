#include "record/run_names.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <unordered_map>

#include "common/error.h"
#include "common/file_name.h"
#include "common/lock_file.h"
#include "common/stable_order.h"
#include "common/strings.h"
#include "common/untrusted_json.h"

namespace faceter {
namespace {

constexpr std::size_t longest_stem = 40;
constexpr std::uint64_t max_bytes = 256 << 20;

/// Letters, digits, '.', '_' and '-', of which one stands for all others in a row; what an imported model's name says before its last '/'
/// is left out.
std::string stem_of(const NamedRun& run) {
    const std::string stem = word_of_name(run.variant.substr(run.variant.find_last_of('/') + 1), longest_stem);
    return (stem.empty() ? "run" : stem) + (run.smoke ? "-smoke" : "");
}

/// "MoTE" and 3 of MoTE-3.
std::optional<std::pair<std::string, std::int64_t>> parts_of(std::string_view name) {
    const std::size_t dash = name.rfind('-');
    if (dash == std::string_view::npos || dash == 0 || name != safe_file_name(name)) return std::nullopt;
    const auto number = parse_int(name.substr(dash + 1));
    if (!number || *number < 1 || *number >= 1'000'000'000 || name.substr(dash + 1) != std::to_string(*number)) return std::nullopt;
    return std::pair{std::string(name.substr(0, dash)), *number};
}

/// What one names.jsonl says. It grows only, so that a look reads what was added.
class Ledger {
  public:
    explicit Ledger(fs::path file) : file_(std::move(file)) {}

    void update() {
        struct stat info {};
        if (::stat(file_.c_str(), &info) != 0) {
            if (inode_ != 0) *this = Ledger(file_);  // it was taken away
            return;                                  // what a process cannot write it keeps in mind
        }
        const auto size = static_cast<std::uint64_t>(info.st_size);
        if (info.st_ino != inode_ || size < read_) *this = Ledger(file_);
        inode_ = info.st_ino;
        if (size > read_ && size <= max_bytes) read_on();
    }

    bool has(const std::string& id) const { return names_.contains(id); }
    std::string name_of(const std::string& id) const {
        const auto found = names_.find(id);
        return found == names_.end() ? std::string() : found->second;
    }
    std::optional<std::string> id_of(std::string_view name) const {
        const auto found = ids_.find(lowercase_ascii(name));
        return found == ids_.end() ? std::nullopt : std::optional(found->second);
    }
    /// False where the name is somebody's, or the run has another.
    bool take(const std::string& name, const std::string& id) {
        const auto parts = parts_of(name);
        if (!parts || id.empty() || names_.contains(id)) return false;
        if (!ids_.emplace(lowercase_ascii(name), id).second) return false;
        names_.emplace(id, name);
        std::int64_t& highest = highest_[lowercase_ascii(parts->first)];
        highest = std::max(highest, parts->second);
        return true;
    }
    std::string free_name(const NamedRun& run) const {
        if (parts_of(run.wished) && !id_of(run.wished)) return run.wished;
        const std::string stem = stem_of(run);
        const auto highest = highest_.find(lowercase_ascii(stem));
        return fmt::format("{}-{}", stem, highest == highest_.end() ? 1 : highest->second + 1);
    }
    /// Behind what is there, also where that ends torn.
    void append(const std::string& lines) {
        OutputFile out(file_, OutputFile::Mode::append);
        const std::uint64_t size = out.size();
        out.write((size > 0 && (size != read_ || torn_) ? "\n" : "") + lines);
        out.sync();
        out.close();
        if (size == 0) sync_directory(file_.parent_path());
    }
    const fs::path& file() const { return file_; }

  private:
    void read_on() {
        std::ifstream in(file_, std::ios::binary);
        in.seekg(static_cast<std::streamoff>(read_));
        torn_ = false;
        for (std::string line; std::getline(in, line);) {
            torn_ = in.eof();  // a line without its end
            if (torn_) return;
            read_line(line);
            read_ += line.size() + 1;
        }
    }
    void read_line(std::string_view line) {
        const Json json = parse_untrusted_json(line, {8, 100});
        if (!json.is_object()) return;  // empty, or torn by a crash
        const auto text = [&](const char* key) {
            return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
        };
        take(text("name"), text("run"));
    }

    fs::path file_;
    std::uint64_t read_ = 0;
    ino_t inode_ = 0;
    bool torn_ = false;
    std::unordered_map<std::string, std::string> names_, ids_;  ///< id to name; name in small letters to id
    std::unordered_map<std::string, std::int64_t> highest_;     ///< number by stem
};

/// One ledger a project, for all threads: opening ten thousand runs reads it once.
struct Ledgers {
    std::mutex mutex;
    std::map<fs::path, Ledger> by_file;
};

Ledgers& ledgers() {
    static Ledgers all;
    return all;
}

template <typename Body>
auto with_ledger(const fs::path& project, const Body& body) {
    const std::lock_guard hold(ledgers().mutex);
    const fs::path file = absolute_path(project) / "names.jsonl";
    Ledger& ledger = ledgers().by_file.try_emplace(file, file).first->second;
    ledger.update();
    return body(ledger);
}

std::string line_of(const std::string& name, const std::string& id) { return Json{{"name", name}, {"run", id}}.dump() + "\n"; }

std::string lines_for(const Ledger& ledger, const std::vector<NamedRun>& runs) {
    if (runs.size() == 1) return ledger.has(runs.front().id) ? "" : line_of(ledger.free_name(runs.front()), runs.front().id);
    Ledger after = ledger;
    std::string lines;
    for (const NamedRun& run : runs) {
        const std::string name = after.free_name(run);
        if (after.take(name, run.id)) lines += line_of(name, run.id);
    }
    return lines;
}

/// Under the file's lock, where it has locks: what others gave meanwhile is known first.
void give(Ledger& ledger, const std::vector<NamedRun>& runs) {
    LockFile lock(ledger.file());
    lock.wait();
    ledger.update();
    const std::string lines = lines_for(ledger, runs);
    if (lines.empty()) return;
    ledger.append(lines);
    ledger.update();  // as the file has it: without locks, another's line may stand before ours
}

}  // namespace

std::string word_of_name(std::string_view name, std::size_t longest) {
    std::string word = safe_file_name(name);
    word.erase(std::unique(word.begin(), word.end(), [](char a, char b) { return a == '-' && b == '-'; }), word.end());
    word = word.substr(0, longest);
    const std::size_t first = word.find_first_not_of("-."), last = word.find_last_not_of("-.");
    return first == std::string::npos ? "" : word.substr(first, last - first + 1);
}

std::string name_of_run(const fs::path& project, const std::string& id, const std::string& wished) {
    return with_ledger(project, [&](const Ledger& ledger) {
        const std::string given = ledger.name_of(id);
        return !given.empty() ? given : parts_of(wished) && !ledger.id_of(wished) ? wished : std::string();
    });
}

std::vector<std::string> names_of_runs(const fs::path& project, const std::vector<std::string>& ids) {
    std::vector<std::string> names;
    with_ledger(project, [&](const Ledger& ledger) {
        for (const std::string& id : ids) names.push_back(ledger.name_of(id));
    });
    return names;
}

std::optional<std::string> id_of_name(const fs::path& project, std::string_view name) {
    return with_ledger(project, [&](const Ledger& ledger) { return ledger.id_of(name); });
}

std::vector<std::string> unnamed_runs(const fs::path& project, std::vector<std::string> ids) {
    with_ledger(project, [&](const Ledger& ledger) { std::erase_if(ids, [&](const std::string& id) { return ledger.has(id); }); });
    return ids;
}

std::string give_run_name(const fs::path& project, const NamedRun& run) {
    return with_ledger(project, [&](Ledger& ledger) {
        for (int trial = 0; trial < 100 && !ledger.has(run.id); ++trial) give(ledger, {run});
        return ledger.name_of(run.id);
    });
}

void give_run_names(const fs::path& project, std::vector<NamedRun> runs) {
    std::sort(runs.begin(), runs.end(), is_older<NamedRun>);
    with_ledger(project, [&](Ledger& ledger) {
        std::erase_if(runs, [&](const NamedRun& run) { return ledger.has(run.id); });
        if (runs.empty()) return;
        try {
            give(ledger, runs);
        } catch (const Error&) {  // cannot be written
            for (const NamedRun& run : runs) ledger.take(ledger.free_name(run), run.id);
        }
    });
}

}  // namespace faceter
