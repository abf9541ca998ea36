#include "text/tokenizer_json.h"

#include <algorithm>

#include "common/error.h"
#include "common/json.h"
#include "common/json_document.h"
#include "common/strings.h"

namespace faceter {
namespace {
/// Added tokens are numbered on from the largest id, so that it must leave room behind it.
constexpr std::uint64_t max_id = (1u << 30) - 1;
}  // namespace

bool find_member(const JsonElement& object, std::string_view key, JsonElement& member) {
    return object.is_object() && !object[key].get(member) && !member.is_null();
}

std::int32_t to_id(const JsonElement& value, std::string_view what, std::string_view name) {
    std::uint64_t id = 0;
    if (value.get(id) || id > max_id) throw data_error("{}: the id of {} is not a number from 0 to {}", name, quoted(what), max_id);
    return static_cast<std::int32_t>(id);
}

Vocabulary read_vocabulary(const JsonElement& model, std::string_view name) {
    simdjson::dom::object object;
    if (model["vocab"].get(object)) throw_json_member(name, "model.vocab", "is missing or not an object");
    Vocabulary vocabulary;
    for (const auto& [piece, id] : object) vocabulary.emplace_back(piece, to_id(id, piece, name));
    if (vocabulary.empty()) throw_json_member(name, "model.vocab", "is empty");
    return vocabulary;
}

std::vector<AddedToken> read_added_tokens(const JsonElement& root, std::string_view name) {
    std::vector<AddedToken> tokens;
    JsonElement list;
    if (!find_member(root, "added_tokens", list)) return tokens;
    simdjson::dom::array array;
    if (list.get(array)) throw_json_member(name, "added_tokens", "is not a list");
    for (const JsonElement entry : array) {
        AddedToken token;
        token.content = member_text(entry, "content", name);
        check_piece(token.content, name);
        token.single_word = member_or(entry, "single_word", false, name);
        token.lstrip = member_or(entry, "lstrip", false, name);
        token.rstrip = member_or(entry, "rstrip", false, name);
        token.special = member_or(entry, "special", false, name);
        token.normalized = member_or(entry, "normalized", !token.special, name);
        if (!token.content.empty()) tokens.push_back(std::move(token));
    }
    return tokens;
}

AddedToken special_token(std::string_view content) {
    AddedToken token;
    token.content = content;
    token.special = true;
    return token;
}

std::vector<AddedToken> read_added_tokens_decoder(const JsonElement& config, std::string_view name) {
    std::vector<AddedToken> tokens;
    JsonElement decoder;
    simdjson::dom::object entries;
    if (!find_member(config, "added_tokens_decoder", decoder) || decoder.get(entries)) return tokens;
    for (const auto& [id, entry] : entries) {
        AddedToken token = special_token(member_text(entry, "content", name));
        check_piece(token.content, name);
        token.single_word = member_or(entry, "single_word", false, name);
        token.lstrip = member_or(entry, "lstrip", false, name);
        token.rstrip = member_or(entry, "rstrip", false, name);
        token.normalized = member_or(entry, "normalized", false, name);
        token.special = member_or(entry, "special", false, name);
        token.id = static_cast<std::int32_t>(parse_int(id).value_or(-1));
        if (!token.content.empty()) tokens.push_back(std::move(token));
    }
    std::stable_sort(tokens.begin(), tokens.end(), [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
    return tokens;
}

namespace {

/// Far more than any model puts around a text; a template that names a token of many ids many times would make as many as there is memory.
constexpr std::size_t most_special_ids = 1024;

/// Appends the ids that special token `id` of a TemplateProcessing stands for.
void append_template_ids(const JsonElement& processor, std::string_view id, std::string_view name, std::vector<std::int32_t>& ids) {
    JsonElement tokens, token;
    simdjson::dom::array array;
    const bool found =
        find_member(processor, "special_tokens", tokens) && find_member(tokens, id, token) && token.is_object() && !token["ids"].get(array);
    if (!found) throw data_error("{}: post_processor.special_tokens has no ids for {}", name, quoted(id));
    if (ids.size() + array.size() > most_special_ids)
        throw data_error("{}: post_processor.single puts more than {} tokens beside a text", name, most_special_ids);
    for (const JsonElement value : array) ids.push_back(to_id(value, id, name));
}

SpecialIds read_template(const JsonElement& processor, std::string_view name) {
    simdjson::dom::array steps;
    if (processor["single"].get(steps)) throw_json_member(name, "post_processor.single", "is missing or not a list");
    SpecialIds ids;
    int sequences = 0;
    for (const JsonElement step : steps) {
        JsonElement part;
        if (find_member(step, "Sequence", part)) {
            ++sequences;
        } else if (find_member(step, "SpecialToken", part)) {
            append_template_ids(processor, member_text(part, "id", name), name, sequences ? ids.after : ids.before);
        } else {
            throw data_error("{}: post_processor.single has a step that is neither Sequence nor SpecialToken", name);
        }
    }
    if (sequences != 1) throw data_error("{}: post_processor.single names the text {} times instead of once", name, sequences);
    return ids;
}

/// BertProcessing and RobertaProcessing: "sep": ["[SEP]", 102], "cls": ["[CLS]", 101].
std::int32_t read_pair_id(const JsonElement& processor, std::string_view key, std::string_view name) {
    simdjson::dom::array pair;
    JsonElement id;
    if (processor[key].get(pair) || pair.at(1).get(id)) throw_json_member(name, key, "of the post_processor is not a token and its id");
    return to_id(id, key, name);
}

SpecialIds read_processor(const JsonElement& processor, std::string_view name);

/// One of a sequence at most adds tokens. Hugging Face's library gives a second one what the first made as several texts, which it puts
/// together as a pair's: not what such a file means.
SpecialIds read_sequence(const JsonElement& processor, std::string_view name) {
    simdjson::dom::array processors;
    if (processor["processors"].get(processors)) throw_json_member(name, "post_processor.processors", "is missing or not a list");
    SpecialIds ids;
    for (const JsonElement inner : processors) {
        SpecialIds around = read_processor(inner, name);
        if (around.before.empty() && around.after.empty()) continue;
        if (!ids.before.empty() || !ids.after.empty())
            throw data_error(
                "{}: two post_processors of a Sequence add tokens, which is not supported; write them as one TemplateProcessing", name);
        ids = std::move(around);
    }
    return ids;
}

SpecialIds read_processor(const JsonElement& processor, std::string_view name) {
    const std::string_view type = member_text(processor, "type", name);
    if (type == "TemplateProcessing") return read_template(processor, name);
    if (type == "BertProcessing" || type == "RobertaProcessing")
        return {{read_pair_id(processor, "cls", name)}, {read_pair_id(processor, "sep", name)}};
    if (type == "ByteLevel") return {};  // of offsets only
    if (type == "Sequence") return read_sequence(processor, name);
    throw data_error(
        "{}: the post_processor {} is not supported; TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel and Sequence are",
        name, quoted(type));
}

}  // namespace

SpecialIds read_post_processor(const JsonElement& root, std::string_view name) {
    JsonElement processor;
    return find_member(root, "post_processor", processor) ? read_processor(processor, name) : SpecialIds();
}

bool truncates_left(const JsonElement& root, std::string_view name) {
    JsonElement truncation;
    return find_member(root, "truncation", truncation) && member_or(truncation, "direction", std::string_view("Right"), name) == "Left";
}

std::string_view token_content(const JsonElement& config, std::string_view key, std::string_view fallback) {
    JsonElement member, content;
    std::string_view text = fallback;
    if (!find_member(config, key, member)) return fallback;
    if (member.is_object() && find_member(member, "content", content)) member = content;
    return member.get(text) ? fallback : text;
}

}  // namespace faceter
