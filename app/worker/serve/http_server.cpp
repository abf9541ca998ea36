#include "serve/http_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "common/error.h"
#include "serve/growing_body.h"

namespace faceter::worker {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = boost::asio::ip::tcp;
using boost::system::error_code;

constexpr auto look_for_stop = std::chrono::milliseconds(100);
constexpr std::chrono::milliseconds surplus_time{5'000};  // of a client beyond those that there is room for, to ask and to be told
constexpr std::size_t most_surplus = 256;                 // at a time, and half as many as there is room for
constexpr std::chrono::milliseconds last_moment{1'000};   // of a client that came as the server ends, to ask

constexpr std::string_view scheme = "http://";  // of a whole address, as proxies ask

constexpr std::size_t slow_bytes_per_s = 64 << 10;  // of a client that reads a long answer

/// How long a client may take over an answer: `least`, or as long as a slow one needs.
std::chrono::milliseconds time_to_read(std::size_t bytes, std::chrono::milliseconds least) {
    return std::max(least, std::chrono::milliseconds(1000 * bytes / slow_bytes_per_s));
}

std::string_view view_of(beast::string_view text) { return {text.data(), text.size()}; }

/// "a/b" of "a%2Fb" (RFC 3986, section 2.1); what is no such escape stays.
std::string unescaped(std::string_view text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        unsigned char byte = 0;
        const std::string_view digits = text.substr(at + 1, text[at] == '%' ? 2 : 0);
        const bool escaped = digits.size() == 2 && std::from_chars(digits.data(), digits.data() + 2, byte, 16).ptr == digits.data() + 2;
        plain += escaped ? static_cast<char>(byte) : text[at];
        if (escaped) at += 2;
    }
    return plain;
}

/// Schemes are the same however they are written (RFC 3986, section 3.1).
bool is_whole_address(std::string_view target) {
    const std::string_view begin = target.substr(0, scheme.size());
    return beast::iequals({begin.data(), begin.size()}, {scheme.data(), scheme.size()});
}

/// "/embed" of "/embed?x=1", and of "http://host/embed".
std::string path_of(std::string_view target) {
    if (is_whole_address(target)) target.remove_prefix(std::min(target.size(), target.find('/', scheme.size())));
    return unescaped(target.substr(0, target.find('?')));
}

/// That of a whole address goes before the header's (RFC 9112, section 3.2.2).
template <class Message>
std::string host_of(const Message& message) {
    const std::string_view target = view_of(message.target());
    if (!is_whole_address(target)) return std::string(view_of(message[http::field::host]));
    const std::string_view rest = target.substr(scheme.size());
    return std::string(rest.substr(0, rest.find_first_of("/?")));
}

/// One, which HTTP/1.0 may leave out (RFC 9112, section 3.2): whom a request is for must be the same to all that read it.
template <class Message>
bool has_one_host(const Message& message) {
    const auto count = message.count(http::field::host);
    return count == 1 ? !host_of(message).empty() : count == 0 && message.version() < 11;
}

std::string error_body(const std::string& message) {
    return fmt::format(R"({{"error":{{"message":"{}","type":"invalid_request_error","param":null,"code":null}}}})", message);
}

}  // namespace

struct HttpServer::State : std::enable_shared_from_this<State> {
    class Connection;

    State(const HttpLimits& given, Handler with, Completion completion, Gate at_head)
        : limits(given), handler(std::move(with)), complete_refusal(std::move(completion)), gate(std::move(at_head)) {}

    void listen(const std::string& host, std::uint16_t port);
    void accept();
    void accept_later();
    void accept_waiting();
    void take(tcp::socket socket);
    void look(const std::function<bool()>& stop);
    void drain();
    /// The loop ends when the last connection is closed, and at the latest at the deadline.
    void wait_for_end(std::chrono::steady_clock::time_point deadline);
    void make_room_for_answer(const Connection& newest);

