#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>
#include <thread>

#include "fuzz.h"
#include "serve/http_server.h"

using namespace faceter;
using namespace faceter::worker;

namespace {

HttpLimits small_limits() {
    HttpLimits limits;
    limits.header_bytes = 1024;
    limits.body_bytes = 4096;
    limits.all_bodies_bytes = 1 << 16;
    return limits;
}

/// The embedding server's HTTP on a port of its own, which answers each request with its body; runs until the program ends.
class Echo {
  public:
    Echo() : server_("127.0.0.1", 0, small_limits(), [this](const std::shared_ptr<HttpExchange>& exchange) { answer(exchange); }) {
        std::signal(SIGPIPE, SIG_IGN);
        thread_ = std::thread([this] { server_.run([this] { return ending_.load(); }); });
    }
    ~Echo() {
        ending_ = true;
        thread_.join();
    }
    std::uint16_t port() const { return server_.port(); }
    std::size_t answered() const { return answered_; }

  private:
    void answer(const std::shared_ptr<HttpExchange>& exchange) {
        const HttpRequest& request = exchange->request();
        FUZZ_CHECK(!request.method.empty() && request.method != "HEAD");
        FUZZ_CHECK(request.path.find('?') == std::string::npos);
        FUZZ_CHECK(request.body.size() <= small_limits().body_bytes);
        ++answered_;
        exchange->answer({200, request.body});
    }

    std::atomic<bool> ending_ = false;
    std::atomic<std::size_t> answered_ = 0;
    HttpServer server_;
    std::thread thread_;
};

/// A connection from another address of the loopback each time: no pair of addresses and ports waits to be free again.
int connect_to(std::uint16_t port) {
    static std::uint32_t turn = 0;
    const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in own{}, server{};
    own.sin_family = server.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + turn++ % 60000);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server.sin_port = htons(port);
    const timeval hang{60, 0};
    FUZZ_CHECK(::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &hang, sizeof hang) == 0);
    FUZZ_CHECK(::bind(client, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0);
    FUZZ_CHECK(::connect(client, reinterpret_cast<const sockaddr*>(&server), sizeof server) == 0);
    return client;
}

void send_in_pieces(int client, std::string_view bytes, std::size_t pieces) {
    const std::size_t size = bytes.size() / pieces + 1;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size())))
        if (::send(client, bytes.data(), std::min(size, bytes.size()), MSG_NOSIGNAL) <= 0) return;  // it hung up at what came before
}

/// All that the server says until it hangs up. A server that does neither is a finding.
std::string read_to_end(int client) {
    std::string all;
    char bytes[16384];
    for (;;) {
        const ssize_t count = ::recv(client, bytes, sizeof bytes, 0);
        FUZZ_CHECK(count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK));
        if (count <= 0) return all;
        all.append(bytes, static_cast<std::size_t>(count));
    }
}

std::string ask(std::uint16_t port, std::string_view bytes, std::size_t pieces) {
    const int client = connect_to(port);
    send_in_pieces(client, bytes, pieces);
    ::shutdown(client, SHUT_WR);
    const std::string answer = read_to_end(client);
    ::close(client);
    return answer;
}

}  // namespace

/// What a client may send on its connection, in as many pieces as the first byte says: the server answers in HTTP or hangs up, and serves
/// the next client.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Echo echo;
    return fuzz_one(data, size, [](std::string_view text) {
        if (text.empty()) return;
        const std::string answer = ask(echo.port(), text.substr(1), 1 + static_cast<unsigned char>(text.front()) % 4);
        FUZZ_CHECK(answer.empty() || answer.starts_with("HTTP/1."));
        const std::size_t before = echo.answered();
        ask(echo.port(), "GET /health HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n", 1);
        FUZZ_CHECK(echo.answered() == before + 1);
    });
}
