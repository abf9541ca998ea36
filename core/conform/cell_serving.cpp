#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "checkpoint/safetensors.h"
#include "common/hash.h"
#include "conform/broken.h"
#include "conform/cell.h"
#include "conform/moved_weights.h"

// What holds of a trained run: scores, embeddings of every route, and the folders that it is exported to.

namespace faceter::conform {
namespace {

constexpr double same_text = 1e-6, same_model = 1e-6, same_in_peer = 1e-5;

/// The folder itself says so: a module that sentence-transformers does not know.
bool only_ours(const fs::path& folder) { return read_file(folder / "modules.json").find("faceter.") != std::string::npos; }

}  // namespace

/// `faceter evaluate` of the run gives what the run itself was scored with.
void Cell::evaluate() {
    std::vector<std::string> arguments = {"evaluate",  "--model", first_->info().id, "--project", project_.string(),
                                          "--threads", "1",       "--json"};
    const std::vector<fs::path> sets = {laboratory_.texts.similar, laboratory_.texts.classes, laboratory_.texts.found};
    for (const fs::path& set : sets) arguments.insert(arguments.end(), {"--data", set.string()});
    const Outcome outcome = laboratory_.programs.faceter(arguments);
    if (outcome.code != 0) throw Broken{outcome.said(), outcome.command};
    const Json said = parse_json(outcome.out, "faceter evaluate");
    if (said.at("datasets").size() != sets.size())
        throw Broken{"faceter evaluate says nothing of a data set that it was given", outcome.command};
    for (const Json& set : said.at("datasets")) {
        const std::string name = set.at("name");
        const double own = read_json(first_->results() / (name + ".json")).at("score").get<double>(), score = set.at("score").get<double>();
        if (!std::isfinite(score) || std::abs(own - score) > 1e-6)
            throw Broken{fmt::format("{} scores {} here and {} in the run", name, score, own), outcome.command};
    }
}

/// What embeds as the run does and may have its weights moved: the exported folder where there is one, since a router is held to the
/// weights that it was made for.
EmbedSource Cell::movable(const std::string& task) const {
    for (const Exported& route : exported_)
        if (route.task == task) return route.source();
    return {(first_->folder() / "model").string(), "", task};
}

/// How far the run's embeddings move where each of its weights moves in its last place: what float32 makes of them.
double Cell::noise(const std::string& task) {
    const auto [found, fresh] = noise_.emplace(task, 0.0);
    if (!fresh) return found->second;
    EmbedSource source = movable(task);
    const fs::path moved = folder_ / ("moved-" + safe_file_name(task));
    copy_moved(source.model, moved, Rounding::float32);
    source.model = moved.string();
    return found->second = difference(embeddings_.at(task), embed(source, laboratory_.texts.to_embed));
}

/// Two passes that compute the same in another order may differ by more than the bound where the model's own noise is that large.
void Cell::require_same(const Comparison& comparison, double apart, const std::string& what, const std::string& command) {
    double& largest = result_.apart[comparison.law];
    largest = std::max(largest, apart);
    if (apart <= comparison.bound) return;
    const double noise = this->noise(comparison.task), bound = std::max(comparison.bound, noise_factor * noise);
    if (!(apart <= bound)) throw Broken{fmt::format("{}: apart by {:.2g} (bound {:.2g})", what, apart, bound), command};
}

/// Each route by the live worker, one drawn for the cell by the command as well.
void Cell::embed_routes() {
    std::map<std::string, Embeddings> all;
    for (const Route& route : routes()) all[route.task] = embed(of_run(route.task), laboratory_.texts.to_embed);
    const Embeddings& first = all.begin()->second;
    for (const auto& [task, embeddings] : all)
        if (embeddings.dim != first.dim) throw Broken{fmt::format("{} has {} elements, another {}", task, embeddings.dim, first.dim), ""};
    const EmbedSource drawn = of_run(drawn_route().task);
    if (difference(all.at(drawn.task), embed_by_command(drawn)) != 0)
        throw Broken{"the live worker and the command give other embeddings", drawn.command()};
    embeddings_ = std::move(all);
}

void Cell::company() {
    for (const Route& route : routes()) company(of_run(route.task));
}

/// All texts in the opposite order, and each by itself.
void Cell::company(const EmbedSource& source) {
    const Comparison alike = {"company", source.task, same_text};
    const Embeddings& together = embeddings_.at(source.task);
    const std::vector<std::string>& texts = laboratory_.texts.to_embed;
    const Embeddings turned = embed(source, {texts.rbegin(), texts.rend()});
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string which = fmt::format("text {} of {}", i + 1, texts.size());
        require_same(alike, row_difference(together, i, turned, texts.size() - 1 - i), which + ", behind and before the others",
                     source.command());
        require_same(alike, row_difference(together, i, embed(source, {texts[i]}), 0), which + ", alone and in company", source.command());
    }
}