    HttpLimits limits;
    Handler handler;
    Completion complete_refusal;
    Gate gate;
    asio::io_context loop{1};
    tcp::acceptor acceptor{loop};
    asio::steady_timer timer{loop}, pause{loop};
    std::set<std::shared_ptr<Connection>> connections;
    std::size_t reserved_bytes = 0, answer_bytes = 0;
    std::uint64_t answers = 0;  // begun so far
    std::size_t surplus = 0;    // of the connections: those that are only told that there is no room
    bool draining = false;
};

/// One client. Everything but answer() and is_gone() happens on the loop's thread.
class HttpServer::State::Connection final : public std::enable_shared_from_this<Connection> {
  public:
    Connection(State& server, tcp::socket socket, bool surplus)
        : server_(server), stream_(std::move(socket)), deadline_(server.loop), surplus_(surplus) {
        server_.surplus += surplus_;
    }

    void start() { read_header(); }
    /// Unless it has sent a request that is not read yet; one that just came has a moment to send it.
    void end_if_idle() {
        if (!idle_) return;
        unread_ || (!is_new_ && !has_sent()) ? close() : give_a_moment();
    }
    std::size_t answer_bytes() const { return answer_bytes_; }
    std::uint64_t answer_number() const { return answer_number_; }
    void close() {
        error_code ignored;
        if (exchange_) hang_up();
        stop_clock();
        stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
        stream_.close();
        release();
        server_.surplus -= std::exchange(surplus_, false);
        server_.connections.erase(shared_from_this());
    }

  private:
    class Exchange;

    void read_header();
    void await_first_byte();
    bool has_first_byte();
    bool has_sent() const {
        error_code ignored;
        return buffer_.size() > 0 || stream_.socket().available(ignored) > 0;
    }
    void give_a_moment() {
        deadline_.expires_after(last_moment);
        watch_clock();
    }
    void read_rest_of_header();
    void start_clock();
    void watch_clock();
    void stop_clock() {
        late_ = false;
        deadline_.expires_at(asio::steady_timer::time_point::max());
    }
    bool is_too_late(error_code error) const { return late_ && error == asio::error::operation_aborted; }
    void took_header(error_code error);
    void read_body();
    void read_more_of_body();
    void took_more_of_body(error_code error);
    void took_body(error_code error);
    void refuse(http::status status, const std::string& message);
    void refuse(HttpResponse response);
    std::optional<HttpResponse> ask_gate() const;
    HttpRequest read_so_far() const;
    void watch_client(const std::shared_ptr<Exchange>& exchange);
    void ask_whether_gone(const std::shared_ptr<Exchange>& exchange);
    void send(HttpResponse response);
    void sent(error_code error, bool keep_alive);
    void linger();
    void hang_up();
    bool has_room(std::size_t bytes) const;
    void keep_reserved(std::size_t bytes) {
        server_.reserved_bytes += bytes;
        server_.reserved_bytes -= std::exchange(reserved_, bytes);
    }
    void keep_answer(std::size_t bytes) {
        server_.answer_bytes += bytes;
        server_.answer_bytes -= std::exchange(answer_bytes_, bytes);
    }
    void release() {
        keep_reserved(0);
        keep_answer(0);
    }

    State& server_;
    beast::tcp_stream stream_;
    asio::steady_timer deadline_;  // of a request that is being read
    beast::flat_buffer buffer_;
    std::optional<http::request_parser<GrowingBody>> parser_;
    std::optional<http::response<http::string_body>> response_;
    std::shared_ptr<Exchange> exchange_;
    std::size_t reserved_ = 0, answer_bytes_ = 0;
    std::uint64_t answer_number_ = 0;
    bool surplus_;           // beyond the clients at a time: it is told so
    unsigned version_ = 11;  // of the request, and so of the answer
    bool is_new_ = true;     // it has not begun to ask
    bool idle_ = true, keep_alive_ = false, unread_ = false, wants_body_ = true, late_ = false;
    std::array<char, 16384> discarded_{};
};

/// Outlives its connection where the work goes on.
class HttpServer::State::Connection::Exchange final : public HttpExchange {
  public:
    Exchange(const std::shared_ptr<Connection>& connection, asio::io_context& loop, HttpRequest request)
        : connection_(connection), loop_(loop), request_(std::move(request)) {}
    const HttpRequest& request() const override { return request_; }
    bool is_gone() const override { return gone_; }
    void hang_up() { gone_ = true; }
    void answer(HttpResponse response) override {
        asio::post(loop_, [connection = connection_, response = std::move(response)]() mutable {
            if (const auto still = connection.lock()) still->send(std::move(response));
        });
    }

