#include "text/tokenizer_files.h"

#include <algorithm>
#include <array>

#include "common/error.h"
#include "common/json.h"
#include "common/json_document.h"
#include "common/strings.h"
#include "text/tokenizer_json.h"

namespace faceter {
namespace {

using Element = JsonElement;

void read_model(const Element& root, std::string_view name, WordPieceSettings& settings) {
    Element model;
    if (!find_member(root, "model", model)) throw_json_member(name, "model", "is missing");
    settings.unk_token = member_or(model, "unk_token", std::string_view("[UNK]"), name);
    settings.continuing_prefix = member_or(model, "continuing_subword_prefix", std::string_view("##"), name);
    const std::int64_t max_chars = member_or(model, "max_input_chars_per_word", std::int64_t{100}, name);
    if (max_chars < 0) throw_json_member(name, "model.max_input_chars_per_word", "is negative");
    settings.max_chars_per_word = static_cast<std::size_t>(max_chars);
    settings.vocabulary = read_vocabulary(model, name);
}

/// The type of a step; empty where there is none.
std::string_view step_type(const Element& root, std::string_view key, std::string_view name) {
    Element element;
    return find_member(root, key, element) ? member_text(element, "type", name) : std::string_view();
}

/// BERT's own steps, for which WordPieceTokenizer has its one pass.
bool has_bert_steps(const Element& root, std::string_view name) {
    const std::string_view normalizer = step_type(root, "normalizer", name);
    return (normalizer.empty() || normalizer == "BertNormalizer") && step_type(root, "pre_tokenizer", name) == "BertPreTokenizer";
}

/// What transformers' BERT tokenizers go by, whatever normaliser tokenizer.json has.
void take_bert_flags(const Element& config, std::string_view name, BertNormalizer& normalizer) {
    normalizer.clean_text = true;
    normalizer.lowercase = member_or(config, "do_lower_case", true, name);
    normalizer.strip_accents = member_or(config, "strip_accents", normalizer.lowercase, name);
    normalizer.handle_chinese_chars = member_or(config, "tokenize_chinese_chars", true, name);
}

}  // namespace

BertNormalizer read_bert_normalizer(const JsonElement& element, std::string_view name) {
    BertNormalizer normalizer;
    normalizer.clean_text = member_or(element, "clean_text", true, name);
    normalizer.handle_chinese_chars = member_or(element, "handle_chinese_chars", true, name);
    normalizer.lowercase = member_or(element, "lowercase", true, name);
    normalizer.strip_accents = member_or(element, "strip_accents", normalizer.lowercase, name);
    return normalizer;
}

std::string tokenizer_json_kind(std::string_view text, std::string_view name) {
    std::string kind;
    with_json_document(text, name, [&](Element root) {
        Element model, member;
        if (!find_member(root, "model", model)) throw_json_member(name, "model", "is missing");
        // Files of old versions leave the type out; each kind has a member that no other kind has.
        std::string_view guess = "(none named)";
        if (find_member(model, "max_input_chars_per_word", member)) guess = "WordPiece";
        if (find_member(model, "merges", member)) guess = "BPE";
        if (find_member(model, "unk_id", member)) guess = "Unigram";
        kind = member_or(model, "type", guess, name);
        if (kind == "WordPiece" && !has_bert_steps(root, name)) kind = "WordPiece of steps";
    });
    return kind;
}

WordPieceSettings parse_wordpiece_json(std::string_view text, std::string_view name) {
    WordPieceSettings settings;
    with_json_document(text, name, [&](Element root) {
        read_model(root, name, settings);
        if (!has_bert_steps(root, name))
            throw data_error("{}: this WordPiece tokenizer has other steps than BertNormalizer and BertPreTokenizer", name);
        Element normalizer;
        settings.normalizer = {false, false, false, false};
        if (find_member(root, "normalizer", normalizer)) settings.normalizer = read_bert_normalizer(normalizer, name);
        settings.added_tokens = read_added_tokens(root, name);
        settings.around = read_post_processor(root, name);
        settings.truncate_left = truncates_left(root, name);
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

bool goes_by_bert_flags(std::string_view kind) {
    static constexpr std::array<std::string_view, 9> kinds = {"Bert",        "DistilBert", "MPNet",  "Electra", "MobileBert",
                                                              "SqueezeBert", "LayoutLM",   "Funnel", "Lxmert"};
    if (kind.ends_with("Fast")) kind.remove_suffix(4);
    if (!kind.ends_with("Tokenizer")) return false;
    kind.remove_suffix(9);
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

void apply_tokenizer_config(std::string_view text, std::string_view name, BertFlags flags, WordPieceSettings& settings) {
    with_json_document(text, name, [&](Element config) {
        for (std::size_t i = 0; i < role_keys.size(); ++i) settings.special[i] = token_content(config, role_keys[i], settings.special[i]);
        settings.truncate_left =
            member_or(config, "truncation_side", std::string_view(settings.truncate_left ? "left" : "right"), name) == "left";
        const bool always = flags == BertFlags::always;
        const std::string_view kind = member_or(config, "tokenizer_class", std::string_view(), name);
        if (always || (flags != BertFlags::never && goes_by_bert_flags(kind)) || (flags == BertFlags::of_its_model && kind.empty()))
            take_bert_flags(config, name, settings.normalizer);
        if (!always) return;
        settings.unk_token = settings.special[1];
        settings.added_tokens = read_added_tokens_decoder(config, name);
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
    settings.around = {{id_of(settings.special[2])}, {id_of(settings.special[3])}};
}

}  // namespace faceter
