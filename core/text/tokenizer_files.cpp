#include "text/tokenizer_files.h"

#include <algorithm>
#include <limits>

#include "common/error.h"
#include "common/json.h"
#include "common/strings.h"
#include "text/json_document.h"
#include "text/utf8.h"

namespace faceter {
namespace {

using Element = simdjson::dom::element;

/// Member `key` of an object that is there and not null.
bool find_member(const Element& object, std::string_view key, Element& member) {
    return object.is_object() && !object[key].get(member) && !member.is_null();
}

std::int32_t to_id(const Element& value, std::string_view what, std::string_view name) {
    std::uint64_t id = 0;
    if (value.get(id) || id > std::uint64_t(std::numeric_limits<std::int32_t>::max()) - 1)
        throw data_error("{}: the id of {} is not a number from 0 to 2147483646", name, quoted(what));
    return static_cast<std::int32_t>(id);
}

void read_vocabulary(const Element& model, std::string_view name, WordPieceSettings& settings) {
    simdjson::dom::object vocabulary;
    if (model["vocab"].get(vocabulary)) throw_json_member(name, "model.vocab", "is missing or not an object");
    for (const auto& [piece, id] : vocabulary) settings.vocabulary.emplace_back(piece, to_id(id, piece, name));
    if (settings.vocabulary.empty()) throw_json_member(name, "model.vocab", "is empty");
}

void read_model(const Element& root, std::string_view name, WordPieceSettings& settings) {
    Element model;
    if (!find_member(root, "model", model)) throw_json_member(name, "model", "is missing");
    settings.unk_token = member_or(model, "unk_token", std::string_view("[UNK]"), name);
    settings.continuing_prefix = member_or(model, "continuing_subword_prefix", std::string_view("##"), name);
    const std::int64_t max_chars = member_or(model, "max_input_chars_per_word", std::int64_t{100}, name);
    if (max_chars < 0) throw_json_member(name, "model.max_input_chars_per_word", "is negative");
    settings.max_chars_per_word = static_cast<std::size_t>(max_chars);
    read_vocabulary(model, name, settings);
}

void read_normalizer(const Element& root, std::string_view name, BertNormalizer& normalizer) {
    Element element;
    if (!find_member(root, "normalizer", element)) {
        normalizer = {false, false, false, false};
        return;
    }
    const std::string_view type = member_text(element, "type", name);
    if (type != "BertNormalizer")
        throw data_error("{}: the normalizer {} is not supported with a WordPiece model; only BertNormalizer is", name, quoted(type));
    normalizer.clean_text = member_or(element, "clean_text", true, name);
    normalizer.handle_chinese_chars = member_or(element, "handle_chinese_chars", true, name);
    normalizer.lowercase = member_or(element, "lowercase", true, name);
    normalizer.strip_accents = member_or(element, "strip_accents", normalizer.lowercase, name);
}

void check_pre_tokenizer(const Element& root, std::string_view name) {
    Element element;
    if (!find_member(root, "pre_tokenizer", element))
        throw data_error("{}: there is no pre_tokenizer; a WordPiece model is supported with BertPreTokenizer only", name);
    const std::string_view type = member_text(element, "type", name);
    if (type != "BertPreTokenizer")
        throw data_error("{}: the pre_tokenizer {} is not supported with a WordPiece model; only BertPreTokenizer is", name, quoted(type));
}

void read_added_tokens(const Element& root, std::string_view name, std::vector<AddedToken>& tokens) {
    Element list;
    if (!find_member(root, "added_tokens", list)) return;
    simdjson::dom::array array;
    if (list.get(array)) throw_json_member(name, "added_tokens", "is not a list");
    for (const Element entry : array) {
        AddedToken token;
        token.content = member_text(entry, "content", name);
        token.single_word = member_or(entry, "single_word", false, name);
        token.lstrip = member_or(entry, "lstrip", false, name);
        token.rstrip = member_or(entry, "rstrip", false, name);
        token.special = member_or(entry, "special", false, name);
        token.normalized = member_or(entry, "normalized", !token.special, name);
        if (!token.content.empty()) tokens.push_back(std::move(token));
    }
}

/// Appends the ids that special token `id` of a TemplateProcessing stands for.
void append_template_ids(const Element& processor, std::string_view id, std::string_view name, std::vector<std::int32_t>& ids) {
    Element tokens, token;
    simdjson::dom::array array;
    const bool found =
        find_member(processor, "special_tokens", tokens) && find_member(tokens, id, token) && token.is_object() && !token["ids"].get(array);
    if (!found) throw data_error("{}: post_processor.special_tokens has no ids for {}", name, quoted(id));
    for (const Element value : array) ids.push_back(to_id(value, id, name));
}

void read_template(const Element& processor, std::string_view name, WordPieceSettings& settings) {
    simdjson::dom::array steps;
    if (processor["single"].get(steps)) throw_json_member(name, "post_processor.single", "is missing or not a list");
    int sequences = 0;
    for (const Element step : steps) {
        Element part;
        if (find_member(step, "Sequence", part)) {
            ++sequences;
        } else if (find_member(step, "SpecialToken", part)) {
            append_template_ids(processor, member_text(part, "id", name), name, sequences ? settings.after : settings.before);
        } else {
            throw data_error("{}: post_processor.single has a step that is neither Sequence nor SpecialToken", name);
        }
    }
    if (sequences != 1) throw data_error("{}: post_processor.single names the text {} times instead of once", name, sequences);
}

/// BertProcessing and RobertaProcessing: "sep": ["[SEP]", 102], "cls": ["[CLS]", 101].
std::int32_t read_pair_id(const Element& processor, std::string_view key, std::string_view name) {
    simdjson::dom::array pair;
    Element id;
    if (processor[key].get(pair) || pair.at(1).get(id)) throw_json_member(name, key, "of the post_processor is not a token and its id");
    return to_id(id, key, name);
}

void read_post_processor(const Element& root, std::string_view name, WordPieceSettings& settings) {
    Element processor;
    if (!find_member(root, "post_processor", processor)) return;
    const std::string_view type = member_text(processor, "type", name);
    if (type == "TemplateProcessing") return read_template(processor, name, settings);
    if (type != "BertProcessing" && type != "RobertaProcessing")
        throw data_error("{}: the post_processor {} is not supported with a WordPiece model", name, quoted(type));
    settings.before = {read_pair_id(processor, "cls", name)};
    settings.after = {read_pair_id(processor, "sep", name)};
}

/// A special token in a configuration: "[CLS]" or {"content": "[CLS]", ...}.
std::string_view token_content(const Element& config, std::string_view key, std::string_view fallback) {
    Element member, content;
    std::string_view text = fallback;
    if (!find_member(config, key, member)) return fallback;
    if (member.is_object() && find_member(member, "content", content)) member = content;
    return member.get(text) ? fallback : text;
}

AddedToken special_token(std::string content) {
    AddedToken token;
    token.content = std::move(content);
    token.special = true;
    return token;
}

void read_added_tokens_decoder(const Element& config, std::string_view name, std::vector<AddedToken>& tokens) {
    Element decoder;
    simdjson::dom::object entries;
    if (!find_member(config, "added_tokens_decoder", decoder) || decoder.get(entries)) return;
    for (const auto& [id, entry] : entries) {
        AddedToken token = special_token(std::string(member_text(entry, "content", name)));
        token.single_word = member_or(entry, "single_word", false, name);
        token.lstrip = member_or(entry, "lstrip", false, name);
        token.rstrip = member_or(entry, "rstrip", false, name);
        token.normalized = member_or(entry, "normalized", false, name);
        token.special = member_or(entry, "special", false, name);
        if (!token.content.empty()) tokens.push_back(std::move(token));
    }
}

}  // namespace

std::string tokenizer_json_kind(std::string_view text, std::string_view name) {
    std::string kind;
    with_json_document(text, name, [&](Element root) {
        Element model;
        if (!find_member(root, "model", model)) throw_json_member(name, "model", "is missing");
        // Files of old versions leave the type out; a WordPiece model has this member and no other kind does.
        Element prefix;
        const bool wordpiece = find_member(model, "max_input_chars_per_word", prefix);
        kind = member_or(model, "type", std::string_view(wordpiece ? "WordPiece" : "(none named)"), name);
    });
    return kind;
}

WordPieceSettings parse_wordpiece_json(std::string_view text, std::string_view name) {
    WordPieceSettings settings;
    with_json_document(text, name, [&](Element root) {
        read_model(root, name, settings);
        read_normalizer(root, name, settings.normalizer);
        check_pre_tokenizer(root, name);
        read_added_tokens(root, name, settings.added_tokens);
        read_post_processor(root, name, settings);
    });
    return settings;
}

WordPieceSettings parse_wordpiece_vocabulary(std::string_view text, std::string_view name) {
    if (!is_valid_utf8(text)) throw data_error("{}: is not UTF-8; a vocab.txt is a text file with a piece a line", name);
    WordPieceSettings settings;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view piece = text.substr(0, end);
        if (piece.ends_with('\r')) piece.remove_suffix(1);
        settings.vocabulary.emplace_back(piece, static_cast<std::int32_t>(settings.vocabulary.size()));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (settings.vocabulary.empty()) throw data_error("{}: is empty; a vocab.txt has a piece a line", name);
    return settings;
}

void apply_tokenizer_config(std::string_view text, std::string_view name, bool bert_flags, WordPieceSettings& settings) {
    with_json_document(text, name, [&](Element config) {
        static constexpr std::array<std::string_view, 5> keys = {"pad_token", "unk_token", "cls_token", "sep_token", "mask_token"};
        for (std::size_t i = 0; i < keys.size(); ++i) settings.special[i] = token_content(config, keys[i], settings.special[i]);
        settings.truncate_left = member_or(config, "truncation_side", std::string_view("right"), name) == "left";
        if (!bert_flags) return;
        settings.unk_token = settings.special[1];
        BertNormalizer& normalizer = settings.normalizer;
        normalizer.lowercase = member_or(config, "do_lower_case", true, name);
        normalizer.strip_accents = member_or(config, "strip_accents", normalizer.lowercase, name);
        normalizer.handle_chinese_chars = member_or(config, "tokenize_chinese_chars", true, name);
        read_added_tokens_decoder(config, name, settings.added_tokens);
    });
}

void add_bert_specials(WordPieceSettings& settings, std::string_view name) {
    const auto id_of = [&](const std::string& content) {
        const auto found =
            std::find_if(settings.vocabulary.begin(), settings.vocabulary.end(), [&](const auto& entry) { return entry.first == content; });
        if (found == settings.vocabulary.end())
            throw data_error("{}: the special token {} is not in the vocabulary", name, faceter::quoted(content));
        return found->second;
    };
    for (const std::string& content : settings.special) {
        const bool known = std::any_of(settings.added_tokens.begin(), settings.added_tokens.end(),
                                       [&](const auto& token) { return token.content == content; });
        if (!known && !content.empty()) settings.added_tokens.push_back(special_token(content));
    }
    settings.before = {id_of(settings.special[2])};
    settings.after = {id_of(settings.special[3])};
}

}  // namespace faceter
