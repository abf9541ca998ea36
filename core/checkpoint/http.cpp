#include "checkpoint/http.h"

#include <curl/curl.h>
#include <dlfcn.h>

#include <charconv>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>

#include "common/cancel.h"
#include "common/error.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::size_t max_body_bytes = 16u << 20;

/// The functions of libcurl that are used, looked up at run time.
struct Curl {
    decltype(&curl_easy_init) init;
    decltype(&curl_easy_setopt) setopt;
    decltype(&curl_easy_perform) perform;
    decltype(&curl_easy_getinfo) getinfo;
    decltype(&curl_easy_cleanup) cleanup;
    decltype(&curl_easy_strerror) strerror;
    decltype(&curl_slist_append) append;
    decltype(&curl_slist_free_all) free_all;

    static const Curl& library() {
        static const Curl curl = open();
        return curl;
    }

  private:
    static Curl open() {
        void* handle = nullptr;
        for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"})
            if (!handle) handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
        const auto function = [&](const char* name) {
            void* address = handle ? ::dlsym(handle, name) : nullptr;
            if (!address)
                throw failure("models cannot be fetched, for libcurl is not installed; install it (libcurl4), or give a folder on disk");
            return address;
        };
        const auto global_init = reinterpret_cast<decltype(&curl_global_init)>(function("curl_global_init"));
        global_init(CURL_GLOBAL_DEFAULT);
        Curl curl;
        curl.init = reinterpret_cast<decltype(curl.init)>(function("curl_easy_init"));
        curl.setopt = reinterpret_cast<decltype(curl.setopt)>(function("curl_easy_setopt"));
        curl.perform = reinterpret_cast<decltype(curl.perform)>(function("curl_easy_perform"));
        curl.getinfo = reinterpret_cast<decltype(curl.getinfo)>(function("curl_easy_getinfo"));
        curl.cleanup = reinterpret_cast<decltype(curl.cleanup)>(function("curl_easy_cleanup"));
        curl.strerror = reinterpret_cast<decltype(curl.strerror)>(function("curl_easy_strerror"));
        curl.append = reinterpret_cast<decltype(curl.append)>(function("curl_slist_append"));
        curl.free_all = reinterpret_cast<decltype(curl.free_all)>(function("curl_slist_free_all"));
        return curl;
    }
};

/// One transfer and what its callbacks fill.
struct Transfer {
    const HttpRequest& request;
    HttpResponse response;
    std::uint64_t from_byte = 0;  // where the body begins in the file
    std::exception_ptr error;

    void start_answer(std::string_view line) {
        response.headers.clear();
        response.body.clear();
        from_byte = 0;
        const std::size_t blank = line.find(' ');
        if (blank != std::string_view::npos) std::from_chars(line.data() + blank + 1, line.data() + line.size(), response.status);
    }
    void take_header(std::string_view line) {
        if (line.starts_with("HTTP/")) return start_answer(line);
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos || response.headers.size() > 200) return;
        const std::string name = lowercase_ascii(trim(line.substr(0, colon)));
        const std::string_view value = trim(line.substr(colon + 1));
        response.headers[name] = value;
        if (name == "content-range" && value.starts_with("bytes "))
            std::from_chars(value.data() + 6, value.data() + value.size(), from_byte);
    }
    /// False ends the transfer.
    bool take_body(std::string_view bytes) try {
        const bool success = response.status >= 200 && response.status < 300;
        if (success && request.on_body) {
            request.on_body(bytes, from_byte);
            from_byte += bytes.size();
            return true;
        }
        if (response.body.size() + bytes.size() > max_body_bytes)
            throw data_error("{} answers with more than {} MiB; none of a hub's answers is as long", request.url, max_body_bytes >> 20);
        response.body += bytes;
        return true;
    } catch (...) {
        error = std::current_exception();
        return false;
    }
};

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* transfer) {
    static_cast<Transfer*>(transfer)->take_header({data, size * count});
    return size * count;
}
std::size_t on_write(char* data, std::size_t size, std::size_t count, void* transfer) {
    return static_cast<Transfer*>(transfer)->take_body({data, size * count}) ? size * count : 0;
}
int on_progress(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) { return stop_requested() == StopRequest::none ? 0 : 1; }

