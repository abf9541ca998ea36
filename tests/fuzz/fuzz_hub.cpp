#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "checkpoint/hub.h"
#include "common/file.h"
#include "common/strings.h"
#include "fuzz.h"

using namespace faceter;

namespace {

/// A hub that gives one prepared answer after the other, a connection each, whatever it is asked; none when they are used up.
class PreparedHub {
  public:
    PreparedHub() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        std::signal(SIGPIPE, SIG_IGN);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        socklen_t size = sizeof address;
        FUZZ_CHECK(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(listener_, 64) == 0);
        FUZZ_CHECK(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
        port_ = ntohs(address.sin_port);
        std::thread([this] { serve(); }).detach();  // to the end of the program
    }
    /// An address of the loopback that changes, so that no pair of addresses and ports waits to be free again.
    std::string prepare(std::deque<std::string> answers) {
        const std::lock_guard lock(mutex_);
        answers_ = std::move(answers);
        ++turn_;
        return fmt::format("http://127.{}.{}.{}:{}", turn_ / 62500 % 250, turn_ / 250 % 250, 1 + turn_ % 250, port_);
    }

  private:
    void serve() {
        for (;;) {
            const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            FUZZ_CHECK(client >= 0);
            read_request(client);
            const std::string answer = next();
            ::send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
            ::close(client);
        }
    }
    static void read_request(int client) {
        std::string request;
        char bytes[4096];
        while (request.find("\r\n\r\n") == std::string::npos) {
            const ssize_t count = ::recv(client, bytes, sizeof bytes, 0);
            if (count <= 0) return;
            request.append(bytes, static_cast<std::size_t>(count));
        }
    }
    std::string next() {
        const std::lock_guard lock(mutex_);
        if (answers_.empty()) return "";
        std::string answer = std::move(answers_.front());
        answers_.pop_front();
        return answer;
    }

    int listener_;
    std::uint16_t port_ = 0;
    std::mutex mutex_;
    std::deque<std::string> answers_;
    std::uint32_t turn_ = 0;
};

/// Between zero bytes; what begins with neither HTTP nor a blank is a body with the head of success.
std::deque<std::string> answers_of(std::string_view text) {
    std::deque<std::string> answers;
    for (const std::string_view part : split(text, '\0'))
        answers.push_back(part.starts_with("HTTP") || part.starts_with(' ')
                              ? std::string(part)
                              : fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", part.size(), part));
    return answers;
}

}  // namespace

/// The answers of a hub to the fetching of a model, one after the other.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static PreparedHub hub;
    static const TemporaryDirectory root;
    const fs::path cache = root.path() / "cache";
    const int result = fuzz_one(data, size, [&](std::string_view text) {
        HubSettings settings;
        settings.endpoint = hub.prepare(answers_of(text));
        settings.cache = cache;
        settings.max_attempts = 1;
        settings.retry_wait_ms = 0;
        const auto folder = fetch_model({"org/model", "main"}, settings);
        if (!folder) return;
        FUZZ_CHECK(folder->string().starts_with((cache / "models--org--model" / "snapshots").string()));
        is_complete(*folder);
    });
    for (const auto& found : fs::directory_iterator(root.path())) FUZZ_CHECK(found.path() == cache);
    if (fs::exists(cache))
        for (const auto& found : fs::directory_iterator(cache))
            FUZZ_CHECK(found.path().filename() == "models--org--model" || found.path().filename() == ".locks");
    remove_tree(cache);
    return result;
}
