#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <optional>

#include "serve/allowed_hosts.h"
#include "serve/embedding_request.h"
#include "serve/embedding_service.h"
#include "serve/http_server.h"
#include "serve/request_log.h"
#include "serve/side_threads.h"
#include "serve/tei_counts.h"

namespace faceter::worker {

/// What the server answers: POST /v1/embeddings as OpenAI's clients ask, GET /v1/models and /v1/models/ID; POST /embed, GET /info, /health
/// and /metrics as text-embeddings-inference has them. A line of JSON for each request goes to standard error, without its texts. Browsers'
/// pages of other sites than `hosts` are answered 403, those of `hosts` as Fetch's CORS protocol asks.
class EmbeddingApi {
  public:
    /// `readers` read the bodies of long requests. All that is given outlives the requests that come.
    EmbeddingApi(const ServedModels& models, EmbeddingService& service, SideThreads& readers, std::string key, AllowedHosts hosts,
                 const ApiLimits& limits);
    void handle(const std::shared_ptr<HttpExchange>& exchange);
    /// 403 for pages and names that are not allowed, 401 without the key: known before the body has come.
    std::optional<HttpResponse> refusal_of(const HttpRequest& head) const;
    /// Counts and logs what the server of HTTP refuses by itself, and lets pages of `hosts` read it.
    void complete_refusal(const HttpRequest& request, HttpResponse& response);

  private:
    using Writer = std::function<HttpResponse(const EmbedResult&)>;
    using Refusal = HttpResponse (*)(int status, const std::string& message);
    using Clock = std::chrono::steady_clock;
    struct Asked {
        EmbedWork work;
        std::int64_t dimensions = 0;  ///< of an answer
        Writer write;
    };
    Asked read_openai(const std::string& body) const;
    Asked read_tei(const std::string& body) const;
    Asked work_of(EmbeddingRequest&& request) const;
    static HttpResponse answer_of(const EmbedResult& result, const Writer& write, Refusal refuse);
    using Reader = Asked (EmbeddingApi::*)(const std::string& body) const;
    void embed(const std::shared_ptr<HttpExchange>& exchange, Reader read, Refusal refuse);
    void embed_long(const std::shared_ptr<HttpExchange>& exchange, Reader read, Refusal refuse, Clock::time_point start);
    void submit(const std::shared_ptr<HttpExchange>& exchange, Reader read, Refusal refuse, Clock::time_point start);
    void answer(const std::shared_ptr<HttpExchange>& exchange, HttpResponse response, const EmbedWork* work, std::size_t tokens,
                std::chrono::steady_clock::time_point start);
    /// A line of the log, and the counters. `seconds`: none of a request that was not read.
    void record(const HttpRequest& request, int status, const EmbedWork* work, std::size_t tokens, std::optional<double> seconds);
    /// What lets a page of `hosts` read an answer: without it the browser keeps it from the page.
    void allow_page(const HttpRequest& request, HttpResponse& response) const;
    bool has_key(const HttpRequest& request) const;
    bool is_foreign(const HttpRequest& request) const;
    Json info() const;
    Json model_list() const;
    HttpResponse model_card(const std::string& id) const;
    std::string metrics() const;
    std::string metrics_of_parts() const;

    const ServedModels& models_;
    EmbeddingService& service_;
    SideThreads& readers_;
    std::string key_;
    AllowedHosts hosts_;
    ApiLimits limits_;
    mutable std::mutex mutex_;
    RequestLog log_;
    std::map<std::pair<std::string, int>, std::uint64_t> answered_;  ///< by path and status
    double seconds_ = 0;                                             ///< of `timed_` answers
    std::uint64_t timed_ = 0;
    TeiCounts tei_;
};

}  // namespace faceter::worker
