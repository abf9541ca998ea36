#include "counters.h"

#include <c10/util/Type.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>

#include <array>
#include <limits>
#include <mutex>

#include "late_copies.h"

namespace faceter::testing::pretend {
namespace {

constexpr int max_frames = 60;
constexpr const char* no_operator = "a host call";

struct Tally {
    std::mutex mutex;
    Counts counts;
    std::map<std::string, std::int64_t> operators, waits;
};
Tally& tally() {
    static auto* const one = new Tally;
    return *one;
}

thread_local int device_of_thread = 0;
thread_local const char* running = nullptr;

/// Whether a frame is PyTorch's or this library's.
bool is_machinery(const std::string& library) {
    const std::string name = library.substr(library.rfind('/') + 1);
    return name.starts_with("libtorch") || name.starts_with("libc10") || name.starts_with("libfaceter-pretend");
}

/// A function's name without its parameters.
std::string short_name(const char* symbol) {
    const std::string whole = c10::demangle(symbol);
    return whole.substr(0, whole.find('('));
}

/// The innermost function of the program on the stack that has a name.
std::string caller() {
    std::array<void*, max_frames> frames{};
    const int depth = ::backtrace(frames.data(), max_frames);
    for (int i = 0; i < depth; ++i) {
        Dl_info info{};
        if (!::dladdr(frames[static_cast<std::size_t>(i)], &info) || !info.dli_fname || is_machinery(info.dli_fname)) continue;
        if (info.dli_sname && std::string(info.dli_sname).find("faceter") != std::string::npos) return short_name(info.dli_sname);
    }
    return "backward";
}

}  // namespace

int current_device() { return device_of_thread; }
void set_current_device(int index) { device_of_thread = index; }

RunningOperator::RunningOperator(const char* name) : around_(running) {
    running = name;
    const std::scoped_lock lock(tally().mutex);
    ++tally().counts.operators;
    ++tally().operators[name];
}
RunningOperator::~RunningOperator() { running = around_; }
const char* current_operator() { return running ? running : no_operator; }

void count_wait(const char* why) { count_wait(why, std::numeric_limits<std::uintptr_t>::max()); }

void count_wait(const char* why, std::uintptr_t place) {
    catch_up(place);
    const std::string from = fmt::format("{}, called by {}", why, caller());
    const std::scoped_lock lock(tally().mutex);
    ++tally().counts.waits;
    ++tally().waits[from];
}

Counts operator_counts() {
    const std::scoped_lock lock(tally().mutex);
    return tally().counts;
}

void reset_operator_counts() {
    const std::scoped_lock lock(tally().mutex);
    tally().counts = {};
    tally().operators.clear();
    tally().waits.clear();
}

std::map<std::string, std::int64_t> waits_by_place() {
    const std::scoped_lock lock(tally().mutex);
    return tally().waits;
}
std::map<std::string, std::int64_t> operators_by_name() {
    const std::scoped_lock lock(tally().mutex);
    return tally().operators;
}

}  // namespace faceter::testing::pretend