  private:
    std::weak_ptr<Connection> connection_;
    asio::io_context& loop_;
    HttpRequest request_;
    std::atomic<bool> gone_ = false;
};

void HttpServer::State::Connection::hang_up() { std::exchange(exchange_, nullptr)->hang_up(); }

void HttpServer::State::Connection::read_header() {
    idle_ = true;
    if (server_.draining && !is_new_) return close();
    if (server_.draining) give_a_moment();
    version_ = 11;
    wants_body_ = true;
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(server_.limits.header_bytes));
    parser_->body_limit(server_.limits.body_bytes);
    stream_.expires_after(surplus_ ? surplus_time : server_.limits.idle);
    await_first_byte();
}

/// It may be long in coming; all others must follow soon.
void HttpServer::State::Connection::await_first_byte() {
    if (has_first_byte()) return read_rest_of_header();
    stream_.async_read_some(buffer_.prepare(server_.limits.header_bytes), [self = shared_from_this()](error_code error, std::size_t bytes) {
        self->buffer_.commit(bytes);
        error ? self->close() : self->await_first_byte();
    });
}

/// Empty lines in front of a request, as some clients send behind a body, are passed over (RFC 9112, section 2.2).
bool HttpServer::State::Connection::has_first_byte() {
    constexpr std::string_view empty_line = "\r\n";
    const auto come = [&] { return std::string_view(static_cast<const char*>(buffer_.data().data()), buffer_.size()); };
    while (come().starts_with(empty_line)) buffer_.consume(empty_line.size());
    return !empty_line.starts_with(come());
}

void HttpServer::State::Connection::read_rest_of_header() {
    idle_ = is_new_ = false;
    start_clock();
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](error_code error, std::size_t) { self->took_header(error); });
}

/// Beast's own limit closes the connection, and nothing could be said on it any more.
void HttpServer::State::Connection::start_clock() {
    stream_.expires_never();
    deadline_.expires_after(surplus_ ? std::min(surplus_time, server_.limits.read) : server_.limits.read);
    watch_clock();
}

void HttpServer::State::Connection::watch_clock() {
    deadline_.async_wait([self = shared_from_this()](error_code error) {
        if (error || self->deadline_.expiry() > std::chrono::steady_clock::now()) return;
        self->late_ = true;
        self->stream_.cancel();
        self->deadline_.expires_after(look_for_stop);  // bytes that came this moment make the reading go on
        self->watch_clock();
    });
}

void HttpServer::State::Connection::took_header(error_code error) {
    if (is_too_late(error)) return refuse(http::status::request_timeout, "the request did not come to its end in time");
    if (error == http::error::header_limit)
        return refuse(http::status::request_header_fields_too_large, "the header of the request is too large");
    if (error == http::error::body_limit) return refuse(http::status::payload_too_large, "the body of the request is too large");
    if (error == http::error::end_of_stream || error == beast::error::timeout || error == asio::error::operation_aborted) return close();
    if (error && error.category() != http::make_error_code(http::error::bad_method).category()) return close();
    if (error) return refuse(http::status::bad_request, "this is no HTTP request");
    const auto& header = parser_->get();
    version_ = header.version();
    wants_body_ = header.method() != http::verb::head;
    if (surplus_) return refuse(http::status::service_unavailable, "the server has as many clients as it takes at a time; ask again later");
    // Where such a body ends cannot be told (RFC 9112, section 6.3): what follows must not be read as another request.
    if (header.count(http::field::transfer_encoding) > 0 && !parser_->chunked())
        return refuse(http::status::bad_request, "the body is neither chunked nor of a length that is given");
    if (const auto codings = header.count(http::field::transfer_encoding);
        codings > 1 || (codings == 1 && !beast::iequals(header[http::field::transfer_encoding], "chunked")))
        return refuse(http::status::not_implemented, "the body has a Transfer-Encoding beside chunked; send it as it is");
    if (const auto coding = header[http::field::content_encoding]; !coding.empty() && !beast::iequals(coding, "identity"))
        return refuse(http::status::unsupported_media_type, "the body is encoded by its Content-Encoding; send it as it is");
    if (!has_one_host(header)) return refuse(http::status::bad_request, "the request must have one Host");
    if (auto refusal = ask_gate()) return refuse(std::move(*refusal));
    if (const auto length = parser_->content_length(); length && !has_room(static_cast<std::size_t>(*length)))
        return refuse(http::status::service_unavailable, "the server has no room for another request now");
    // A client of HTTP/1.0 would take what tells it to go on for its answer (RFC 9110, section 10.1.1).
    if (version_ < 11 || !beast::iequals(header[http::field::expect], "100-continue")) return read_body();
    const auto go_on = std::make_shared<http::response<http::empty_body>>(http::status::continue_, 11);
    http::async_write(stream_, *go_on,
                      [self = shared_from_this(), go_on](error_code failed, std::size_t) { failed ? self->close() : self->read_body(); });
}

