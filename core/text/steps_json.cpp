#include <algorithm>
#include <array>

#include "common/error.h"
#include "common/json.h"
#include "common/json_document.h"
#include "common/strings.h"
#include "text/base64.h"
#include "text/pipeline_json.h"
#include "text/tokenizer_files.h"

namespace faceter {
namespace {

constexpr std::size_t max_steps = 256, max_pattern_bytes = 1 << 16;

template <typename T>
T required(const JsonElement& object, std::string_view key, std::string_view name) {
    JsonElement member;
    T value;
    if (!find_member(object, key, member)) throw_json_member(name, key, "is missing");
    if (member.get(value)) throw_json_member(name, key, "has the wrong type");
    return value;
}

/// Calls use(step) for a step, or for each of a Sequence, however deep.
template <typename Use>
void for_each_step(const JsonElement& step, std::string_view list_key, std::string_view name, const Use& use) {
    if (member_text(step, "type", name) != "Sequence") return use(step);
    simdjson::dom::array steps;
    if (step[list_key].get(steps)) throw_json_member(name, list_key, "is missing or not a list");
    for (const JsonElement inner : steps) for_each_step(inner, list_key, name, use);
}

/// The pattern of a step: {"String": ".."} or {"Regex": ".."}.
struct Pattern {
    bool regex = false;
    std::string_view text;
};

Pattern read_pattern(const JsonElement& step, std::string_view name) {
    JsonElement pattern, member;
    Pattern found;
    if (!find_member(step, "pattern", pattern)) throw_json_member(name, "pattern", "is missing");
    found.regex = find_member(pattern, "Regex", member);
    if ((!found.regex && !find_member(pattern, "String", member)) || member.get(found.text))
        throw_json_member(name, "pattern", "is neither a String nor a Regex");
    if (found.text.size() > max_pattern_bytes) throw_json_member(name, "pattern", "is longer than 64 KiB");
    return found;
}

std::unique_ptr<NormalizerStep> read_replace(const JsonElement& step, std::string_view name) {
    const Pattern pattern = read_pattern(step, name);
    std::string content(required<std::string_view>(step, "content", name));
    if (pattern.regex) return make_replace(Regex(pattern.text, name), std::move(content));
    return make_replace(std::string(pattern.text), std::move(content));
}

std::unique_ptr<NormalizerStep> read_precompiled(const JsonElement& step, std::string_view name) {
    const auto text = required<std::string_view>(step, "precompiled_charsmap", name);
    const auto blob = decode_base64(text);
    if (!blob) throw data_error("{}: the precompiled_charsmap is not base64", name);
    return make_precompiled(Charsmap(*blob, name));
}

std::unique_ptr<NormalizerStep> read_normalizer(const JsonElement& step, std::string_view name) {
    static constexpr std::array<std::string_view, 4> forms = {"NFC", "NFD", "NFKC", "NFKD"};
    const std::string_view type = member_text(step, "type", name);
    if (const auto form = std::find(forms.begin(), forms.end(), type); form != forms.end())
        return make_unicode_form(static_cast<UnicodeForm>(form - forms.begin()));
    if (type == "Lowercase") return make_lowercase();
    if (type == "StripAccents") return make_strip_accents();
    if (type == "Strip") return make_strip(required<bool>(step, "strip_left", name), required<bool>(step, "strip_right", name));
    if (type == "Replace") return read_replace(step, name);
    if (type == "Prepend") return make_prepend(std::string(required<std::string_view>(step, "prepend", name)));
    if (type == "Precompiled") return read_precompiled(step, name);
    if (type == "BertNormalizer") return make_bert(read_bert_normalizer(step, name));
    if (type == "Nmt") return make_nmt();
    if (type == "ByteLevel") return make_byte_chars();
    throw data_error(
        "{}: the normalizer {} is not supported; NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Replace, Prepend, Precompiled, "
        "BertNormalizer, Nmt, ByteLevel and Sequence are",
        name, quoted(type));
}

SplitBehavior read_behavior(const JsonElement& step, std::string_view fallback, std::string_view name) {
    static constexpr std::array<std::string_view, 5> names = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};
    const std::string_view text = member_or(step, "behavior", fallback, name);
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end())
        throw data_error("{}: the behavior {} of a pre_tokenizer is none of {}", name, quoted(text), fmt::join(names, ", "));
    return static_cast<SplitBehavior>(found - names.begin());
}

std::unique_ptr<PreTokenizerStep> read_split(const JsonElement& step, std::string_view name) {
    const Pattern pattern = read_pattern(step, name);
    const SplitBehavior behavior = read_behavior(step, "", name);
    const bool invert = member_or(step, "invert", false, name);
    if (pattern.regex || pattern.text.empty()) return make_regex_split(pattern.text, name, behavior, invert);
    return make_split(std::string(pattern.text), behavior, invert);
}

