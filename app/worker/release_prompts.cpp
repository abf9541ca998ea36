#include "release_prompts.h"

#include <algorithm>
#include <array>

#include "common/strings.h"
#include "named_model.h"

namespace faceter::worker {
namespace {

/// What mteb calls a kind of task, and what releases with names of their own do.
struct KindNames {
    std::string_view ours, mteb, released;
};
constexpr std::array<KindNames, 9> kinds = {{{"retrieval", "Retrieval", ""},
                                             {"reranking", "Reranking", ""},
                                             {"sts", "STS", "text-matching"},
                                             {"pair_classification", "PairClassification", "text-matching"},
                                             {"classification", "Classification", ""},
                                             {"multilabel_classification", "MultilabelClassification", "classification"},
                                             {"clustering", "Clustering", "separation"},
                                             {"bitext_mining", "BitextMining", "text-matching"},
                                             {"summarisation", "Summarization", "text-matching"}}};

bool has_sides(const EvaluationSet& set) { return set.task_type == "retrieval" || set.task_type == "reranking"; }

std::string plain(std::string_view name) {
    std::string text = lowercase_ascii(name);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '.' || c == '-'; }, '_');
    return text;
}

/// Of both texts' side where `side` is empty.
std::vector<std::string> names_for(const EvaluationSet& set, const std::string& side) {
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const KindNames& one) { return one.ours == set.task_type; });
    std::vector<std::string> names;
    for (const std::string& own : {set.name, std::string(kind == kinds.end() ? set.task_type : kind->mteb)}) {
        if (!side.empty()) names.push_back(own + "-" + side);
        names.push_back(own);
    }
    if (side == "query") names.insert(names.end(), {"query", "search_query", "retrieval.query"});
    if (side == "document") names.insert(names.end(), {"document", "passage", "corpus", "search_document", "retrieval.passage"});
    if (side.empty() && kind != kinds.end() && !kind->released.empty()) names.emplace_back(kind->released);
    return names;
}

/// What the model calls the first of the names that it has.
std::optional<std::string> found_among(const EmbeddingModel& model, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        for (const auto& [own, prompt] : model.folder.prompts)
            if (plain(own) == plain(name)) return own;
        for (const Adapter& adapter : model.encoders.front()->adapters())
            if (plain(adapter.name) == plain(name)) return adapter.name;
    }
    return std::nullopt;
}

Route default_route(const EmbeddingModel& model) {
    Route route;
    if (!model.folder.default_prompt.empty()) route.instruction = model.folder.prompt(model.folder.default_prompt);
    return route;
}

}  // namespace

std::optional<EvaluationRoutes> release_routes(const EmbeddingModel& model, const EvaluationSet& set) {
    const auto query = found_among(model, names_for(set, has_sides(set) ? "query" : "")),
               document = has_sides(set) ? found_among(model, names_for(set, "document")) : query;
    if (!query && !document) return std::nullopt;
    const auto route = [&](const std::optional<std::string>& name) { return name ? task_route(model, *name) : default_route(model); };
    return EvaluationRoutes{"", route(query), route(document)};
}

}  // namespace faceter::worker