/// Nobody waits with the body of another's for a key that is missing. Where there is no body, the connection can go on behind the answer.
std::optional<HttpResponse> HttpServer::State::Connection::ask_gate() const {
    if (!server_.gate || parser_->is_done()) return std::nullopt;
    HttpRequest head = read_so_far();
    if (!wants_body_) head.method = "GET";
    head.authorization = std::string(parser_->get()[http::field::authorization]);
    return server_.gate(head);
}

/// For so many bytes of this one's body beside what has come of the others'. One alone has room, however large it may be.
bool HttpServer::State::Connection::has_room(std::size_t bytes) const {
    const std::size_t others = server_.reserved_bytes - reserved_;
    return others + bytes <= std::max(server_.limits.all_bodies_bytes, server_.limits.body_bytes);
}

void HttpServer::State::Connection::read_body() {
    parser_->eager(true);
    read_more_of_body();
}

/// Only what has come takes room: what is announced may never come.
void HttpServer::State::Connection::read_more_of_body() {
    if (parser_->is_done()) return took_body({});
    http::async_read_some(stream_, buffer_, *parser_,
                          [self = shared_from_this()](error_code error, std::size_t) { self->took_more_of_body(error); });
}

void HttpServer::State::Connection::took_more_of_body(error_code error) {
    if (error) return took_body(error);
    const std::size_t come = parser_->get().body().size();
    if (!has_room(come)) return refuse(http::status::service_unavailable, "the server has no room for another request now");
    keep_reserved(come);
    read_more_of_body();
}

void HttpServer::State::Connection::took_body(error_code error) {
    if (is_too_late(error)) return refuse(http::status::request_timeout, "the request did not come to its end in time");
    if (error == http::error::body_limit) return refuse(http::status::payload_too_large, "the body of the request is too large");
    if (error && error.category() == http::make_error_code(http::error::bad_method).category() && error != http::error::partial_message &&
        error != http::error::end_of_stream)
        return refuse(http::status::bad_request, "this is no HTTP request");
    if (error) return close();
    stop_clock();  // from here on the time is ours
    auto message = parser_->release();
    keep_alive_ = message.keep_alive() && !server_.draining;
    HttpRequest request;
    request.method = wants_body_ ? std::string(message.method_string()) : "GET";
    request.path = path_of(view_of(message.target()));
    request.authorization = std::string(message[http::field::authorization]);
    request.host = host_of(message);
    request.origin = std::string(message[http::field::origin]);
    request.body = std::move(message.body());
    exchange_ = std::make_shared<Exchange>(shared_from_this(), server_.loop, std::move(request));
    watch_client(exchange_);
    try {
        server_.handler(exchange_);
    } catch (const std::exception&) {  // no memory, say: that is this request's misfortune
        refuse(http::status::internal_server_error, "the server failed at this request");
    }
}

/// A client that hangs up is noticed while its request is worked on.
void HttpServer::State::Connection::watch_client(const std::shared_ptr<Exchange>& exchange) {
    stream_.socket().async_wait(tcp::socket::wait_read, [self = shared_from_this(), exchange](error_code error) {
        if (error || self->exchange_ != exchange) return;  // answered meanwhile
        char byte = 0;
        error_code peeked;
        self->stream_.socket().non_blocking(true, peeked);
        const std::size_t bytes = self->stream_.socket().receive(asio::buffer(&byte, 1), tcp::socket::message_peek, peeked);
        if (bytes > 0 || peeked == asio::error::would_block) return;  // it asks again already
        if (peeked != asio::error::eof || self->version_ < 11) return self->close();
        self->ask_whether_gone(exchange);
    });
}

