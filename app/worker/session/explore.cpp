#include <ATen/ATen.h>

#include "common/error.h"
#include "eval/corpus_search.h"
#include "eval/kmeans.h"
#include "eval/projection.h"
#include "eval/tasks.h"
#include "record/run_directory.h"
#include "session/seen_text.h"
#include "session/session_data.h"

namespace faceter::worker {
namespace {

constexpr std::size_t most_listed_bytes = 400, most_hits = 200, most_columns = 12, most_relevant = 50;
constexpr std::size_t compared_neighbours = 10;
constexpr int clusters_without_labels = 10, most_clusters = 24;

std::string beginning(std::string_view text) {
    std::string shown(start_of_text(text, most_listed_bytes));
    if (shown.size() < text.size()) shown += " …";
    return shown;
}

Json beginnings(const TextTable& texts) {
    Json list = Json::array();
    for (const std::string_view text : texts.views()) list.push_back(beginning(text));
    return list;
}

/// The run's, for progress.
std::string name_of(const Json& column) { return fs::path(json_at<std::string>(column, "model", "column")).filename().string(); }

/// A model and one of its tasks.
struct AskedColumn {
    const EmbeddingModel* model = nullptr;
    EvaluationRoutes routes;
    std::string key;
};

/// One question: which set, and what it is asked of.
class Exploration {
  public:
    Exploration(const Json& params, SessionData& data, Request& request)
        : data_(data),
          request_(request),
          settings_(RunDirectory(json_at<std::string>(params, "run", "explore")).settings()),
          name_(json_at<std::string>(params, "set", "explore")) {
        request.progress("read " + name_, 0, 0);
        corpus_ = data.corpus(settings_, name_);
    }
    const faceter::Corpus& corpus() const { return *corpus_; }

    AskedColumn open(const Json& column) {
        ModelOptions options;
        options.model = json_at<std::string>(column, "model", "column");
        request_.progress("open " + name_of(column), 0, 0);
        const EmbeddingModel& model = *data_.named_model(options).model;
        const auto task = json_or<std::string>(column, "task", "", "column");
        return {&model, routes_for(model, *data_.named_evaluation_set(settings_, name_), task),
                column.dump() + SessionData::key_of_set(settings_, name_)};
    }

    /// Where documents go a chosen path as well, it is that of the query.
    void choose_path(AskedColumn& column, std::string_view text) const {
        if (!column.routes.query.routed || !column.routes.document.routed) return;
        CachedEmbedder embedder(*column.model);
        const Path path = embedder.choose({&text, 1}, column.routes.query).front();
        column.routes.query.path = column.routes.document.path = path;
        column.routes.query.routed = column.routes.document.routed = false;
        column.key += fmt::format("/{}.{}", path.expert, path.adapter);
    }

    std::shared_ptr<CorpusRows> rows_of(const AskedColumn& column, const std::string& what) {
        return data_.corpus_rows(column.key, [&] {
            EmbedOptions options;
            options.progress = [&](std::size_t done) { request_.progress("embed for " + what, done, corpus_->documents.size()); };
            return embed_corpus(*column.model, *corpus_, column.routes.document, options);
        });
    }
    void check() const { request_.check(); }
    void progress(const std::string& what, std::size_t done) { request_.progress(what, done, corpus_->documents.size()); }

