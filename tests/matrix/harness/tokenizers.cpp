#include "matrix/harness/tokenizers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "conform/made_texts.h"

namespace faceter::matrix {
namespace {

constexpr const char* letters = "abcdefghijklmnopqrstuvwxyz";

/// The special tokens of a kind by role; their ids are their places in `order`.
struct Specials {
    std::vector<std::string> order;
    std::string begin, end, pad, unknown, mask;  // empty: none
    std::int64_t id(const std::string& token) const { return std::find(order.begin(), order.end(), token) - order.begin(); }
};

Specials specials_of(Cutting cutting) {
    switch (cutting) {
        case Cutting::word_piece:
            return {{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}, "[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"};
        case Cutting::unigram_t5:
            return {{"<pad>", "</s>", "<unk>"}, "", "</s>", "<pad>", "<unk>", ""};
        case Cutting::byte_pairs_end:
        case Cutting::byte_pairs_qwen:
            return {{"<|endoftext|>", "<|mask|>"}, "", "<|endoftext|>", "<|endoftext|>", "", "<|mask|>"};
        default:
            return {{"<s>", "<pad>", "</s>", "<unk>", "<mask>"}, "<s>", "</s>", "<pad>", "<unk>", "<mask>"};
    }
}

Json word_piece_model(const Specials& specials) {
    std::vector<std::string> pieces = specials.order;
    for (const char* c = letters; *c; ++c) pieces.insert(pieces.end(), {std::string(1, *c), std::string("##") + *c});
    for (std::size_t i = 0; i < conform::words().size(); ++i) {  // a third of the words are cut into two pieces
        const std::string& word = conform::words()[i];
        pieces.push_back(i % 3 ? word : word.substr(0, 3));
        if (i % 3 == 0) pieces.push_back("##" + word.substr(3));
    }
    Json vocab = Json::object();
    for (const std::string& piece : pieces)
        if (!vocab.contains(piece)) vocab[piece] = vocab.size();
    return {{"type", "WordPiece"},
            {"unk_token", specials.unknown},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", vocab}};
}

Json unigram_model(const Specials& specials) {
    Json vocab = Json::array();
    for (const std::string& token : specials.order) vocab.push_back({token, 0.0});
    vocab.push_back({"▁", -4.0});
    for (const char* c = letters; *c; ++c) vocab.push_back({std::string(1, *c), -9.0 - 0.01 * (c - letters)});
    std::set<std::string> seen;
    for (std::size_t i = 0; i < conform::words().size(); ++i) {
        const std::string piece = "▁" + (i % 3 ? conform::words()[i] : conform::words()[i].substr(0, 4));
        if (seen.insert(piece).second) vocab.push_back({piece, -6.0 - 0.013 * static_cast<double>(i)});
    }
    return {{"type", "Unigram"}, {"unk_id", specials.id(specials.unknown)}, {"vocab", vocab}, {"byte_fallback", false}};
}

/// How byte-level tokenizers write a byte (GPT-2's bytes_to_unicode).
std::string byte_letter(int byte) {
    const auto plain = [](int b) { return (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE && b <= 0xFF); };
    int code = byte;
    if (!plain(byte)) {
        code = 256;
        for (int b = 0; b < byte; ++b) code += !plain(b);
    }
    if (code < 0x80) return std::string(1, static_cast<char>(code));
    return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
}

/// `spaced`: a word's pieces begin with the blank in front of it.
Json byte_pair_model(const Specials& specials, bool spaced) {
    Json vocab = Json::object(), merges = Json::array();
    for (const std::string& token : specials.order) vocab[token] = vocab.size();
    for (int byte = 0; byte < 256; ++byte) vocab[byte_letter(byte)] = vocab.size();
    for (std::size_t i = 0; i < conform::words().size(); ++i) {
        const std::string word = conform::words()[i].substr(0, i % 3 ? std::string::npos : 3);
        std::string piece = spaced ? byte_letter(' ') : word.substr(0, 1);
        for (const char letter : word.substr(spaced ? 0 : 1)) {
            const std::string longer = piece + letter;
            if (!vocab.contains(longer)) {
                merges.push_back({piece, std::string(1, letter)});
                vocab[longer] = vocab.size();
            }
            piece = longer;
        }
    }
    return {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"ignore_merges", false},
            {"vocab", vocab},
            {"merges", merges}};
}

Json model_of(Cutting cutting, const Specials& specials) {
    if (cutting == Cutting::word_piece) return word_piece_model(specials);
    if (cutting == Cutting::unigram || cutting == Cutting::unigram_t5) return unigram_model(specials);
    return byte_pair_model(specials, cutting != Cutting::byte_pairs_qwen);
}

/// As the tokenizer.json of Qwen's own models has it: transformers takes no other for qwen2.
Json qwen_pre_tokenizer() {
    constexpr const char* split =
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
    return {{"type", "Sequence"},
            {"pretokenizers",
             {{{"type", "Split"}, {"pattern", {{"Regex", split}}}, {"behavior", "Isolated"}, {"invert", false}},
              {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}}}}};
}

Json pre_tokenizer_of(Cutting cutting) {
    if (cutting == Cutting::word_piece) return {{"type", "BertPreTokenizer"}};
    if (cutting == Cutting::unigram || cutting == Cutting::unigram_t5)
        return {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "always"}, {"split", true}};
    if (cutting == Cutting::byte_pairs_qwen) return qwen_pre_tokenizer();
    return {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}};
}

