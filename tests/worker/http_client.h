#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <stdexcept>
#include <string>

#include "common/strings.h"

namespace faceter::testing {

struct HttpAnswer {
    int status = 0;                              ///< 0: the server closed the connection without an answer
    std::map<std::string, std::string> headers;  ///< names in lower case
    std::string body;
};

/// A client of its own making: a socket to 127.0.0.1 on which anything can be sent, or nothing.
class HttpClient {
  public:
    explicit HttpClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            throw std::runtime_error(std::string("connect: ") + std::strerror(errno));
    }
    ~HttpClient() { ::close(socket_); }
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;

    /// What was not read or sent is thrown away when it closes, and the server is told so at once.
    void reset_at_close() {
        const linger at_once{1, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    /// It sends no more, and still reads.
    void end_own_side() { ::shutdown(socket_, SHUT_WR); }
    /// As much as the server takes.
    void send(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    void ask(const std::string& method, const std::string& path, const std::string& body = "", const std::string& more = "") {
        send(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + more + "Content-Length: " + std::to_string(body.size()) +
             "\r\n\r\n" + body);
    }
    /// `with_body` false: the answer to HEAD, which says how long a body would be and has none.
    HttpAnswer read(bool with_body = true) {
        while (received_.find("\r\n\r\n") == std::string::npos)
            if (!receive()) return {};
        const std::size_t end = received_.find("\r\n\r\n");
        HttpAnswer answer;
        const std::string head = received_.substr(0, end);
        for (const std::string_view line : split(head, '\n')) {
            const std::size_t colon = line.find(':');
            if (answer.status == 0)
                answer.status = std::stoi(std::string(line.substr(9, 3)));
            else
                answer.headers[lowercase_ascii(line.substr(0, colon))] = trim(line.substr(colon + 1));
        }
        const auto length = static_cast<std::size_t>(std::stoull("0" + answer.headers["content-length"]));
        received_.erase(0, end + 4);
        if (!with_body) return answer;
        while (received_.size() < length)
            if (!receive()) return {};
        answer.body = received_.substr(0, length);
        received_.erase(0, length);
        return answer;
    }
    /// Something can be read, or the server closed the connection.
    bool has_answer() const {
        pollfd now{socket_, POLLIN, 0};
        return ::poll(&now, 1, 0) > 0;
    }
    /// Waits until the server closes the connection; false where it does not in a long time.
    bool is_closed_by_server() {
        for (;;) {
            pollfd waiting{socket_, POLLIN, 0};
            if (::poll(&waiting, 1, 60'000) <= 0) return false;
            if (!receive()) return true;
        }
    }

  private:
    bool receive() {
        char bytes[65536];
        const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
        if (count > 0) received_.append(bytes, static_cast<std::size_t>(count));
        return count > 0;
    }
    int socket_;
    std::string received_;
};

}  // namespace faceter::testing