/// libcurl before 7.85 knows no names of protocols, but bits.
void limit_protocols(CURL* handle, const std::string& url) {
    constexpr auto protocols = static_cast<CURLoption>(181), redirect = static_cast<CURLoption>(182);  // deprecated, hence by number
    const Curl& curl = Curl::library();
    const bool only_https = std::string_view(redirect_protocols(url)) == "https";
    curl.setopt(handle, CURLOPT_DEFAULT_PROTOCOL, "https");
    if (curl.setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
        curl.setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, redirect_protocols(url)) == CURLE_OK)
        return;
    const bool limited = curl.setopt(handle, protocols, long{CURLPROTO_HTTP | CURLPROTO_HTTPS}) == CURLE_OK &&
                         curl.setopt(handle, redirect, long{only_https ? CURLPROTO_HTTPS : CURLPROTO_HTTP | CURLPROTO_HTTPS}) == CURLE_OK;
    if (!limited) throw failure("this libcurl cannot be kept to http and https; install a newer one, or give a folder on disk");
}

/// The variables by which other clients of the hub are told of certificates of one's own, such as a proxy's.
constexpr const char* certificate_variables[] = {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"};

/// The first of them that is set, and its value; empty where none is.
std::pair<std::string, std::string> own_certificates() {
    for (const char* name : certificate_variables)
        if (const char* value = std::getenv(name); value && *value) return {name, value};
    return {};
}

/// A file, or a folder of files named by their hashes.
void trust_own_certificates(CURL* handle) {
    const std::string path = own_certificates().second;
    std::error_code error;
    if (path.empty()) return;
    Curl::library().setopt(handle, std::filesystem::is_directory(path, error) ? CURLOPT_CAPATH : CURLOPT_CAINFO, path.c_str());
}

void set_options(CURL* handle, const HttpRequest& request, Transfer& transfer, curl_slist* headers) {
    const Curl& curl = Curl::library();
    curl.setopt(handle, CURLOPT_URL, request.url.c_str());
    limit_protocols(handle, request.url);
    trust_own_certificates(handle);
    curl.setopt(handle, CURLOPT_HTTPHEADER, headers);
    curl.setopt(handle, CURLOPT_NOBODY, request.head ? 1L : 0L);
    curl.setopt(handle, CURLOPT_FOLLOWLOCATION, request.follow_redirects ? 1L : 0L);
    curl.setopt(handle, CURLOPT_MAXREDIRS, 10L);
    curl.setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl.setopt(handle, CURLOPT_CONNECTTIMEOUT, 15L);
    curl.setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);  // bytes a second, for
    curl.setopt(handle, CURLOPT_LOW_SPEED_TIME, 60L);  // seconds: then the connection is taken for dead
    curl.setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
    curl.setopt(handle, CURLOPT_HEADERDATA, &transfer);
    curl.setopt(handle, CURLOPT_WRITEFUNCTION, on_write);
    curl.setopt(handle, CURLOPT_WRITEDATA, &transfer);
    curl.setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl.setopt(handle, CURLOPT_XFERINFOFUNCTION, on_progress);
    if (request.from_byte > 0) curl.setopt(handle, CURLOPT_RANGE, fmt::format("{}-", request.from_byte).c_str());
}

/// Whom the server says to be was not to be verified, or not with these certificates.
bool is_of_certificates(CURLcode code) { return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE; }

/// A redirect that is not followed: to another protocol (file://), to what is no address, or in a circle; or certificates.
bool is_lasting(CURLcode code) {
    return code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_URL_MALFORMAT || code == CURLE_TOO_MANY_REDIRECTS ||
           is_of_certificates(code);
}

/// With what says which certificates are trusted.
std::string problem_of(CURLcode code) {
    const std::string what = Curl::library().strerror(code);
    if (!is_of_certificates(code)) return what;
    const auto [name, path] = own_certificates();
    return name.empty() ? what + " (SSL_CERT_FILE may name a file of certificates to trust, such as a proxy's)"
                        : fmt::format("{} ({} names the certificates to trust: {})", what, name, path);
}

}  // namespace

const char* redirect_protocols(std::string_view url) { return lowercase_ascii(url.substr(0, 7)) == "http://" ? "http,https" : "https"; }

HttpResponse http_request(const HttpRequest& request) {
    const Curl& curl = Curl::library();
    const std::unique_ptr<CURL, decltype(curl.cleanup)> handle(curl.init(), curl.cleanup);
    if (!handle) throw failure("libcurl cannot start a request");
    curl_slist* list = nullptr;
    for (const std::string& header : request.headers) list = curl.append(list, header.c_str());
    const std::unique_ptr<curl_slist, decltype(curl.free_all)> headers(list, curl.free_all);
    Transfer transfer{request, {}, 0, nullptr};
    set_options(handle.get(), request, transfer, list);
    const CURLcode code = curl.perform(handle.get());
    if (transfer.error) std::rethrow_exception(transfer.error);
    transfer.response.stopped = code == CURLE_ABORTED_BY_CALLBACK;
    transfer.response.lasting = is_lasting(code);
    if (code != CURLE_OK) transfer.response.network_error = problem_of(code);
    return std::move(transfer.response);
}

}  // namespace faceter