/// A client that ended its side may have hung up, or wait for its answer (RFC 9112, section 9.6). An interim answer, which one that waits
/// skips (RFC 9110, section 15.2), is reset by the system of one that has hung up. HTTP/1.0 has none: its clients have hung up.
void HttpServer::State::Connection::ask_whether_gone(const std::shared_ptr<Exchange>& exchange) {
    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    error_code error;
    const std::size_t sent = stream_.socket().send(asio::buffer(go_on), 0, error);
    if ((error && error != asio::error::would_block) || (sent > 0 && sent < go_on.size())) return close();
    stream_.socket().async_wait(tcp::socket::wait_error, [self = shared_from_this(), exchange](error_code failed) {
        if (!failed && self->exchange_ == exchange) self->close();
    });
}

/// From where a request comes that is not, or cannot be, read to its end.
HttpRequest HttpServer::State::Connection::read_so_far() const {
    if (exchange_) {
        const HttpRequest& asked = exchange_->request();
        return {asked.method, asked.path, "", "", asked.host, asked.origin};
    }
    const auto& header = parser_->get();
    return {std::string(view_of(header.method_string())), path_of(view_of(header.target())), "", "", host_of(header),
            std::string(header[http::field::origin])};
}

void HttpServer::State::Connection::refuse(http::status status, const std::string& message) {
    HttpResponse response{static_cast<int>(status), error_body(message), "application/json", {}};
    if (status == http::status::service_unavailable) response.headers.emplace_back("Retry-After", "1");
    refuse(std::move(response));
}

void HttpServer::State::Connection::refuse(HttpResponse response) {
    stop_clock();
    keep_alive_ = false;
    unread_ = true;
    if (server_.complete_refusal) server_.complete_refusal(read_so_far(), response);
    if (parser_) parser_->get().body() = {};
    keep_reserved(0);
    send(std::move(response));
}

void HttpServer::State::Connection::send(HttpResponse response) {
    exchange_.reset();
    if (!stream_.socket().is_open()) return;
    error_code ignored;
    stream_.socket().cancel(ignored);  // the watch
    const bool keep_alive = keep_alive_ && !server_.draining;
    response_.emplace(static_cast<http::status>(response.status), version_);
    response_->set(http::field::content_type, response.type);
    for (const auto& [name, value] : response.headers) response_->set(name, value);
    response_->keep_alive(keep_alive);
    if (response.status != 204) response_->content_length(response.body.size());  // that has no body (RFC 9110, section 8.6)
    if (wants_body_) response_->body() = std::move(response.body);
    keep_answer(response_->body().size());
    answer_number_ = ++server_.answers;
    server_.make_room_for_answer(*this);
    stream_.expires_after(surplus_ ? surplus_time : time_to_read(response_->body().size(), server_.limits.write));
    http::async_write(stream_, *response_,
                      [self = shared_from_this(), keep_alive](error_code error, std::size_t) { self->sent(error, keep_alive); });
}

void HttpServer::State::Connection::sent(error_code error, bool keep_alive) {
    response_.reset();
    release();
    if (!error && unread_) return linger();
    if (error || !keep_alive) return close();
    read_header();
}

/// A client that still sends what was refused would be reset before it has read why: what comes is thrown away until it ends, for a while.
void HttpServer::State::Connection::linger() {
    if (server_.draining) return close();
    idle_ = true;  // nothing is owed to it any more: the end does not wait for it
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.async_read_some(asio::buffer(discarded_), [self = shared_from_this()](error_code error, std::size_t) {
        error ? self->close() : self->linger();  // within the time that the answer had
    });
}

