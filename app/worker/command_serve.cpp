#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "commands.h"
#include "common/cancel.h"
#include "common/error.h"
#include "common/strings.h"
#include "number_range.h"
#include "serve/embedding_api.h"
#include "settings/core_settings.h"

namespace faceter::worker {
namespace {

constexpr std::size_t body_readers = 2;  // each holds a large body's JSON

struct ServeCommand {
    std::vector<std::string> models, allowed_hosts;
    ModelOptions common;
    std::string host = "127.0.0.1", key_file, resident = "all";
    std::uint16_t port = 8080;
    double read_timeout_s = 30, queue_timeout_s = 60;
    HttpLimits http;
    ServiceLimits service;
    ApiLimits api;
};

std::chrono::milliseconds milliseconds(double seconds) { return std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds)); }

/// Without the line break that often ends it; no client could send one that has blanks or further lines.
std::string checked_key(std::string_view given, const std::string& from) {
    const std::string key(trim(given));
    const auto is_blank = [](unsigned char c) { return c <= ' ' || c == 127; };
    if (std::any_of(key.begin(), key.end(), is_blank))
        throw usage_error("{}: an API key has no blanks and no second line; write the key alone", from);
    return key;
}

std::string api_key(const ServeCommand& options) {
    if (!options.key_file.empty()) {
        const std::string key = checked_key(read_file(options.key_file, 4096), options.key_file);
        return key.empty() ? throw usage_error("{}: holds no API key", options.key_file) : key;
    }
    const char* set = std::getenv("FACETER_API_KEY");
    return set ? checked_key(set, "FACETER_API_KEY") : "";
}

/// As it stands in an address.
std::string url_host(const std::string& host) { return host.find(':') == std::string::npos ? host : "[" + host + "]"; }

AllowedHosts allowed_hosts(const ServeCommand& options, bool has_key) {
    if (has_key && options.allowed_hosts.empty()) return AllowedHosts::all();
    return {url_host(options.host), options.allowed_hosts};
}

/// A client takes a file descriptor. Shells allow 1024 and the system far more, which is taken; where it is too few, there is room for
/// fewer clients, and those beyond are told so.
std::size_t clients_within_files(std::size_t wanted) {
    constexpr rlim_t others = 512;  // files that are read, and clients that are told that there is no room
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return wanted;
    const rlim_t enough = static_cast<rlim_t>(wanted) + others;
    if (files.rlim_cur >= enough) return wanted;
    const rlim_t before = std::exchange(files.rlim_cur, std::min(enough, files.rlim_max));
    if (::setrlimit(RLIMIT_NOFILE, &files) != 0) files.rlim_cur = before;
    const rlim_t room = files.rlim_cur - std::min(others, files.rlim_cur / 2);
    return std::min<std::size_t>(wanted, std::max<rlim_t>(room, 1));
}

/// A terminal that is closed ends the server as SIGTERM does; not where it was started to outlive it (nohup).
void end_with_terminal() {
    struct sigaction hang_up {
    }, terminate{};
    if (::sigaction(SIGHUP, nullptr, &hang_up) != 0 || hang_up.sa_handler == SIG_IGN) return;
    if (::sigaction(SIGTERM, nullptr, &terminate) == 0) ::sigaction(SIGHUP, &terminate, nullptr);
}

int serve(ServeCommand options) {
    std::signal(SIGPIPE, SIG_IGN);
    end_with_terminal();
    options.http.connections = clients_within_files(options.http.connections);
    options.http.read = milliseconds(options.read_timeout_s);
    options.service.patience = milliseconds(options.queue_timeout_s);
    const std::string key = api_key(options);
    std::unique_ptr<EmbeddingApi> api;  // made when the models are there; the address is tried first
    HttpServer server(
        options.host, options.port, options.http, [&](const std::shared_ptr<HttpExchange>& exchange) { api->handle(exchange); },
        [&](const HttpRequest& request, HttpResponse& response) { api->complete_refusal(request, response); },
        [&](const HttpRequest& head) { return api->refusal_of(head); });
    if (!server.is_loopback() && key.empty())
        throw usage_error("--host {}: others can reach that address, so an API key is needed; set FACETER_API_KEY, or give --api-key-file",
                          options.host);
    const AllowedHosts hosts = allowed_hosts(options, !key.empty());
    const ServedModels models(options.models, options.common, options.resident == "all" ? 0 : std::stoul(options.resident, nullptr, 0));
    EmbeddingService service(options.service);
    SideThreads readers(body_readers);
    api = std::make_unique<EmbeddingApi>(models, service, readers, key, hosts, options.api);
    fmt::print("listening on http://{}:{}\n", url_host(options.host), server.port());
    std::fflush(stdout);
    server.run([] { return stop_requested() != StopRequest::none; });
    return 0;
}