Json decoder_of(Cutting cutting) {
    if (cutting == Cutting::word_piece) return {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
    const Json split = pre_tokenizer_of(cutting);
    return cutting == Cutting::byte_pairs_qwen ? split["pretokenizers"][1] : split;
}

Json template_of(const Specials& specials) {
    Json single = Json::array(), tokens = Json::object();
    const auto special = [&](const std::string& token) {
        if (token.empty()) return;
        single.push_back({{"SpecialToken", {{"id", token}, {"type_id", 0}}}});
        tokens[token] = {{"id", token}, {"ids", {specials.id(token)}}, {"tokens", {token}}};
    };
    special(specials.begin);
    single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
    special(specials.end);
    Json pair = single;
    pair.push_back({{"Sequence", {{"id", "B"}, {"type_id", 0}}}});
    return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", tokens}};
}

Json added_tokens(const Specials& specials) {
    Json added = Json::array();
    for (const std::string& token : specials.order)
        added.push_back({{"id", specials.id(token)},
                         {"content", token},
                         {"single_word", false},
                         {"lstrip", false},
                         {"rstrip", false},
                         {"normalized", false},
                         {"special", true}});
    return added;
}

Json configuration(const Specials& specials) {
    Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                   {"model_max_length", 40},
                   {"clean_up_tokenization_spaces", false},
                   {"model_input_names", {"input_ids", "attention_mask"}}};
    const auto named = [&](std::initializer_list<const char*> keys, const std::string& token) {
        for (const char* key : keys)
            if (!token.empty()) config[key] = token;
    };
    named({"bos_token", "cls_token"}, specials.begin);
    named({"eos_token", "sep_token"}, specials.end);
    named({"pad_token"}, specials.pad);
    named({"unk_token"}, specials.unknown);
    named({"mask_token"}, specials.mask);
    return config;
}

}  // namespace

MadeTokenizer write_tokenizer(const fs::path& folder, Cutting cutting) {
    const Specials specials = specials_of(cutting);
    Json normalizer;
    if (cutting == Cutting::word_piece)
        normalizer = {{"type", "BertNormalizer"},
                      {"clean_text", true},
                      {"handle_chinese_chars", true},
                      {"strip_accents", nullptr},
                      {"lowercase", true}};
    if (cutting == Cutting::byte_pairs_qwen) normalizer = {{"type", "NFC"}};
    const Json model = model_of(cutting, specials);
    const Json tokenizer = {{"version", "1.0"},
                            {"truncation", nullptr},
                            {"padding", nullptr},
                            {"added_tokens", added_tokens(specials)},
                            {"normalizer", normalizer},
                            {"pre_tokenizer", pre_tokenizer_of(cutting)},
                            {"post_processor", template_of(specials)},
                            {"decoder", decoder_of(cutting)},
                            {"model", model}};
    write_file_atomic(folder / "tokenizer.json", tokenizer.dump(1));
    write_file_atomic(folder / "tokenizer_config.json", configuration(specials).dump(1));
    const std::string& begin = specials.begin.empty() ? specials.pad : specials.begin;
    return {static_cast<std::int64_t>(model["vocab"].size()), specials.id(specials.pad), specials.id(begin), specials.id(specials.end)};
}

}  // namespace faceter::matrix