/// `add_prefix_space` is how files before version 0.19 of the peers' library say it.
PrependScheme read_prepend_scheme(const JsonElement& step, std::string_view name) {
    const bool prefix = member_or(step, "add_prefix_space", true, name);
    const std::string_view scheme = member_or(step, "prepend_scheme", std::string_view(prefix ? "always" : "never"), name);
    if (scheme == "always") return PrependScheme::always;
    if (scheme == "first") return PrependScheme::first;
    if (scheme == "never") return PrependScheme::never;
    throw data_error("{}: the prepend_scheme {} is none of always, first, never", name, quoted(scheme));
}

/// `text`, which is member `key` of a step of that type.
std::string one_character(std::string_view text, std::string_view key, std::string_view type, std::string_view name) {
    const auto is_lead = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
    if (std::count_if(text.begin(), text.end(), is_lead) != 1)
        throw data_error("{}: the {} {} of {} is not one character", name, key, quoted(text, 40), type);
    return std::string(text);
}

std::unique_ptr<PreTokenizerStep> read_metaspace(const JsonElement& step, std::string_view name) {
    const std::string mark = one_character(member_or(step, "replacement", space_mark, name), "replacement", "Metaspace", name);
    return make_metaspace(mark, read_prepend_scheme(step, name), member_or(step, "split", true, name));
}

std::unique_ptr<PreTokenizerStep> read_delimiter_split(const JsonElement& step, std::string_view name) {
    const auto delimiter = required<std::string_view>(step, "delimiter", name);
    return make_split(one_character(delimiter, "delimiter", "CharDelimiterSplit", name), SplitBehavior::removed, false);
}

using Steps = std::vector<std::unique_ptr<PreTokenizerStep>>;

void add_byte_level(const JsonElement& step, bool prefix_space, std::string_view name, Steps& steps) {
    if (prefix_space) steps.push_back(make_prefix_space());
    if (member_or(step, "use_regex", true, name)) steps.push_back(make_word_split(WordPattern::gpt2, SplitBehavior::isolated, false));
    steps.push_back(make_byte_chars_pieces());
}

bool adds_prefix_space(const JsonElement& step, std::string_view name) { return member_or(step, "add_prefix_space", true, name); }

void add_pre_tokenizer(const JsonElement& step, std::string_view name, Steps& steps) {
    const std::string_view type = member_text(step, "type", name);
    if (type == "ByteLevel") return add_byte_level(step, adds_prefix_space(step, name), name, steps);
    if (type == "Metaspace") return steps.push_back(read_metaspace(step, name));
    if (type == "WhitespaceSplit") return steps.push_back(make_whitespace_split());
    if (type == "Whitespace") return steps.push_back(make_whitespace());
    if (type == "Split") return steps.push_back(read_split(step, name));
    if (type == "BertPreTokenizer") return steps.push_back(make_bert_split());
    if (type == "Digits") return steps.push_back(make_digits(member_or(step, "individual_digits", false, name)));
    if (type == "Punctuation") return steps.push_back(make_punctuation(read_behavior(step, "Isolated", name)));
    if (type == "CharDelimiterSplit") return steps.push_back(read_delimiter_split(step, name));
    throw data_error(
        "{}: the pre_tokenizer {} is not supported; Metaspace, WhitespaceSplit, Whitespace, ByteLevel, Split, BertPreTokenizer, Digits, "
        "Punctuation, CharDelimiterSplit and Sequence are",
        name, quoted(type));
}

}  // namespace

void read_normalizers(const JsonElement& root, std::string_view name, NormalizerChain& chain) {
    JsonElement normalizer;
    if (!find_member(root, "normalizer", normalizer)) return;
    for_each_step(normalizer, "normalizers", name, [&](const JsonElement& step) {
        chain.add(read_normalizer(step, name));
        if (chain.size() > max_steps) throw data_error("{}: has more than {} normalizers", name, max_steps);
    });
}

bool read_pre_tokenizers(const JsonElement& root, std::string_view name, Steps& steps, std::optional<bool>& prefix_space) {
    JsonElement pre_tokenizer;
    const bool any = find_member(root, "pre_tokenizer", pre_tokenizer);
    if (prefix_space &&
        (!any || member_text(pre_tokenizer, "type", name) != "ByteLevel" || adds_prefix_space(pre_tokenizer, name) == *prefix_space))
        prefix_space.reset();
    if (!any) return false;
    bool bytes_last = prefix_space.has_value();
    if (prefix_space)
        add_byte_level(pre_tokenizer, *prefix_space, name, steps);
    else
        for_each_step(pre_tokenizer, "pretokenizers", name, [&](const JsonElement& step) {
            add_pre_tokenizer(step, name, steps);
            bytes_last = member_text(step, "type", name) == "ByteLevel";
            if (steps.size() > max_steps) throw data_error("{}: has more than {} pre_tokenizers", name, max_steps);
        });
    if (bytes_last) steps.pop_back();
    return bytes_last;
}

}  // namespace faceter
