#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace faceter {

struct HttpRequest {
    std::string url;  ///< http or https
    std::vector<std::string> headers;
    bool head = false;
    bool follow_redirects = false;  ///< also to other hosts; the Authorization header stays with the first
    std::uint64_t from_byte = 0;    ///< asks for the rest of a file
    /// Gets the body piece by piece, of a successful answer only. May be empty.
    std::function<void(std::string_view bytes, std::uint64_t from_byte)> on_body;
};

struct HttpResponse {
    int status = 0;
    std::map<std::string, std::string> headers;  ///< names in lower case; of the last answer
    std::string body;                            ///< of an answer that is no success, or without on_body; at most 16 MiB
    std::string network_error;                   ///< empty where an answer came whole
    bool lasting = false;                        ///< the network error is of the answer itself: another try would end the same way
    bool stopped = false;                        ///< a stop was asked for meanwhile (common/cancel.h)

    std::string header(const std::string& name) const {
        const auto found = headers.find(name);
        return found == headers.end() ? std::string() : found->second;
    }
    bool succeeded() const { return network_error.empty() && status >= 200 && status < 300; }
};

/// Where an answer to a request for `url` may redirect to, as libcurl writes it: from https never to plain http, which others can read.
const char* redirect_protocols(std::string_view url);

/// One request over libcurl, which is opened when first needed (programs that fetch nothing start without it). An answer with an error
/// status and a broken connection are no exceptions; a libcurl that cannot be opened is one (failed), as is whatever on_body throws; a
/// longer body than a response holds is a data error.
HttpResponse http_request(const HttpRequest& request);

}  // namespace faceter
