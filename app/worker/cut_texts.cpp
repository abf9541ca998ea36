#include "cut_texts.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "text/encode_batch.h"

namespace faceter::worker {
namespace {

constexpr double least_share = 0.05;
constexpr std::size_t most_texts = 1000;

}  // namespace

std::vector<std::string_view> texts_of(const TrainingSet& set, PairSide side) {
    std::vector<std::string_view> texts;
    for (const Example& example : set.examples) texts.push_back(set.texts[side == PairSide::query ? example.anchor : example.positive]);
    return texts;
}

std::size_t count_cut(const EmbeddingModel& model, std::span<const std::string_view> texts, const std::string& instruction,
                      std::size_t limit) {
    const TokenBatch tokens = encode_batch(*model.tokenizer, texts, instruction, limit + 1, at::get_num_threads());
    std::size_t cut = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) cut += tokens[i].size() > limit;
    return cut;
}

std::string cut_warning(const std::string& subject, const EmbeddingModel& model, const std::vector<std::string_view>& texts,
                        const std::string& instruction, std::size_t limit) {
    if (texts.empty()) return "";
    const auto some = evenly_spread(texts, most_texts);
    const double share = static_cast<double>(count_cut(model, some, instruction, limit)) / static_cast<double>(some.size());
    if (share <= least_share) return "";
    return fmt::format("{}: {:.0f} % have more than {} tokens; they are cut there, and what is beyond is not read", subject, 100 * share,
                       limit);
}

std::string instruction_of_most(const EvaluationSet& set, const EvaluationRoutes& routes) {
    const bool sided = set.task_type == "retrieval" || set.task_type == "reranking";  // most texts are documents; else all are queries
    return (sided ? routes.document : routes.query).instruction;
}

std::string cut_warning(const EmbeddingModel& model, const EvaluationSet& set, const EvaluationRoutes& routes) {
    return cut_warning(fmt::format("data set '{}'", set.name), model, embedded_texts(set), instruction_of_most(set, routes),
                       model.max_length);
}

}  // namespace faceter::worker
