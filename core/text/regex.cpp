#include "text/regex.h"

#include <oniguruma.h>

#include <algorithm>
#include <ctime>
#include <mutex>
#include <optional>

#include "common/error.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr unsigned max_depth = 64;               // of groups in each other
constexpr unsigned max_stack = 8u << 20;         // places to go back to, some 50 bytes each
constexpr std::size_t window_steps = 16u << 20;  // characters that a search may look at, about
constexpr unsigned searches_a_look = 8;          // between two looks at the clock

const OnigUChar* bytes_of(std::string_view text) { return reinterpret_cast<const OnigUChar*>(text.data()); }

std::string message_of(int code, OnigErrorInfo* info = nullptr) {
    OnigUChar buffer[ONIG_MAX_ERROR_MESSAGE_LEN];
    const int size = onig_error_code_to_str(buffer, code, info);
    return {reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(size)};
}

/// \G is where a search began, which differs where a search is cut into windows.
bool asks_where_the_search_began(std::string_view pattern) {
    for (std::size_t at = 0; at + 1 < pattern.size(); ++at)
        if (pattern[at] == '\\' && pattern[++at] == 'G') return true;
    return false;
}

/// Of this thread: time that others take from it does not count.
double processor_seconds() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// What a thread keeps between searches.
struct Workplace {
    OnigRegion* region = onig_region_new();
    OnigMatchParam* limits = onig_new_match_param();
    ~Workplace() {
        onig_region_free(region, 1);
        onig_free_match_param(limits);
    }
    static Workplace& of_thread() {
        thread_local Workplace workplace;
        return workplace;
    }
};

}  // namespace

struct Regex::Program {
    std::string pattern, name;
    regex_t* regex = nullptr;

    Program(std::string_view text, std::string_view file) : pattern(text), name(file) {
        static std::mutex mutex;  // the library's tables of names are shared
        const std::lock_guard lock(mutex);
        start_library();
        OnigErrorInfo info{};
        const int code = onig_new(&regex, bytes_of(text), bytes_of(text) + text.size(), ONIG_OPTION_NONE, ONIG_ENCODING_UTF8,
                                  ONIG_SYNTAX_DEFAULT, &info);
        if (code != ONIG_NORMAL)
            throw data_error("{}: the pattern {} is not supported: {}", name, faceter::quoted(pattern), message_of(code, &info));
    }
    ~Program() { onig_free(regex); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

  private:
    static void start_library() {
        OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
        static const int started = onig_initialize(encodings, 1);
        if (started != ONIG_NORMAL) throw failure("Oniguruma cannot be started: {}", message_of(started));
        onig_set_parse_depth_limit(max_depth);
    }
};

/// The matches in one text, one after the other, within its budget of time and memory.
class Regex::Search {
  public:
    struct Match {
        std::size_t begin = 0, end = 0;
    };
    Search(const Program& program, std::string_view text, Budget& budget)
        : program_(program), text_(text), budget_(budget), window_(std::clamp<std::size_t>(window_steps / (text.size() + 1), 1, 1 << 16)) {
        onig_initialize_match_param(place_.limits);
        onig_set_match_stack_limit_size_of_match_param(place_.limits, max_stack);
        const unsigned long retries = 1'000'000 + 200 * text.size();
        onig_set_retry_limit_in_match_of_match_param(place_.limits, retries);
        onig_set_retry_limit_in_search_of_match_param(place_.limits, retries);
    }

    /// The leftmost match that begins at `from` or behind it. The text is searched window by window, so that the clock is looked at.
    std::optional<Match> next(std::size_t from) {
        const OnigUChar* const begin = bytes_of(text_);
        for (std::size_t until = from;; from = until) {
            until = next_character(std::min(from + window_, text_.size()));
            const int found = onig_search_with_param(program_.regex, begin, begin + text_.size(), begin + from, begin + until,
                                                     place_.region, ONIG_OPTION_NONE, place_.limits);
            if ((found < 0 && found != ONIG_MISMATCH) || !budget_.spend()) throw_too_long();
            if (found >= 0) return Match{static_cast<std::size_t>(place_.region->beg[0]), static_cast<std::size_t>(place_.region->end[0])};
            if (until == text_.size()) return std::nullopt;
        }
    }
    std::size_t next_character(std::size_t at) const {
        while (at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xC0) == 0x80) ++at;
        return at;
    }

  private:
    [[noreturn]] void throw_too_long() const {
        throw data_error("{}: the pattern {} takes too long on a text of {} bytes; the file is broken or hostile", program_.name,
                         faceter::quoted(program_.pattern), text_.size());
    }
    const Program& program_;
    std::string_view text_;
    Budget& budget_;
    std::size_t window_;
    Workplace& place_ = Workplace::of_thread();
};

Regex::Budget::Budget(std::size_t text_bytes) : allowed_s_(0.2 + 8e-6 * static_cast<double>(text_bytes)) {}

bool Regex::Budget::spend() {
    if (num_searches_ == 0) until_s_ = processor_seconds() + allowed_s_;
    return ++num_searches_ % searches_a_look != 0 || processor_seconds() < until_s_;
}

Regex::Regex(std::string_view pattern, std::string_view name) {
    if (asks_where_the_search_began(pattern)) throw data_error("{}: the pattern {} is not supported: \\G", name, faceter::quoted(pattern));
    program_ = std::make_unique<const Program>(pattern, name);
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

void Regex::for_each_match(std::string_view text, Budget& budget,
                           const std::function<void(std::size_t begin, std::size_t end)>& use) const {
    if (text.size() > std::size_t{1} << 30) throw data_error("a text of {} is too long to tokenize", format_bytes(text.size()));
    if (!is_valid_utf8(text)) throw failure("a text that is not UTF-8 reached the pattern {}", faceter::quoted(program_->pattern));
    Search search(*program_, text, budget);
    std::size_t from = 0, last_end = std::string_view::npos;
    while (from <= text.size()) {
        const auto match = search.next(from);
        if (!match) return;
        const bool empty = match->begin == match->end;
        if (!empty || match->begin != last_end) use(match->begin, match->end);
        from = empty ? search.next_character(match->end + 1) : match->end;
        last_end = match->end;
    }
}

}  // namespace faceter
