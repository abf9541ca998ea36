#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "session/json_channel.h"

namespace faceter::worker {

/// What a method works with beside its parameters: it tells how far it is and learns that it is no longer wanted.
class Request {
  public:
    Request(Json id, JsonChannel& channel) : id_(std::move(id)), channel_(channel) {}
    const Json& id() const { return id_; }
    /// {"id", "progress": {"what", "done", "total"}}; at most ten a second but for changes of `what`. Throws where the request was
    /// cancelled.
    void progress(const std::string& what, std::uint64_t done, std::uint64_t total);
    /// Throws where the request was cancelled or the session ends.
    void check() const;
    void cancel() { cancelled_ = true; }
    bool is_cancelled() const { return cancelled_; }

  private:
    Json id_;
    JsonChannel& channel_;
    std::atomic<bool> cancelled_ = false;
    std::string said_;
    std::chrono::steady_clock::time_point said_at_{};
};

using Method = std::function<Json(const Json& params, Request& request)>;

/// An interactive session: {"id", "method", "params"} a line in, {"id", "result"} or {"id", "error": {"code", "message"}} a line out, in
/// the order of the requests. {"method": "cancel", "params": {"id"}} ends a request with the code "cancelled". A line that is no request is
/// answered with an error whose id is null (or the line's, where it has one) and never ends the session. The end of the input ends it,
/// after what was asked is answered.
class SessionServer {
  public:
    SessionServer(int input, int output, std::map<std::string, Method> methods);
    /// Serves until the input ends or a signal asks to stop. Returns an exit code.
    int serve();

  private:
    struct Waiting {
        std::shared_ptr<Request> request;
        std::string method;
        Json params;
    };
    static constexpr std::size_t max_waiting = 1000;

    void read_requests();
    void take(const std::string& line);
    void cancel(const Json& id);
    void answer(const Waiting& waiting);
    void refuse(const Json& id, const std::string& code, const std::string& message);
    std::optional<Waiting> next_waiting();

    JsonChannel channel_;
    std::map<std::string, Method> methods_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Waiting> waiting_;
    std::shared_ptr<Request> running_;
    bool ended_ = false;
};

}  // namespace faceter::worker