std::vector<Cell::Exported> Cell::exported_routes(const fs::path& out) const {
    const fs::path file = out / "config_sentence_transformers.json";
    const Json prompts = fs::exists(file) ? json_or<Json>(read_json(file), "prompts", Json::object(), file.string()) : Json::object();
    std::vector<Exported> all;
    for (const Route& route : routes()) {
        if (const fs::path own = out / route.prompt; fs::is_directory(own))
            all.push_back({own, route.task, ""});
        else
            all.push_back({out, route.task, prompts.contains(route.prompt) ? route.prompt : ""});
    }
    return all;
}

bool Cell::has_routed_blocks() const {
    const SafetensorsFile weights(first_->folder() / "model/model.safetensors");
    return std::any_of(weights.tensors().begin(), weights.tensors().end(),
                       [](const TensorInfo& tensor) { return tensor.name.ends_with("mlp.router.layer.weight"); });
}

/// An exported folder embeds as the run does. Token-routed blocks have no form outside of this program but NomicBERT's: export may refuse
/// them.
void Cell::export_folders() {
    const fs::path out = folder_ / "exported";
    const Outcome outcome = laboratory_.programs.faceter({"export", first_->info().id, out.string(), "--project", project_.string()});
    if (outcome.code == 4 && has_routed_blocks()) {
        result_.limits["export"] = outcome.err;
        return;
    }
    if (outcome.code != 0) throw Broken{outcome.said(), outcome.command};
    exported_ = exported_routes(out);
    for (const Exported& route : exported_) {
        const double apart = difference(embeddings_.at(route.task), embed(route.source(), laboratory_.texts.to_embed));
        require_same({"export", route.task, same_model}, apart, fmt::format("the exported {} and the run", route.task),
                     outcome.command + " && " + route.source().command());
    }
}

/// sentence-transformers gives the same embeddings. A folder that it cannot hold (one that says so; token-routed blocks, for which it has
/// released checkpoints' remote code alone) it must refuse: never answer as another model.
void Cell::compare_with_peer() {
    const bool routed = has_routed_blocks();
    for (const Exported& route : exported_) {
        const Json answer = laboratory_.peer(route.folder, route.prompt, laboratory_.texts.to_embed);
        const std::string command =
            fmt::format("SentenceTransformer('{}').encode(texts, prompt_name='{}')", route.folder.string(), route.prompt);
        if (answer.contains("error")) {
            if (!routed && !only_ours(route.folder)) throw Broken{answer.at("error").get<std::string>(), command};
            result_.limits["peers"] = "sentence-transformers cannot hold the exported folder, and refuses it";
        } else {
            require_same({"peers", route.task, same_in_peer},
                         difference(embeddings_.at(route.task), Embeddings::of_json(answer.at("embeddings"))),
                         fmt::format("sentence-transformers on the exported {} and the run", route.task), command);
        }
    }
}

}  // namespace faceter::conform
