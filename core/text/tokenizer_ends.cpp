#include "text/tokenizer_ends.h"

#include <fmt/ranges.h>
#include <simdjson.h>

#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/strings.h"
#include "text/added_vocabulary.h"
#include "text/pipeline_json.h"
#include "text/tokenizer_files.h"

namespace faceter {
namespace {

namespace ondemand = simdjson::ondemand;

bool has_ends_of_its_own(const TokenRoles& roles) {
    const auto is = [&](std::string_view part) { return roles.tokenizer_class.find(part) != std::string::npos; };
    return is("Llama") || is("Gemma") || roles.own_code_adds_ends;
}

std::int32_t id_of(const PipelineSettings& settings, const std::string& token, std::string_view name) {
    const AddedVocabulary all(settings.vocabulary, settings.added_tokens, [](std::string_view text) { return std::string(text); });
    const int id = all.piece_to_id(token);
    if (id < 0) throw data_error("{}: the special token {} is not in the vocabulary", name, faceter::quoted(token));
    return id;
}

Json part_of(const char* kind, const std::string& id, int type) {
    Json part = Json::object();
    part[kind]["id"] = id;
    part[kind]["type_id"] = type;
    return part;
}

void put_around(const char* text, int type, const std::vector<std::string>& before, const std::vector<std::string>& after, Json& out) {
    for (const std::string& token : before) out.push_back(part_of("SpecialToken", token, type));
    out.push_back(part_of("Sequence", text, type));
    for (const std::string& token : after) out.push_back(part_of("SpecialToken", token, type));
}

/// Where the value of the member stands in the text of an object; nothing where it has none.
std::string_view value_in(std::string_view member, const simdjson::padded_string& text) {
    ondemand::parser parser;
    ondemand::document document = parser.iterate(text);
    ondemand::value value;
    if (document.find_field_unordered(member).get(value) != simdjson::SUCCESS) return {};
    std::string_view raw;
    if (simdjson::to_json_string(value).get(raw) != simdjson::SUCCESS) return {};
    while (!raw.empty() && std::isspace(static_cast<unsigned char>(raw.back()))) raw.remove_suffix(1);
    return raw;
}

std::string with_template(const std::string& text, const Json& processor) {
    const simdjson::padded_string padded(text);
    const std::string_view old = value_in("post_processor", padded);
    const std::string written = processor.dump();
    if (old.empty()) return "{\"post_processor\":" + written + "," + text.substr(text.find('{') + 1);
    const auto at = static_cast<std::size_t>(old.data() - padded.data());
    return text.substr(0, at) + written + text.substr(at + old.size());
}

}  // namespace

Json template_processing(const SpecialIds& special, const std::function<std::string(std::int32_t id)>& text_of) {
    Json all = Json::object();
    all["type"] = "TemplateProcessing";
    const auto texts_of = [&](const std::vector<std::int32_t>& ids) {
        std::vector<std::string> texts;
        for (const std::int32_t id : ids) texts.push_back(text_of(id));
        return texts;
    };
    const std::vector<std::string> before = texts_of(special.before), after = texts_of(special.after);
    put_around("A", 0, before, after, all["single"]);
    put_around("A", 0, before, after, all["pair"]);
    put_around("B", 1, before, after, all["pair"]);
    for (const std::vector<std::int32_t>* ids : {&special.before, &special.after})
        for (const std::int32_t id : *ids) {
            const std::string token = text_of(id);
            all["special_tokens"][token] = {{"id", token}, {"ids", Json::array({id})}, {"tokens", Json::array({token})}};
        }
    return all;
}

bool add_ends(PipelineSettings& settings, const TokenRoles& roles, std::string_view name) {
    if (!has_ends_of_its_own(roles)) return false;
    bool added = false;
    const auto add = [&](bool wanted, const std::string& token, std::vector<std::int32_t>& ids) {
        if (!wanted || !ids.empty() || token.empty()) return;
        ids = {id_of(settings, token, name)};
        added = true;
    };
    add(roles.add_bos_token.value_or(false), roles.bos_token, settings.special.before);
    add(roles.add_eos_token.value_or(false), roles.eos_token, settings.special.after);
    settings.description += fmt::format("\n{} | {}", fmt::join(settings.special.before, " "), fmt::join(settings.special.after, " "));
    return added;
}

std::string with_ends(std::string_view text, const PipelineSettings& settings) {
    const AddedVocabulary all(settings.vocabulary, settings.added_tokens, [](std::string_view piece) { return std::string(piece); });
    return with_template(std::string(text), template_processing(settings.special, [&](std::int32_t id) { return all.id_to_piece(id); }));
}

std::string tokenizer_json_with_ends(const std::filesystem::path& model_folder) {
    const std::filesystem::path path = model_folder / "tokenizer.json";
    std::string text = read_file(path, max_tokenizer_bytes);
    const TokenRoles roles = read_token_roles(model_folder);
    if (!has_ends_of_its_own(roles)) return text;
    PipelineSettings settings = parse_pipeline_json(text, path.string());
    return add_ends(settings, roles, path.string()) ? with_ends(text, settings) : text;
}

}  // namespace faceter
