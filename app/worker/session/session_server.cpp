#include "session/session_server.h"

#include <thread>

#include "common/cancel.h"
#include "common/error.h"
#include "common/strings.h"

namespace faceter::worker {
namespace {

constexpr int look_for_signals_ms = 200;
constexpr auto between_progress = std::chrono::milliseconds(100);

/// Not an Error: nothing is wrong.
struct Cancelled : std::exception {
    const char* what() const noexcept override { return "cancelled"; }
};

std::string code_name(ExitCode code) {
    switch (code) {
        case ExitCode::usage:
            return "usage";
        case ExitCode::settings:
            return "settings";
        case ExitCode::data:
            return "data";
        case ExitCode::stopped:
            return "cancelled";
        case ExitCode::out_of_memory:
            return "out_of_memory";
        default:
            return "failed";
    }
}

Json id_of(const Json& message) {
    const Json id = message.is_object() && message.contains("id") ? message["id"] : Json();
    return id.is_string() || id.is_number_integer() ? id : Json();
}

}  // namespace

void Request::check() const {
    if (cancelled_ || stop_requested() != StopRequest::none) throw Cancelled();
}

void Request::progress(const std::string& what, std::uint64_t done, std::uint64_t total) {
    check();
    const auto now = std::chrono::steady_clock::now();
    if (what == said_ && done != total && now - said_at_ < between_progress) return;
    said_ = what;
    said_at_ = now;
    // Where nobody reads any more the answer is not wanted either.
    if (!channel_.write({{"id", id_}, {"progress", {{"what", what}, {"done", done}, {"total", total}}}})) cancel();
}

SessionServer::SessionServer(int input, int output, std::map<std::string, Method> methods)
    : channel_(input, output), methods_(std::move(methods)) {}

void SessionServer::refuse(const Json& id, const std::string& code, const std::string& message) {
    channel_.write({{"id", id}, {"error", {{"code", code}, {"message", message}}}});
}

void SessionServer::take(const std::string& line) {
    if (trim(line).empty()) return;
    Json message;
    try {
        message = parse_json(line, "request");
    } catch (const std::exception& error) {
        return refuse(nullptr, "usage", error.what());
    }
    const Json id = id_of(message);
    if (!message.is_object() || !message.contains("method") || !message["method"].is_string())
        return refuse(id, "usage", "request: expected an object such as {\"id\": 1, \"method\": \"preview\", \"params\": {}}");
    const Json params = message.contains("params") ? message["params"] : Json::object();
    const auto method = message["method"].get<std::string>();
    if (method == "cancel") return cancel(params.is_object() && params.contains("id") ? params["id"] : Json());
    if (id.is_null()) return refuse(id, "usage", "request: 'id' is missing; expected a whole number or text");
    if (!methods_.contains(method)) {
        std::vector<std::string> known{"cancel"};
        for (const auto& [name, body] : methods_) known.push_back(name);
        return refuse(id, "usage", fmt::format("request: no method {}{}", faceter::quoted(method), suggestion(method, known)));
    }
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= max_waiting) return refuse(id, "usage", fmt::format("request: more than {} requests wait", max_waiting));
    waiting_.push_back({std::make_shared<Request>(id, channel_), method, params});
    wake_.notify_all();
}

/// A request that waits is answered when its turn comes, one that runs when it next looks.
void SessionServer::cancel(const Json& id) {
    const std::lock_guard lock(mutex_);
    if (running_ && running_->id() == id) running_->cancel();
    for (const Waiting& one : waiting_)
        if (one.request->id() == id) one.request->cancel();
}

void SessionServer::read_requests() {
    std::string line;
    for (bool reading = true; reading && stop_requested() == StopRequest::none;) switch (channel_.next(line, look_for_signals_ms)) {
            case JsonChannel::Read::line:
                take(line);
                break;
            case JsonChannel::Read::too_long:
                refuse(nullptr, "usage", fmt::format("request: longer than {} bytes", JsonChannel::max_line_bytes));
                break;
            case JsonChannel::Read::nothing:
                break;
            case JsonChannel::Read::end:
                reading = false;
                break;
        }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    wake_.notify_all();
}

std::optional<SessionServer::Waiting> SessionServer::next_waiting() {
    std::unique_lock lock(mutex_);
    running_.reset();
    wake_.wait(lock, [&] { return ended_ || !waiting_.empty(); });
    if (waiting_.empty() || stop_requested() != StopRequest::none) return std::nullopt;
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    running_ = next.request;
    return next;
}

void SessionServer::answer(const Waiting& waiting) {
    Json result;
    try {
        waiting.request->check();
        result = methods_.at(waiting.method)(waiting.params, *waiting.request);
    } catch (const Cancelled&) {
        return refuse(waiting.request->id(), "cancelled", "cancelled");
    } catch (...) {
        const auto [code, message] = describe_current_exception();
        return refuse(waiting.request->id(), code_name(code), message);
    }
    channel_.write({{"id", waiting.request->id()}, {"result", std::move(result)}});
}

int SessionServer::serve() {
    std::thread reader([this] { read_requests(); });
    while (const auto next = next_waiting()) answer(*next);
    reader.join();
    return 0;
}

}  // namespace faceter::worker
