#include <ATen/ATen.h>
#include <fmt/format.h>

#include <map>

#include "common/error.h"
#include "common/strings.h"
#include "eval/chosen_paths.h"
#include "eval/comparable_rows.h"
#include "study.h"

namespace faceter {
namespace {

struct Question {
    std::string query;
    std::vector<std::pair<std::string, std::string>> contexts;  ///< kind, text
};

std::vector<Question> read_questions(const fs::path& file) {
    const std::string content = read_file(file);
    std::vector<Question> questions;
    std::size_t number = 0;
    for (const std::string_view line : split(content, '\n')) {
        ++number;
        if (trim(line).empty()) continue;
        const std::string where = fmt::format("{}:{}", file.string(), number);
        const Json json = parse_json(line, where);
        Question question{json_at<std::string>(json, "query", where), {}};
        const Json contexts = json_at<Json>(json, "contexts", where);
        if (!contexts.is_array() || contexts.size() < 2)
            throw data_error("{}: contexts is expected to be a list of two or more {{text, kind}}", where);
        for (const Json& context : contexts)
            question.contexts.emplace_back(json_at<std::string>(context, "kind", where), json_at<std::string>(context, "text", where));
        questions.push_back(std::move(question));
    }
    if (questions.empty()) throw data_error("{}: holds no questions; expected JSON lines with query and contexts", file.string());
    return questions;
}

/// Of each question, the context that the encoder puts nearest; how often each kind is first, and its mean similarity.
class ContextPreference final : public Analysis {
  public:
    explicit ContextPreference(const Json& settings)
        : questions_(read_questions(json_at<std::string>(settings, "path", "context_preference"))) {}

    AnalysisResult run(const AnalysisContext& context) const override {
        struct Kind {
            double first = 0, offered = 0, similarity = 0, contexts = 0;
        };
        std::map<std::string, Kind> kinds;
        const std::vector<at::Tensor> similarities = similarities_of(context, questions_);
        for (std::size_t q = 0; q < questions_.size(); ++q) {
            const Question& question = questions_[q];
            const at::Tensor& similar = similarities[q];
            const auto best = similar.argmax().item<std::int64_t>();
            std::map<std::string, bool> seen;
            for (std::size_t c = 0; c < question.contexts.size(); ++c) {
                Kind& kind = kinds[question.contexts[c].first];
                kind.first += static_cast<std::int64_t>(c) == best;
                kind.similarity += similar[static_cast<std::int64_t>(c)].item<double>();
                ++kind.contexts;
                if (seen.emplace(question.contexts[c].first, true).second) ++kind.offered;
            }
        }
        Table table;
        table.name = "context_preference";
        table.caption = fmt::format("Which kind of context stands first: {}", context.run_name);
        table.add_column("kind", ColumnKind::text);
        table.add_column("questions", ColumnKind::count);
        table.add_column("stands first", ColumnKind::number, 1).unit = "%";
        table.add_column("mean similarity", ColumnKind::number, 4);
        Json result = Json::object();
        for (const auto& [name, kind] : kinds) {
            table.add_row({Cell::of(name), Cell::of(kind.offered), Cell::of(100 * kind.first / kind.offered),
                           Cell::of(kind.similarity / kind.contexts)});
            result[name] = {{"questions", kind.offered}, {"first", kind.first}, {"mean_similarity", kind.similarity / kind.contexts}};
        }
        return {{{"kinds", result}, {"questions", questions_.size()}}, {}, {{"context_preference", table}}};
    }

  private:
    /// Of each question's contexts to its query. All texts of some thousand questions are embedded at a time, so that they pack by length.
    static std::vector<at::Tensor> similarities_of(const AnalysisContext& context, const std::vector<Question>& questions) {
        constexpr std::size_t questions_at_a_time = 4096;
        std::vector<at::Tensor> all;
        for (std::size_t begin = 0; begin < questions.size(); begin += questions_at_a_time) {
            const std::span<const Question> part(questions.data() + begin, std::min(questions_at_a_time, questions.size() - begin));
            const std::vector<at::Tensor> some = similarities_of_part(context, part);
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    }

    static std::vector<at::Tensor> similarities_of_part(const AnalysisContext& context, std::span<const Question> questions) {
        const EmbeddingModel& model = context.embedder.model();
        EvaluationRoutes routes;
        if (const Task* task = find_task(context.tasks, "", "retrieval"))
            routes = {task->name, model.route(task->name, Role::query), model.route(task->name, Role::document)};
        std::vector<std::string_view> queries;
        for (const Question& question : questions) queries.emplace_back(question.query);
        std::vector<at::Tensor> similar(questions.size());
        by_chosen_path(context.embedder, queries, routes, [&](const EvaluationRoutes& through, std::span<const std::size_t> places) {
            std::vector<std::string_view> own, contexts;
            for (const std::size_t at : places) {
                own.push_back(queries[at]);
                for (const auto& [kind, body] : questions[at].contexts) contexts.emplace_back(body);
            }
            const Similarity similarity = model.folder.similarity;
            const at::Tensor q = comparable_rows(context.embedder.embed(own, through.query), similarity);
            const at::Tensor d = comparable_rows(context.embedder.embed(contexts, through.document), similarity);
            std::int64_t row = 0;
            for (std::size_t i = 0; i < places.size(); ++i) {
                const auto count = static_cast<std::int64_t>(questions[places[i]].contexts.size());
                similar[places[i]] =
                    row_similarities(d.narrow(0, row, count), q.narrow(0, static_cast<std::int64_t>(i), 1), similarity).select(1, 0);
                row += count;
            }
        });
        return similar;
    }

    std::vector<Question> questions_;
};

}  // namespace

std::unique_ptr<Analysis> make_context_preference(const Json& settings) { return std::make_unique<ContextPreference>(settings); }

}  // namespace faceter
