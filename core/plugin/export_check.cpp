#include "plugin/export_check.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "common/error.h"
#include "common/strings.h"
#include "eval/embedder.h"
#include "plugin/export_peers.h"

namespace faceter {
namespace {

std::string long_text() {
    std::string text;
    for (int i = 0; i < 200; ++i) text += fmt::format("word {} of a text that is longer than most models take, ", i);
    return text;
}

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

/// Where texts of a task and role pass through a folder that was opened again: its own route, or the prompt that stands for it.
Route route_in(const EmbeddingModel& opened, const ServedRoute& served, const std::string& name) {
    if (opened.routes.contains({served.task, served.role})) return opened.route(served.task, served.role);
    Route route;
    route.routed = opened.router != nullptr;
    const auto& prompts = opened.folder.prompts;
    if (const auto own = prompts.find(name); own != prompts.end())
        route.instruction = own->second;
    else if (!opened.folder.default_prompt.empty())
        route.instruction = opened.folder.prompt(opened.folder.default_prompt);
    return route;
}

std::vector<bool> texts_with_tokens(const EmbeddingModel& model, const Route& route) {
    std::vector<bool> has;
    for (const std::string& text : export_check_texts()) {
        std::vector<std::int32_t> ids;
        model.tokenizer->encode(route.instruction + text, model.max_length, ids);
        has.push_back(!ids.empty());
    }
    return has;
}

/// A folder's prompts by name; they stand beside weights of every kind.
Json prompts_of(const fs::path& folder) {
    const fs::path file = folder / "config_sentence_transformers.json";
    return fs::exists(file) ? json_or<Json>(read_json(file), "prompts", Json::object(), file.string()) : Json::object();
}

std::string described(const std::string& part, std::size_t text) { return export_text_name(text) + (part.empty() ? "" : " under " + part); }

}  // namespace

std::string export_text_name(std::size_t text) { return faceter::quoted(export_check_texts()[text], 40); }

void ExportDifference::compare(const at::Tensor& expected, const at::Tensor& found, const std::string& what) {
    if (expected.sizes() != found.sizes()) {
        largest = std::numeric_limits<double>::infinity();
        worst = fmt::format("{}, {} numbers for {}", what, found.numel(), expected.numel());
        return;
    }
    const at::Tensor own = expected.to(at::kDouble), other = found.to(at::kDouble);
    if (!(own - other).isfinite().all().item<bool>()) {  // of either; beyond every limit, whatever is compared behind it
        largest = std::numeric_limits<double>::infinity();
        smallest_cosine = -1;
        worst = what + ", with a number that is not finite";
        return;
    }
    const double length = own.norm().item<double>(), other_length = other.norm().item<double>();
    const double here = (own - other).abs().max().item<double>() / std::max(length, 1e-12);
    const double cosine = length == 0 && other_length == 0 ? 1 : own.dot(other).item<double>() / std::max(length * other_length, 1e-24);
    smallest_cosine = std::min(smallest_cosine, cosine);
    if (here <= largest) return;
    largest = here;
    worst = what;
}

std::string ExportDifference::sentence() const { return fmt::format("largest difference {:.1e} over {} texts by {}", largest, texts, by); }

void ExportDifference::add(const ExportDifference& other) {
    texts += other.texts;
    smallest_cosine = std::min(smallest_cosine, other.smallest_cosine);
    if (other.largest <= largest) return;
    largest = other.largest;
    worst = other.worst;
}

void ExportDifference::require(const ExportLimits& limits) const {
    if (largest <= limits.largest_difference && smallest_cosine >= limits.smallest_cosine) return;
    throw failure(
        "the export does not embed as the model it was written from: {}, smallest cosine {:.6f}; the limits are {:.0e} and {}. The text "
        "that "
        "differs most is {}. Nothing was left; please report this with the run's settings",
        sentence(), smallest_cosine, limits.largest_difference, limits.smallest_cosine, worst);
}

const std::vector<std::string>& export_check_texts() {
    static const std::vector<std::string> texts{"",
                                                "a",
                                                "What is a sparse mixture of experts?",
                                                "The quick brown fox jumps over the lazy dog.",
                                                "Straße, Käse und äußerst schöne Grüße aus Köln",
                                                "Быстрая коричневая лиса прыгает через ленивую собаку",
                                                "敏捷的棕色狐狸跳过了懒狗",
                                                "الثعلب البني السريع يقفز فوق الكلب الكسول",
                                                "तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है",
                                                "for (int i = 0; i < 10; ++i) { sum += x[i] * 3.14e-2; } // 🚀 100 %",
                                                "  spaces \t and\nlines  ",
                                                long_text()};
    return texts;
}

ExportCheck::ExportCheck(const EmbeddingModel& model, std::vector<ServedRoute> routes) {
    const auto add = [&](const std::string& name, const ServedRoute& served, const Route& route) {
        parts_.push_back(
            {name, route.instruction, served, embed_texts(model, views_of(export_check_texts()), route), texts_with_tokens(model, route)});
    };
    for (const ServedRoute& served : routes)
        add(served.task + "." + std::string(role_name(served.role)), served, model.route(served.task, served.role));
    Route plain;
    plain.routed = model.router != nullptr;
    if (routes.empty()) add("", {}, plain);
}

ExportDifference ExportCheck::by_faceter(const fs::path& folder) const {
    const auto opened = open_folder_model(folder);
    ExportDifference difference;
    difference.by = "faceter";
    for (const Part& part : parts_) {
        const at::Tensor found = embed_texts(*opened, views_of(export_check_texts()), route_in(*opened, part.served, part.name));
        if (found.size(1) != part.expected.size(1))
            throw failure("the export gives embeddings of {} numbers, the model of {}; nothing was left", found.size(1),
                          part.expected.size(1));
        for (std::int64_t i = 0; i < found.size(0); ++i)
            difference.compare(part.expected[i], found[i], described(part.name, static_cast<std::size_t>(i)));
        difference.texts += static_cast<std::size_t>(found.size(0));
    }
    return difference;
}

void ExportCheck::require_prompts(const fs::path& folder) const {
    const fs::path file = folder / "config_sentence_transformers.json";
    const Json config = read_json(file), prompts = prompts_of(folder);
    const auto fallback = json_or<Json>(config, "default_prompt_name", Json(), file.string());
    for (const Part& part : parts_) {
        const std::string name = prompts.contains(part.name) || !fallback.is_string() ? part.name : fallback.get<std::string>();
        const auto found = json_or<std::string>(prompts, name, "", file.string());
        if (found != part.instruction)
            throw failure("the export's prompt {} is {}, the model's instruction {}; nothing was left", faceter::quoted(name),
                          faceter::quoted(found), faceter::quoted(part.instruction));
    }
}

Json ExportCheck::request_of(const Json& prompts) const {
    Json request = Json::array();
    for (const Part& part : parts_) {
        Json texts = Json::array();
        for (std::size_t i = 0; i < part.has_tokens.size(); ++i)
            if (part.has_tokens[i]) texts.push_back(export_check_texts()[i]);
        // Where the folder has no prompt of that name, its default one stands, which sentence-transformers takes by itself.
        request.push_back({{"prompt_name", prompts.contains(part.name) ? Json(part.name) : Json()}, {"texts", texts}});
    }
    return request;
}

std::optional<ExportDifference> ExportCheck::by_sentence_transformers(const fs::path& folder, std::string& why, PeerBackend backend) const {
    const auto answer = ask_sentence_transformers(folder, request_of(prompts_of(folder)), why, backend);
    if (!answer) return std::nullopt;
    ExportDifference difference;
    difference.by = "sentence-transformers " + answer->version;
    for (std::size_t p = 0; p < parts_.size(); ++p)
        for (std::size_t i = 0, row = 0; i < parts_[p].has_tokens.size(); ++i) {
            if (!parts_[p].has_tokens[i]) continue;
            const std::vector<float>& values = answer->vectors.at(p).at(row++);
            const at::Tensor expected = parts_[p].expected[static_cast<std::int64_t>(i)];
            if (static_cast<std::int64_t>(values.size()) != expected.size(0))
                throw failure("{} gives embeddings of {} numbers, the model of {}; nothing was left", difference.by, values.size(),
                              expected.size(0));
            difference.compare(expected, at::tensor(values), described(parts_[p].name, i));
            ++difference.texts;
        }
    return difference;
}

}  // namespace faceter
