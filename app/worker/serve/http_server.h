#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace faceter::worker {

struct HttpRequest {
    std::string method;  ///< HEAD comes as GET; its answer goes without the body
    std::string path, body, authorization;
    std::string host;    ///< as the client calls the server, with the port; empty: HTTP/1.0 without one
    std::string origin;  ///< of the page that asks, where a browser does
};

struct HttpResponse {
    int status = 200;
    std::string body;
    std::string type = "application/json";
    std::vector<std::pair<std::string, std::string>> headers{};
};

/// One request on its way. answer() may be called from any thread, once; what comes after a client hung up goes nowhere.
class HttpExchange {
  public:
    virtual ~HttpExchange() = default;
    virtual const HttpRequest& request() const = 0;
    virtual void answer(HttpResponse response) = 0;
    /// The client hung up: what it asked for is not wanted any more.
    virtual bool is_gone() const = 0;
};

struct HttpLimits {
    std::size_t header_bytes = 16 << 10;
    std::size_t body_bytes = 16 << 20;          ///< of one request
    std::size_t all_bodies_bytes = 256u << 20;  ///< as they have come, of all requests that are read or worked on; at least body_bytes
    /// Of all answers that clients have not read to their end, the largest not counted: beyond, the one begun first is cut off.
    std::size_t all_answers_bytes = 256u << 20;
    std::size_t connections = 4096;
    std::chrono::milliseconds read{30'000};   ///< a whole request, from its first byte to its last
    std::chrono::milliseconds idle{75'000};   ///< between requests
    std::chrono::milliseconds write{30'000};  ///< an answer; a long one at least as long as it takes at 64 KiB a second
    std::chrono::milliseconds drain{30'000};  ///< what is under way when the server ends
};

/// An HTTP/1.1 server on one event loop (Boost.Beast). Whatever a client does or leaves undone costs it its own connection and nobody else
/// theirs: sizes, times and numbers are bounded. What is too large is answered 413 or 431, what does not come to its end in time 408, a
/// body that is compressed 415 (by a Transfer-Encoding: 501), what is no HTTP 400, what there is no room for, clients beyond `connections`
/// among it, 503.
class HttpServer {
  public:
    /// Called on the loop's thread; it must not block.
    using Handler = std::function<void(std::shared_ptr<HttpExchange>)>;
    /// Called there too, with what the server refuses itself before it is sent; of the request only its line, host and origin are known,
    /// where they were read.
    using Completion = std::function<void(const HttpRequest&, HttpResponse&)>;
    /// Called there too, with the head of a request whose body has not been read: an answer refuses it, and the rest is thrown away.
    using Gate = std::function<std::optional<HttpResponse>(const HttpRequest& head)>;
    /// Binds and listens; port 0: a free one. Errors (usage): the address is none of this machine's, or is taken.
    HttpServer(const std::string& host, std::uint16_t port, const HttpLimits& limits, Handler handler, Completion complete_refusal = {},
               Gate gate = {});
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    std::uint16_t port() const;
    bool is_loopback() const;
    /// Serves until `stop` says so (asked ten times a second); then takes no more connections, answers what was asked, and returns.
    void run(const std::function<bool()>& stop);

  private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace faceter::worker