/// Where it listens, and to whom.
void add_listening_options(CLI::App& command, ServeCommand& options) {
    command.add_option("--host", options.host, "Address to listen on; one that others can reach needs an API key")->capture_default_str();
    command
        .add_option("--allow-host", options.allowed_hosts,
                    "Name beside loopback's under which clients may reach the server, and from which pages in browsers may ask, such as a "
                    "proxy's; may be given again. Default: none without an API key, any with one")
        ->allow_extra_args(false);
    command.add_option("--port", options.port, "Port; 0: a free one")->check(CLI::Range(0, 65535))->capture_default_str();
    command.add_option("--api-key-file", options.key_file, "File with the API key that clients must send (default: FACETER_API_KEY)")
        ->check([](const std::string& file) { return std::string(file.empty() ? "an empty word was given; name a file" : ""); });
}

void add_computing_options(CLI::App& command, ServeCommand& options) {
    command
        .add_option("--max-length", options.common.max_length, "Longest text in tokens, instruction included; default: as the model says")
        ->check(CLI::Range(1, 1 << 24));
    command.add_option("--threads", options.common.threads, "Threads; 0, the default: all cores")->check(CLI::Range(0, most_threads));
    command.add_option("--device", options.common.device, "auto (a GPU where there is one), cpu or cuda")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
        ->capture_default_str();
    add_compute_option(command, options.common);
    command
        .add_option("--resident", options.resident,
                    "Task experts (encoders, of specialists) of each model in memory at a time; the others are read when a text of theirs "
                    "comes, in the place of the one that was not asked for longest: all, or a number")
        ->check(CLI::IsMember({"all"}) | CLI::Range(1, 4096))
        ->capture_default_str();
}

void add_limits(CLI::App& command, ServeCommand& options) {
    command.add_option("--max-body", options.http.body_bytes, "Bytes of a request's body")
        ->check(CLI::Range(1024, 1 << 30))
        ->capture_default_str();
    command
        .add_option("--max-text", options.api.text_bytes,
                    "Bytes of one text, which becomes tokens whole before the model's length cuts it; beyond, 413 is answered")
        ->check(CLI::Range(1, 1 << 30))
        ->capture_default_str();
    command.add_option("--max-texts", options.api.texts, "Texts of a request")->check(CLI::Range(1, 1 << 30))->capture_default_str();
    command.add_option("--max-tokens", options.service.request_tokens, "Tokens of a request")
        ->check(CLI::Range(1, 1 << 30))
        ->capture_default_str();
    command
        .add_option("--batch-tokens", options.service.batch_tokens,
                    "Tokens of a forward pass, for which what comes meanwhile waits; default: as suits the device")
        ->check(CLI::Range(1, 1 << 30));
    command.add_option("--max-waiting", options.service.waiting_texts, "Texts that wait; beyond, 429 is answered")
        ->check(CLI::Range(1, 1 << 30))
        ->capture_default_str();
    command.add_option("--max-connections", options.http.connections, "Clients at a time; beyond, 503 is answered")
        ->check(CLI::Range(1, 1 << 30))
        ->capture_default_str();
    command
        .add_option("--read-timeout", options.read_timeout_s, "Seconds that a client may take to send a request; beyond, 408 is answered")
        ->check(finite_range(0.1, 86400))
        ->capture_default_str();
    command.add_option("--queue-timeout", options.queue_timeout_s, "Seconds that a request may wait before it is begun")
        ->check(finite_range(0.1, 86400))
        ->capture_default_str();
}

}  // namespace

void add_serve(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<ServeCommand>();
    auto* command =
        app.add_subcommand("serve", "Serve embeddings over HTTP: OpenAI's /v1/embeddings, and text-embeddings-inference's /embed.");
    command->footer(
        "Example:\n  faceter serve minilm --port 8080\n"
        "  faceter serve quickstart-mote --project my-project --port 0\n"
        "  faceter serve quickstart-mote --project my-project --resident 1\n"
        "  curl http://127.0.0.1:8080/v1/embeddings \\\n"
        "    -d '{\"model\": \"quickstart-mote:retrieval.query\", \"input\": [\"a text\"]}'\n"
        "SIGTERM, SIGHUP and Ctrl-C answer what was asked and end with 0. The API key comes from\n"
        "FACETER_API_KEY or a file. It is plain HTTP: where others could listen on the way, put a proxy\n"
        "that speaks TLS in front.");
    command->add_option("MODEL", options->models, "Runs or model folders, as --model of faceter embed")->required();
    command->add_option("--project", options->common.project, "Project folder that runs' names are looked up in");
    add_listening_options(*command, *options);
    add_computing_options(*command, *options);
    add_limits(*command, *options);
    command->callback([=, &exit_code] { exit_code = serve(*options); });
}

}  // namespace faceter::worker
