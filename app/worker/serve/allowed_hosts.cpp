#include "serve/allowed_hosts.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "common/error.h"
#include "common/strings.h"

namespace faceter::worker {
namespace {

bool is_port(std::string_view text) {
    const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
    return text.empty() || (text.front() == ':' && std::all_of(text.begin() + 1, text.end(), is_digit));
}

bool is_plain_name(std::string_view text) {
    const auto fits = [](unsigned char c) { return c < 128 && (std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_'); };
    return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

bool is_ipv6(std::string_view text) {
    in6_addr address{};
    return ::inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1;
}

/// "localhost" of "LocalHost.:8080", "::1" of "[::1]:80"; empty where it is neither.
std::string name_of(std::string_view authority) {
    const bool six = authority.starts_with('[');
    const std::size_t begin = six ? 1 : 0, end = std::min(authority.find(six ? ']' : ':'), authority.size());
    std::string_view name = authority.substr(begin, end - begin), rest = authority.substr(end);
    if (six && rest.empty()) return "";  // "[::1"
    if (six) rest.remove_prefix(1);
    if (!six && name.ends_with('.')) name.remove_suffix(1);
    return is_port(rest) && (six ? is_ipv6(name) : is_plain_name(name)) ? lowercase_ascii(name) : "";
}

/// RFC 6761, section 6.3: localhost and the names below it lead to loopback, whatever a name server says.
bool is_loopback(const std::string& name) {
    in_addr four{};
    if (::inet_pton(AF_INET, name.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
    in6_addr six{};
    if (::inet_pton(AF_INET6, name.c_str(), &six) == 1)
        return IN6_IS_ADDR_LOOPBACK(&six) || (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127);
    return name == "localhost" || name.ends_with(".localhost");
}

}  // namespace

AllowedHosts AllowedHosts::all() {
    AllowedHosts hosts;
    hosts.any_ = true;
    return hosts;
}

AllowedHosts::AllowedHosts(std::string_view bound, const std::vector<std::string>& more) : names_{name_of(bound)} {
    for (const std::string& given : more) {
        const std::string name = name_of(given);
        if (name.empty())
            throw usage_error("--allow-host {}: this is no name of a host; give it alone, such as embed.example.org or [fd00::1]",
                              faceter::quoted(given));
        names_.insert(name);
    }
}

bool AllowedHosts::has_host(std::string_view authority) const {
    const std::string name = name_of(authority);
    return any_ || (!name.empty() && (is_loopback(name) || names_.contains(name)));
}

bool AllowedHosts::has_origin(std::string_view origin) const {
    if (any_) return true;
    for (const std::string_view scheme : std::array<std::string_view, 2>{"http://", "https://"})
        if (origin.starts_with(scheme)) return has_host(origin.substr(scheme.size()));
    return false;
}

}  // namespace faceter::worker
