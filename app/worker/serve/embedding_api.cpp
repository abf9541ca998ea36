#include "serve/embedding_api.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "common/error.h"
#include "common/json_text.h"
#include "common/strings.h"
#include "eval/quantise.h"
#include "model/compute.h"
#include "text/base64.h"

namespace faceter::worker {
namespace {

constexpr std::array<std::string_view, 6> paths{"/v1/embeddings", "/v1/models", "/embed", "/info", "/health", "/metrics"};

constexpr std::string_view one_model = "/v1/models/";
constexpr std::size_t quick_body = 64 << 10;  // bytes, which are read as they come

/// A stranger must not make as many counters as he likes.
std::string counted_path(const std::string& path) {
    if (path.starts_with(one_model)) return "/v1/models";
    return std::find(paths.begin(), paths.end(), path) != paths.end() ? path : "other";
}

/// text-embeddings-inference takes texts at the root as well, to which huggingface_hub's client sends them.
std::string served_path(const HttpRequest& request) { return request.method == "POST" && request.path == "/" ? "/embed" : request.path; }

bool is_for_embeddings(const HttpRequest& request) {
    return request.method == "POST" && (request.path == "/v1/embeddings" || served_path(request) == "/embed");
}

std::string text_of(const Json& json) { return json_text(json); }

/// As OpenAI's clients read it; `code` may be null.
HttpResponse error_with_code(int status, const std::string& message, const char* code) {
    const char* type = status == 401   ? "authentication_error"
                       : status == 429 ? "rate_limit_error"
                       : status >= 500 ? "server_error"
                                       : "invalid_request_error";
    Json error = {{"message", message}, {"type", type}, {"param", nullptr}, {"code", nullptr}};
    if (code) error["code"] = code;
    HttpResponse response{status, text_of({{"error", error}})};
    if (status == 429 || status == 503) response.headers.emplace_back("Retry-After", "1");
    return response;
}

/// 404 is of a model, or of a prompt in its name.
HttpResponse openai_error(int status, const std::string& message) {
    return error_with_code(status, message, status == 401 ? "invalid_api_key" : status == 404 ? "model_not_found" : nullptr);
}

HttpResponse no_key() {
    HttpResponse response = openai_error(401, "the API key is missing or wrong; send it as 'Authorization: Bearer KEY'");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
}

HttpResponse foreign(const HttpRequest& request) {
    const std::string whom = request.origin.empty()
                                 ? fmt::format("as {}", faceter::quoted(request.host))
                                 : fmt::format("as {} by a page of {}", faceter::quoted(request.host), faceter::quoted(request.origin));
    return openai_error(403,
                        fmt::format("the server was asked {}; it answers to localhost and to the names of its --allow-host alone, pages "
                                    "in browsers included: start it with --allow-host NAME, or with a key in FACETER_API_KEY and "
                                    "without --allow-host",
                                    whom));
}

/// What a browser asks before a page may send JSON or a key. "*" takes no Authorization in (Fetch, section 3.3.3).
HttpResponse preflight() {
    HttpResponse response{204, ""};
    response.headers.emplace_back("Access-Control-Allow-Methods", "GET, HEAD, POST");
    response.headers.emplace_back("Access-Control-Allow-Headers", "Authorization, *");
    response.headers.emplace_back("Access-Control-Max-Age", "600");
    return response;
}

HttpResponse wrong_method(const HttpRequest& request) {
    HttpResponse response = openai_error(405, fmt::format("{} is not for {}", request.path, request.method.substr(0, 20)));
    const bool takes_texts = request.path == "/v1/embeddings" || request.path == "/embed";
    response.headers.emplace_back("Allow", takes_texts ? "POST" : "GET, HEAD");
    return response;
}

HttpResponse tei_error(int status, const std::string& message) {
    const char* type = status == 429 ? "Overloaded" : status >= 500 ? "Backend" : "Validation";
    HttpResponse response{status, text_of({{"error", message}, {"error_type", type}})};
    if (status == 429 || status == 503) response.headers.emplace_back("Retry-After", "1");
    return response;
}

/// The shortest text that reads back as the same number, for each.
void append_floats(const float* row, std::int64_t dim, std::string& out) {
    std::array<char, 32> number;
    out += '[';
    for (std::int64_t d = 0; d < dim; ++d) {
        if (d > 0) out += ',';
        out.append(number.data(), std::to_chars(number.data(), number.data() + number.size(), row[d]).ptr);
    }
    out += ']';
}
/// Of a number and its comma, nearly always.
constexpr std::size_t float_bytes = 14;

Json resident(const ServedModels::One& one) {
    const ResidentParts::Counts counts = one.parts->counts();
    return {{"at_most", one.parts->at_most()}, {"now", counts.resident.size()}, {"prompts", one.resident_prompts()},
            {"reads", counts.reads},           {"given_up", counts.given_up},   {"reading_s", counts.reading_s}};
}

std::string base64_floats(const float* row, std::int64_t dim) {
    return "\"" + encode_base64({reinterpret_cast<const char*>(row), static_cast<std::size_t>(dim) * sizeof(float)}) + "\"";
}

std::string openai_body(const at::Tensor& rows, bool base64, const std::string& model, std::size_t tokens) {
    std::string body = R"({"object":"list","data":[)";
    body.reserve(static_cast<std::size_t>(rows.numel()) * float_bytes + 256);
    for (std::int64_t i = 0; i < rows.size(0); ++i) {
        const float* row = rows.data_ptr<float>() + i * rows.size(1);
        body += fmt::format(R"({}{{"object":"embedding","index":{},"embedding":)", i ? "," : "", i);
        if (base64)
            body += base64_floats(row, rows.size(1));
        else
            append_floats(row, rows.size(1), body);
        body += '}';
    }
    return body + fmt::format(R"(],"model":{},"usage":{{"prompt_tokens":{},"total_tokens":{}}}}})", text_of(model), tokens, tokens);
}

std::string tei_body(const at::Tensor& rows) {
    std::string body = "[";
    body.reserve(static_cast<std::size_t>(rows.numel()) * float_bytes + 256);
    for (std::int64_t i = 0; i < rows.size(0); ++i) {
        if (i > 0) body += ',';
        append_floats(rows.data_ptr<float>() + i * rows.size(1), rows.size(1), body);
    }
    return body + "]";
}

std::int64_t dimensions_of(const EmbeddingRequest& request, const ServedRouteOf& where) {
    const std::int64_t dimensions = request.dimensions.value_or(where.dim);
    if (dimensions > where.dim) throw Refused(400, fmt::format("dimensions is {}; the model's embeddings have {}", dimensions, where.dim));
    if (dimensions < where.dim && where.whole_only)
        throw Refused(400,
                      fmt::format("dimensions is {}; the run was not trained for prefixes of its embeddings "
                                  "(objective.matryoshka_dims is empty), so {} can be had alone: ask for them, or leave dimensions out",
                                  dimensions, where.dim));
    return dimensions;
}

/// Ids are embedded as they are: what a prompt puts in front of a text would silently be missing.
void refuse_strange_ids(const EmbeddingRequest& request, const EmbeddingModel& model, const Route& route) {
    if (request.ids.empty()) return;
    if (route.routed) throw Refused(400, "a model with a router takes texts, not token ids");
    if (!route.instruction.empty())
        throw Refused(400, fmt::format("the instruction {} cannot be put in front of token ids, which are embedded as they are; send texts",
                                       faceter::quoted(route.instruction)));
    const auto vocabulary = static_cast<std::int32_t>(model.tokenizer->vocab_size());
    for (const auto& ids : request.ids)
        for (const std::int32_t id : ids)
            if (id >= vocabulary)
                throw Refused(400, fmt::format("token id {} is none of this model's, which has ids from 0 to {}", id, vocabulary - 1));
}

void refuse_other_side(const EmbeddingRequest& request, const EmbeddingModel& model) {
    if (!request.cut_left || !request.truncate || *request.cut_left == cuts_left(*model.tokenizer)) return;
    throw Refused(400, fmt::format("this model's texts are cut at their {} alone; truncation_direction may be {}",
                                   *request.cut_left ? "end" : "beginning", *request.cut_left ? "Right" : "Left"));
}

}  // namespace

EmbeddingApi::EmbeddingApi(const ServedModels& models, EmbeddingService& service, SideThreads& readers, std::string key, AllowedHosts hosts,
                           const ApiLimits& limits)
    : models_(models), service_(service), readers_(readers), key_(std::move(key)), hosts_(std::move(hosts)), limits_(limits) {}

EmbeddingApi::Asked EmbeddingApi::work_of(EmbeddingRequest&& request) const {
    Asked asked;
    asked.work.where = models_.find(request.model, request.prompt_name);
    refuse_strange_ids(request, *asked.work.where.model, asked.work.where.route);
    refuse_other_side(request, *asked.work.where.model);
    asked.dimensions = dimensions_of(request, asked.work.where);
    asked.work.texts = std::move(request.texts);
    asked.work.ids = std::move(request.ids);
    asked.work.truncate = request.truncate;
    return asked;
}

EmbeddingApi::Asked EmbeddingApi::read_openai(const std::string& body) const {
    EmbeddingRequest request = read_openai_request(body, limits_);
    const std::string model = request.model.empty() ? models_.all().front().name : request.model;  // without one it is the only one
    const bool base64 = request.base64;
    Asked asked = work_of(std::move(request));
    asked.write = [=, dimensions = asked.dimensions, normalise = asked.work.where.model->folder.normalize](const EmbedResult& result) {
        const at::Tensor rows = shortened(result.rows, dimensions, normalise).contiguous();
        return HttpResponse{200, openai_body(rows, base64, model, result.tokens)};
    };
    return asked;
}

EmbeddingApi::Asked EmbeddingApi::read_tei(const std::string& body) const {
    EmbeddingRequest request = read_tei_request(body, limits_);
    const auto wanted = request.normalise;
    Asked asked = work_of(std::move(request));
    const bool has_length_1 = asked.work.where.model->folder.normalize && asked.dimensions == asked.work.where.dim;
    // Divided by its length once more, a vector is another one in its last bits.
    const bool normalise = wanted.value_or(asked.work.where.model->folder.normalize) && !has_length_1;
    asked.write = [normalise, dimensions = asked.dimensions](const EmbedResult& result) {
        const at::Tensor rows = result.rows.narrow(1, 0, dimensions);
        return HttpResponse{200, tei_body((normalise ? normalize_rows(rows) : rows).contiguous())};
    };
    return asked;
}

bool EmbeddingApi::has_key(const HttpRequest& request) const {
    if (key_.empty()) return true;
    constexpr std::string_view scheme = "bearer ";  // however it is written (RFC 9110, section 11.1)
    const std::string_view given = request.authorization, key = given.substr(std::min(scheme.size(), given.size()));
    unsigned char differs = key.size() != key_.size();  // without telling by the time it takes how far a guess is right
    for (std::size_t i = 0; i < key_.size(); ++i) differs |= static_cast<unsigned char>(key_[i] ^ (i < key.size() ? key[i] : '\0'));
    return lowercase_ascii(given.substr(0, scheme.size())) == scheme && differs == 0;
}

bool EmbeddingApi::is_foreign(const HttpRequest& request) const {
    return (!request.host.empty() && !hosts_.has_host(request.host)) || (!request.origin.empty() && !hosts_.has_origin(request.origin));
}

void EmbeddingApi::allow_page(const HttpRequest& request, HttpResponse& response) const {
    if (request.origin.empty() || is_foreign(request)) return;
    response.headers.emplace_back("Access-Control-Allow-Origin", request.origin);
    response.headers.emplace_back("Access-Control-Expose-Headers", "Retry-After");
    response.headers.emplace_back("Vary", "Origin");
}

std::optional<HttpResponse> EmbeddingApi::refusal_of(const HttpRequest& head) const {
    if (is_foreign(head)) return foreign(head);
    const bool is_open = (head.method == "OPTIONS" && !head.origin.empty()) || (head.method == "GET" && head.path == "/health");
    return is_open || has_key(head) ? std::nullopt : std::optional(no_key());
}

void EmbeddingApi::handle(const std::shared_ptr<HttpExchange>& exchange) {
    const HttpRequest& request = exchange->request();
    const auto start = std::chrono::steady_clock::now();
    const auto reply = [&](HttpResponse response) { answer(exchange, std::move(response), nullptr, 0, start); };
    const auto is = [&](const char* method, const char* path) { return request.method == method && served_path(request) == path; };
    if (auto refusal = refusal_of(request)) return reply(std::move(*refusal));
    if (request.method == "OPTIONS" && !request.origin.empty()) return reply(preflight());  // which has no key
    if (is("GET", "/health")) return reply({200, "{}"});
    if (is("GET", "/info")) return reply({200, text_of(info())});
    if (is("GET", "/v1/models")) return reply({200, text_of(model_list())});
    if (request.method == "GET" && request.path.starts_with(one_model)) return reply(model_card(request.path.substr(one_model.size())));
    if (is("GET", "/metrics")) return reply({200, metrics(), "text/plain; version=0.0.4"});
    if (is("POST", "/v1/embeddings")) return embed(exchange, &EmbeddingApi::read_openai, openai_error);
    if (is("POST", "/embed")) return embed(exchange, &EmbeddingApi::read_tei, tei_error);
    if (counted_path(request.path) != "other") return reply(wrong_method(request));
    reply(error_with_code(404, fmt::format("no such path; {} are served", fmt::join(paths, ", ")), nullptr));
}

/// Without an error of its own: the thread that embeds for all goes on.
HttpResponse EmbeddingApi::answer_of(const EmbedResult& result, const Writer& write, Refusal refuse) {
    try {
        return result.status == 200 ? write(result) : refuse(result.status, result.error);
    } catch (const std::exception&) {  // no memory, say
        return refuse(500, describe_current_exception().second);
    }
}

void EmbeddingApi::embed(const std::shared_ptr<HttpExchange>& exchange, Reader read, Refusal refuse) {
    const auto start = Clock::now();
    if (exchange->request().body.size() <= quick_body) return submit(exchange, read, refuse, start);
    readers_.run([=, this] { embed_long(exchange, read, refuse, start); });
}

/// On a thread beside the one that all other requests come from.
void EmbeddingApi::embed_long(const std::shared_ptr<HttpExchange>& exchange, Reader read, Refusal refuse, Clock::time_point start) {
    try {
        exchange->is_gone() ? service_.count_dropped() : submit(exchange, read, refuse, start);
    } catch (const std::exception&) {  // no memory, even to say so
        exchange->answer({500, ""});
    }
}

void EmbeddingApi::submit(const std::shared_ptr<HttpExchange>& exchange, Reader read, Refusal refuse, Clock::time_point start) {
    try {
        Asked asked = (this->*read)(exchange->request().body);
        const auto about = std::make_shared<EmbedWork>();
        about->where = asked.work.where;
        about->texts.resize(asked.work.size());  // how many; the texts themselves go to the service
        const bool taken = service_.submit(
            std::move(asked.work), [exchange] { return exchange->is_gone(); },
            [this, exchange, start, refuse, about, write = std::move(asked.write)](EmbedResult result) {
                answer(exchange, answer_of(result, write, refuse), about.get(), result.tokens, start);
            });
        if (!taken) answer(exchange, refuse(429, "too many texts are waiting; ask again in a second"), about.get(), 0, start);
    } catch (const Refused& refused) {
        answer(exchange, refuse(refused.status, refused.what()), nullptr, 0, start);
    } catch (const Error& error) {  // a model or prompt that is not there, JSON that is none
        answer(exchange, refuse(error.code() == ExitCode::usage ? 404 : 400, error.what()), nullptr, 0, start);
    } catch (const std::exception&) {
        answer(exchange, refuse(500, describe_current_exception().second), nullptr, 0, start);
    }
}

/// Never a text: a log is kept longer, and read by others, than what is embedded.
void EmbeddingApi::answer(const std::shared_ptr<HttpExchange>& exchange, HttpResponse response, const EmbedWork* work, std::size_t tokens,
                          std::chrono::steady_clock::time_point start) {
    const HttpRequest& request = exchange->request();
    record(request, response.status, work, tokens, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    allow_page(request, response);
    exchange->answer(std::move(response));
}

void EmbeddingApi::record(const HttpRequest& request, int status, const EmbedWork* work, std::size_t tokens,
                          std::optional<double> seconds) {
    const std::string path = counted_path(served_path(request));
    Json line = {{"time", utc_now()}, {"method", request.method.substr(0, 20)}, {"path", path},
                 {"status", status},  {"texts", work ? work->size() : 0},       {"tokens", tokens}};
    if (seconds) line["ms"] = std::round(*seconds * 1e5) / 100;
    const std::lock_guard lock(mutex_);
    ++answered_[{path, status}];
    if (seconds) seconds_ += *seconds, ++timed_;
    if (seconds && is_for_embeddings(request) && status != 401 && status != 403) tei_.add(work ? work->size() : 0, status, *seconds);
    log_.write(text_of(line) + "\n");
}

void EmbeddingApi::complete_refusal(const HttpRequest& request, HttpResponse& response) {
    record(request, response.status, nullptr, 0, std::nullopt);
    allow_page(request, response);
}

Json EmbeddingApi::model_list() const {
    Json data = Json::array();
    for (const ServedModels::One& one : models_.all()) {
        data.push_back({{"id", one.name}, {"object", "model"}, {"created", 0}, {"owned_by", "faceter"}});
        for (const std::string& prompt : one.prompts())
            data.push_back({{"id", one.name + ":" + prompt}, {"object", "model"}, {"created", 0}, {"owned_by", "faceter"}});
    }
    return {{"object", "list"}, {"data", data}};
}

HttpResponse EmbeddingApi::model_card(const std::string& id) const {
    const Json list = model_list();
    for (const Json& model : list.at("data"))
        if (model.at("id") == id) return {200, text_of(model)};
    return openai_error(404, fmt::format("no model {} is served; GET /v1/models lists them", faceter::quoted(id)));
}

Json EmbeddingApi::info() const {
    Json models = Json::array();
    for (const ServedModels::One& one : models_.all()) {
        const EmbeddingModel& model = *one.opened.model;
        models.push_back({{"id", one.name},
                          {"type", model.folder.model_type},
                          {"dim", one.dim},
                          {"max_length", model.max_length},
                          {"pooling", pooling_name(model.folder.pooling)},
                          {"normalised", model.folder.normalize},
                          {"prompts", one.prompts()}});
        if (one.prefixes) models.back()["matryoshka_dims"] = *one.prefixes;
        if (one.parts) models.back()["resident"] = resident(one);
    }
    const EmbeddingModel& first = *models_.all().front().opened.model;
    return {{"model_id", models_.all().front().name},
            {"model_sha", nullptr},
            {"model_dtype", compute_name_of(first)},
            {"model_type", {{"embedding", {{"pooling", pooling_name(first.folder.pooling)}}}}},
            {"max_concurrent_requests", service_.limits().waiting_texts},  // texts, which those are there too
            {"max_input_length", first.max_length},
            {"max_batch_tokens", service_.batch_tokens(*first.encoders.front())},
            {"max_batch_requests", nullptr},
            {"max_client_batch_size", limits_.texts},
            {"auto_truncate", false},
            {"tokenization_workers", at::get_num_threads()},
            {"version", FACETER_VERSION},
            {"models", models}};
}

/// Of models that read their parts when they are asked for; empty where there is none.
std::string EmbeddingApi::metrics_of_parts() const {
    ResidentParts::Counts all;
    bool any = false;
    for (const ServedModels::One& one : models_.all()) {
        if (!one.parts) continue;
        const ResidentParts::Counts own = one.parts->counts();
        all.resident.insert(all.resident.end(), own.resident.begin(), own.resident.end());
        all.reads += own.reads, all.given_up += own.given_up, all.reading_s += own.reading_s;
        any = true;
    }
    if (!any) return "";
    return fmt::format(
        "# TYPE faceter_resident_parts gauge\nfaceter_resident_parts {}\n# TYPE faceter_parts_read_total counter\nfaceter_parts_read_total "
        "{}\n# TYPE faceter_parts_given_up_total counter\nfaceter_parts_given_up_total {}\n# TYPE faceter_part_reading_seconds_total "
        "counter\nfaceter_part_reading_seconds_total {}\n",
        all.resident.size(), all.reads, all.given_up, all.reading_s);
}

std::string EmbeddingApi::metrics() const {
    const EmbeddingService::Counts counts = service_.counts();
    std::string text = "# TYPE faceter_requests_total counter\n";
    const std::lock_guard lock(mutex_);
    for (const auto& [key, number] : answered_)
        text += fmt::format("faceter_requests_total{{path=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, number);
    text += fmt::format("# TYPE faceter_request_seconds summary\nfaceter_request_seconds_sum {}\nfaceter_request_seconds_count {}\n",
                        seconds_, timed_);
    const auto add = [&](const char* name, const char* kind, std::uint64_t value) {
        text += fmt::format("# TYPE {0} {1}\n{0} {2}\n", name, kind, value);
    };
    add("faceter_texts_total", "counter", counts.texts);
    add("faceter_tokens_total", "counter", counts.tokens);
    add("faceter_batches_total", "counter", counts.batches);
    add("faceter_dropped_requests_total", "counter", counts.dropped);
    add("faceter_waiting_texts", "gauge", counts.waiting_texts);
    tei_.write(text);
    add("te_queue_size", "gauge", counts.waiting_texts);
    return text + metrics_of_parts();
}

}  // namespace faceter::worker