  private:
    SessionData& data_;
    Request& request_;
    Json settings_;
    std::string name_;
    std::shared_ptr<faceter::Corpus> corpus_;
};

/// What is asked about: a text that was typed, a query of the set, or one of its documents (which is then none of its own neighbours).
struct Question {
    std::string text;
    std::optional<std::uint32_t> document;
    std::vector<std::uint32_t> relevant;
};

std::uint32_t place_in(const Json& query, const char* key, std::size_t size) {
    const auto place = json_at<std::size_t>(query, key, "query");
    if (place >= size) throw usage_error("neighbours: there is no {} {}; the set has {}", key, place, size);
    return static_cast<std::uint32_t>(place);
}

Question question_of(const Json& query, const faceter::Corpus& corpus) {
    if (query.contains("text")) return {json_at<std::string>(query, "text", "query"), {}, {}};
    if (query.contains("query")) {
        const std::uint32_t place = place_in(query, "query", corpus.queries.size());
        return {std::string(corpus.queries[place]), {}, corpus.relevant[place]};
    }
    const std::uint32_t place = place_in(query, "document", corpus.documents.size());
    return {std::string(corpus.documents[place]), place, corpus.alike(place)};
}

Json hits_of(std::span<const float> own, std::span<const float> reference, const Question& question, std::size_t count) {
    Json hits = Json::array();
    for (const std::uint32_t document : nearest(own, count + 1)) {
        if (document == question.document || hits.size() == count) continue;
        // The text that is asked about is not counted as one before the others.
        const bool behind = question.document && rank_of(reference, *question.document) < rank_of(reference, document);
        hits.push_back({document, own[document], rank_of(reference, document) - behind});
    }
    return hits;
}

Json ranks_of(std::span<const float> own, const Question& question) {
    Json ranks = Json::array();
    for (std::size_t i = 0; i < std::min(question.relevant.size(), most_relevant); ++i)
        ranks.push_back({question.relevant[i], rank_of(own, question.relevant[i])});
    return ranks;
}

/// As many as there are labels.
std::vector<std::int32_t> clusters_of(const at::Tensor& rows, const faceter::Corpus& corpus) {
    KMeansOptions options;
    options.num_clusters =
        corpus.label_names.empty() ? clusters_without_labels : std::min(static_cast<int>(corpus.label_names.size()), most_clusters);
    options.num_clusters = static_cast<int>(std::min<std::int64_t>(options.num_clusters, rows.size(0)));
    return mini_batch_kmeans({rows.const_data_ptr<float>(), rows.size(0), rows.size(1)}, options).labels;
}

}  // namespace

/// {"run": folder of the run whose settings name the set, "set": name of an evaluation set} -> {"total", "part", "documents": [text ...],
/// "places", "labels", "label_names", "queries": [text ...]}: at most Corpus::most_documents; long texts are shown shortened.
Json corpus(const Json& params, SessionData& data, Request& request) {
    const Exploration exploration(params, data, request);
    const faceter::Corpus& corpus = exploration.corpus();
    return {{"total", corpus.total},
            {"part", corpus.part},
            {"documents", beginnings(corpus.documents)},
            {"places", corpus.places},
            {"labels", corpus.labels},
            {"label_names", corpus.label_names},
            {"queries", beginnings(corpus.queries)}};
}

/// {"run", "set", "query": {"text"} or {"query": place} or {"document": place}, "columns": [{"model": folder of a run, "task"}], "count":
/// 10, "all": false} -> {"text", "relevant": [document ...], "columns": [{"task", "instruction", "num_tokens": of the text, "kept_tokens":
/// of them those that the model reads, "hits": [[document, similarity, rank in the first column] ...], "ranks": [[relevant document, its
/// rank here] ...], "similarities": of all documents, where "all" was asked}]}; in place of a column {"error": why}, where there are
/// others.
Json neighbours(const Json& params, SessionData& data, Request& request) {
    Exploration exploration(params, data, request);
    const Question question = question_of(json_at<Json>(params, "query", "neighbours"), exploration.corpus());
    const auto count = std::clamp<std::size_t>(json_or<std::size_t>(params, "count", 10, "neighbours"), 1, most_hits);
    const bool all = json_or<bool>(params, "all", false, "neighbours");
    const auto wanted = json_at<Json>(params, "columns", "neighbours");
    if (!wanted.is_array() || wanted.size() > most_columns)
        throw usage_error("neighbours: 'columns' must be a list of at most {} models", most_columns);
    Json columns = Json::array();
    std::vector<float> first;
    const auto column_of = [&](const Json& one) -> Json {
        AskedColumn column = exploration.open(one);
        exploration.choose_path(column, question.text);
        const auto rows = exploration.rows_of(column, name_of(one));
        std::vector<float> own = similarities(*rows, *column.model, question.text, column.routes.query);
        if (first.empty()) first = own;
        const std::size_t num_tokens = num_tokens_of(*column.model, column.routes.query.instruction, question.text);
        Json answer = {{"task", column.routes.task},
                       {"instruction", column.routes.query.instruction},
                       {"num_tokens", num_tokens},
                       {"kept_tokens", std::min(num_tokens, column.model->max_length)},
                       {"hits", hits_of(own, first, question, count)},
                       {"ranks", ranks_of(own, question)}};
        if (all) answer["similarities"] = std::move(own);
        return answer;
    };
    for (const Json& one : wanted) {
        try {
            columns.push_back(column_of(one));
        } catch (const Error& error) {  // a model that is gone costs its own column
            if (error.code() != ExitCode::data || wanted.size() == 1) throw;
            columns.push_back(Json{{"error", error.what()}});
        }
    }
    return {{"text", question.text}, {"relevant", question.relevant}, {"columns", std::move(columns)}};
}

/// {"run", "set", "column": {"model", "task"}, "other": another column or none} -> {"x", "y": the documents in the plane of
/// their two largest principal components, "explained": [share, share], "clusters": k-means in the whole space, "kept": the share of the
/// nearest 10 that the other column has as well}.
Json map(const Json& params, SessionData& data, Request& request) {
    Exploration exploration(params, data, request);
    const auto wanted = json_at<Json>(params, "column", "map"), other = json_or<Json>(params, "other", nullptr, "map");
    const auto rows = exploration.rows_of(exploration.open(wanted), name_of(wanted));
    exploration.progress("project", 0);
    const Projection plane = project_to_plane(rows->rows);
    exploration.progress("cluster", 0);
    Json answer = {{"x", plane.x},
                   {"y", plane.y},
                   {"explained", plane.explained},
                   {"clusters", clusters_of(rows->rows, exploration.corpus())},
                   {"kept", nullptr}};
    if (other.is_null()) return answer;
    const auto others = exploration.rows_of(exploration.open(other), name_of(other));
    answer["kept"] =
        kept_neighbours(*rows, *others, compared_neighbours, [&](std::size_t done) { exploration.progress("compare neighbours", done); });
    return answer;
}

}  // namespace faceter::worker
