#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace faceter::testing {

/// A request as the server got it.
struct ServerRequest {
    std::string method, path;
    std::map<std::string, std::string> headers;  // names in lower case
};

/// An answer. `send_only` cuts the body short, as a connection that breaks does.
struct ServerAnswer {
    int status = 200;
    std::vector<std::string> headers;
    std::string body;
    std::size_t send_only = std::string::npos;
};

/// An HTTP server on this machine, one thread for each connection, for as long as the object lives.
class HttpServer {
  public:
    using Handler = std::function<ServerAnswer(const ServerRequest&)>;

    explicit HttpServer(Handler handler) : handler_(std::move(handler)) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 64) != 0 ||
            ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
            throw std::runtime_error("no port to listen on");
        url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
        acceptor_ = std::thread([this] { accept_all(); });
    }
    ~HttpServer() {
        ::shutdown(listener_, SHUT_RDWR);
        acceptor_.join();
        ::close(listener_);
        for (std::thread& thread : connections_) thread.join();
    }
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    const std::string& url() const { return url_; }
    std::vector<ServerRequest> requests() const {
        const std::lock_guard lock(mutex_);
        return requests_;
    }
    void forget_requests() {
        const std::lock_guard lock(mutex_);
        requests_.clear();
    }

  private:
    void accept_all() {
        for (;;) {
            const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (connection < 0) return;
            connections_.emplace_back([this, connection] {
                serve(connection);
                ::close(connection);
            });
        }
    }
    void serve(int connection) {
        std::string text;
        char buffer[4096];
        while (text.find("\r\n\r\n") == std::string::npos) {
            const ssize_t got = ::recv(connection, buffer, sizeof buffer, 0);
            if (got <= 0) return;
            text.append(buffer, static_cast<std::size_t>(got));
        }
        const ServerRequest request = parse(text);
        {
            const std::lock_guard lock(mutex_);
            requests_.push_back(request);
        }
        answer(connection, request, handler_(request));
    }
    static ServerRequest parse(const std::string& text) {
        ServerRequest request;
        const std::size_t blank = text.find(' '), second = text.find(' ', blank + 1);
        request.method = text.substr(0, blank);
        request.path = text.substr(blank + 1, second - blank - 1);
        for (std::size_t at = text.find("\r\n") + 2; at < text.size();) {
            const std::size_t end = text.find("\r\n", at), colon = text.find(':', at);
            if (end == at || end == std::string::npos || colon > end) break;
            std::string name = text.substr(at, colon - at);
            for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
            request.headers[name] = text.substr(text.find_first_not_of(' ', colon + 1), end - text.find_first_not_of(' ', colon + 1));
            at = end + 2;
        }
        return request;
    }
    static void answer(int connection, const ServerRequest& request, const ServerAnswer& answer) {
        std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " x\r\nConnection: close\r\n";
        for (const std::string& header : answer.headers) head += header + "\r\n";
        head += "Content-Length: " + std::to_string(answer.body.size()) + "\r\n\r\n";
        if (request.method != "HEAD") head += answer.body.substr(0, answer.send_only);
        for (std::size_t sent = 0; sent < head.size();) {
            const ssize_t count = ::send(connection, head.data() + sent, head.size() - sent, MSG_NOSIGNAL);
            if (count <= 0) return;
            sent += static_cast<std::size_t>(count);
        }
    }

    Handler handler_;
    int listener_ = -1;
    std::string url_;
    std::thread acceptor_;
    std::vector<std::thread> connections_;  // of the acceptor's thread, until it ended
    mutable std::mutex mutex_;
    std::vector<ServerRequest> requests_;
};

}  // namespace faceter::testing