void HttpServer::State::listen(const std::string& host, std::uint16_t port) {
    error_code error;
    tcp::resolver resolver(loop);
    const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, error);
    if (error || found.empty()) throw usage_error("--host {}: no such address; give one of this machine's, such as 127.0.0.1", host);
    const tcp::endpoint endpoint = *found.begin();
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error == boost::system::errc::address_not_available)
        throw usage_error("--host {}: it is no address of this machine; give one that is, such as 127.0.0.1", host);
    if (error) throw usage_error("{} port {}: cannot listen there: {}; choose another --port (0: a free one)", host, port, error.message());
}

void HttpServer::State::accept() {
    acceptor.async_accept([this, self = shared_from_this()](error_code error, tcp::socket socket) {
        if (error == asio::error::operation_aborted) return;
        if (error) return accept_later();  // no descriptor is free, say
        take(std::move(socket));
        if (acceptor.is_open()) accept();
    });
}

/// One beyond those that are told is closed as it goes.
void HttpServer::State::take(tcp::socket socket) {
    const bool full = connections.size() - surplus >= limits.connections;
    if (full && surplus >= std::min(most_surplus, limits.connections / 2 + 1)) return;
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    const auto connection = std::make_shared<Connection>(*this, std::move(socket), full);
    connections.insert(connection);
    connection->start();
}

/// Those whose connections the system has made already.
void HttpServer::State::accept_waiting() {
    error_code error;
    acceptor.non_blocking(true, error);
    for (int i = 0; i < asio::socket_base::max_listen_connections && !error; ++i) {
        tcp::socket socket(loop);
        acceptor.accept(socket, error);
        if (!error) take(std::move(socket));
    }
}

void HttpServer::State::accept_later() {
    pause.expires_after(look_for_stop);
    pause.async_wait([this, self = shared_from_this()](error_code error) {
        if (!error && acceptor.is_open()) accept();
    });
}

void HttpServer::State::look(const std::function<bool()>& stop) {
    timer.expires_after(look_for_stop);
    timer.async_wait([this, self = shared_from_this(), stop](error_code error) {
        if (error) return;
        if (stop()) return drain();
        look(stop);
    });
}

void HttpServer::State::drain() {
    accept_waiting();
    error_code ignored;
    acceptor.close(ignored);
    draining = true;
    asio::post(loop, [this, self = shared_from_this()] {  // behind what the loop has read already
        const auto open = connections;
        for (const auto& connection : open) connection->end_if_idle();
        wait_for_end(std::chrono::steady_clock::now() + limits.drain);
    });
}

void HttpServer::State::wait_for_end(std::chrono::steady_clock::time_point deadline) {
    if (connections.empty() || std::chrono::steady_clock::now() >= deadline) return loop.stop();
    timer.expires_after(look_for_stop);
    timer.async_wait([this, self = shared_from_this(), deadline](error_code) { wait_for_end(deadline); });
}

/// Clients that read are done before others begin: the oldest answer is that of the slowest. One alone has room, however large it may be.
void HttpServer::State::make_room_for_answer(const Connection& newest) {
    while (answer_bytes > limits.all_answers_bytes) {
        std::shared_ptr<Connection> oldest;
        std::size_t largest = newest.answer_bytes();
        for (const auto& connection : connections) {
            largest = std::max(largest, connection->answer_bytes());
            if (connection->answer_bytes() == 0 || connection.get() == &newest) continue;
            if (!oldest || connection->answer_number() < oldest->answer_number()) oldest = connection;
        }
        if (!oldest || answer_bytes - largest <= limits.all_answers_bytes) return;
        oldest->close();
    }
}

HttpServer::HttpServer(const std::string& host, std::uint16_t port, const HttpLimits& limits, Handler handler, Completion complete_refusal,
                       Gate gate)
    : state_(std::make_shared<State>(limits, std::move(handler), std::move(complete_refusal), std::move(gate))) {
    state_->listen(host, port);
}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const { return state_->acceptor.local_endpoint().port(); }
bool HttpServer::is_loopback() const { return state_->acceptor.local_endpoint().address().is_loopback(); }

void HttpServer::run(const std::function<bool()>& stop) {
    state_->accept();
    state_->look(stop);
    state_->loop.run();
    for (const auto& connection : std::set(state_->connections)) connection->close();  // their requests are not wanted any more
}

}  // namespace faceter::worker
