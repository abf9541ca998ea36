#include "common/error.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include "common/printable.h"

namespace faceter {
namespace {

constexpr const char* lower_for_memory = "use a smaller batch, shorter texts or a gradient cache";

/// What PyTorch says of the processor's memory and of a GPU's, and CUDA's libraries of theirs (CUBLAS_STATUS_ALLOC_FAILED).
bool tells_of_memory(const std::string& what) {
    for (const char* words : {"out of memory", "can't allocate memory", "_ALLOC_FAILED"})
        if (what.find(words) != std::string::npos) return true;
    return false;
}

}  // namespace

const char* errno_text(int error) {
    const char* text = ::strerrordesc_np(error);
    return text ? text : "unknown error";
}

std::string SourcePosition::text() const {
    if (line == 0) return file;
    return column == 0 ? fmt::format("{}:{}", file, line) : fmt::format("{}:{}:{}", file, line, column);
}

namespace {

std::string output_problem(int error) {
    return fmt::format("standard output cannot be written: {}; what it holds is not whole", errno_text(error));
}

}  // namespace

std::pair<ExitCode, std::string> describe_current_exception() {
    try {
        throw;
    } catch (const Error& error) {
        return {error.code(), error.what()};
    } catch (const std::filesystem::filesystem_error& error) {
        if (error.path1().empty()) return {ExitCode::data, error.what()};
        return {ExitCode::data, fmt::format("{}: {}", error.path1().string(), errno_text(error.code().value()))};
    } catch (const std::system_error& error) {  // of fmt::print, which knows no name; what writes files throws Error
        if (!std::string_view(error.what()).starts_with("cannot write to file")) return {ExitCode::failed, error.what()};
        return {ExitCode::failed, output_problem(error.code().value())};
    } catch (const std::bad_alloc&) {
        return {ExitCode::out_of_memory, fmt::format("out of memory; {}", lower_for_memory)};
    } catch (const std::exception& error) {
        const std::string what = error.what();
        if (tells_of_memory(what)) return {ExitCode::out_of_memory, what.substr(0, what.find_first_of('\n')) + "; " + lower_for_memory};
        return {ExitCode::failed, what.substr(0, what.find("\nException raised from"))};
    }
}

namespace {

/// What was printed lies in a buffer until here: a full disk or a closed pipe is only met now.
void check_output() {
    const int error = std::fflush(stdout) != 0 ? errno : std::ferror(stdout) ? EIO : 0;
    if (error) throw failure("{}", output_problem(error));
}

/// Whoever started us may have closed a standard stream: what is opened next would take its number, and get what is said there. What is
/// printed to a closed standard output is still an error at the end.
void fill_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

int run_guarded(std::string_view program, int (*body)(int, char**), int argc, char** argv) {
    fill_standard_streams();
    ::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit is an error of its write, which says so and cleans up
    try {
        const int code = body(argc, argv);
        check_output();
        return code;
    } catch (...) {
        const auto [code, message] = describe_current_exception();
        std::fflush(stdout);
        say(stderr, "{}: {}\n", program, message);  // where even that cannot be written the exit code says it alone
        return static_cast<int>(code);
    }
}

}  // namespace faceter
