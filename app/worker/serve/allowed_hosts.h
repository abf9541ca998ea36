#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace faceter::worker {

/// From where a server may be asked. A page in a browser reaches a server on loopback that asks for no key: from its own site, which the
/// browser says in `Origin` (Fetch, section 3.2), or under the name of its site, which it lets lead to 127.0.0.1 once it is loaded (DNS
/// rebinding): the browser then sees nothing foreign, but sends that name as `Host`. No page can change either header.
class AllowedHosts {
  public:
    /// Anywhere: whoever knows the key may ask.
    static AllowedHosts all();
    /// The names and addresses of loopback, the one that is `bound`, and `more`; ports play no part. Errors (usage): one of `more` is no
    /// name.
    AllowedHosts(std::string_view bound, const std::vector<std::string>& more);

    /// `authority`: a name or address with or without a port, as in Host.
    bool has_host(std::string_view authority) const;
    /// `origin`: "https://name:port"; what a browser calls "null", and pages of other schemes, are none of these hosts'.
    bool has_origin(std::string_view origin) const;

  private:
    AllowedHosts() = default;
    bool any_ = false;
    std::set<std::string> names_;
};

}  // namespace faceter::worker
