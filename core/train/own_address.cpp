#include "train/own_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string_view>

namespace faceter {
namespace {

bool is_loopback(std::string_view address) { return address.starts_with("127.") || address == "::1"; }

/// The source that a datagram to `to` would have.
std::string source_towards(const addrinfo& to) {
    const int socket = ::socket(to.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return {};
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    auto* address = reinterpret_cast<sockaddr*>(&own);
    char text[NI_MAXHOST] = "";
    if (::connect(socket, to.ai_addr, to.ai_addrlen) != 0 || ::getsockname(socket, address, &size) != 0 ||
        ::getnameinfo(address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
        text[0] = 0;
    ::close(socket);
    return text;
}

}  // namespace

std::string own_address_towards(const std::string& host, int port) {
    addrinfo wanted{}, *found = nullptr;
    wanted.ai_socktype = SOCK_DGRAM;
    if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0) return {};
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
    for (const addrinfo* one = all.get(); one; one = one->ai_next)
        if (std::string address = source_towards(*one); !address.empty() && !is_loopback(address)) return address;
    return {};
}

}  // namespace faceter
