#include "text/sentencepiece_json.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "text/base64.h"
#include "text/tokenizer_ends.h"
#include "text/tokenizer_files.h"

namespace faceter {
namespace {

using Type = SentencePieceFile::Type;

Json metaspace(const SentencePieceFile& file) {
    const char* scheme = file.add_dummy_prefix ? "always" : "never";
    return {{"type", "Metaspace"}, {"replacement", space_mark}, {"prepend_scheme", scheme}, {"split", true}};
}

Json replaced(std::string_view text, std::string_view by) {
    return {{"type", "Replace"}, {"pattern", {{"String", text}}}, {"content", by}};
}

/// Blanks that count one by one are marked here, as a step before all others.
Json normalizer(const SentencePieceFile& file) {
    Json steps = Json::array();
    if (!file.charsmap.empty()) steps.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", encode_base64(file.charsmap)}});
    if (!file.remove_extra_whitespaces && file.add_dummy_prefix) steps.push_back({{"type", "Prepend"}, {"prepend", space_mark}});
    if (!file.remove_extra_whitespaces) steps.push_back(replaced(" ", space_mark));
    return steps.empty() ? Json() : steps.size() == 1 ? steps[0] : Json{{"type", "Sequence"}, {"normalizers", steps}};
}

Json pre_tokenizer(const SentencePieceFile& file) {
    if (!file.remove_extra_whitespaces) return nullptr;
    return {{"type", "Sequence"}, {"pretokenizers", Json::array({Json{{"type", "WhitespaceSplit"}}, metaspace(file)})}};
}

Json decoder(const SentencePieceFile& file) {
    if (file.remove_extra_whitespaces) return metaspace(file);
    Json steps = Json::array({replaced(space_mark, " "), Json{{"type", "ByteFallback"}}, Json{{"type", "Fuse"}}});
    if (file.add_dummy_prefix) steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
    return {{"type", "Sequence"}, {"decoders", steps}};
}

/// What the file says of every id. What is not in it (padding, masks, sentinels) is a control symbol.
std::vector<SentencePieceFile::Piece> pieces_of(const SentencePieceFile& file, const Vocabulary& vocabulary) {
    std::unordered_map<std::string_view, const SentencePieceFile::Piece*> by_text;
    for (const SentencePieceFile::Piece& piece : file.pieces) by_text[piece.text] = &piece;
    std::vector<SentencePieceFile::Piece> pieces;
    for (const auto& [text, id] : vocabulary) {
        const auto found = by_text.find(text);
        pieces.push_back(found == by_text.end() ? SentencePieceFile::Piece{text, 0, Type::control} : *found->second);
    }
    return pieces;
}

using Pieces = std::vector<SentencePieceFile::Piece>;

Json added_tokens(const Pieces& pieces) {
    Json all = Json::array();
    for (std::size_t id = 0; id < pieces.size(); ++id) {
        const auto& [text, score, type] = pieces[id];
        if (type != Type::control && type != Type::unknown && type != Type::user_defined) continue;
        all.push_back({{"id", id},
                       {"content", text},
                       {"single_word", false},
                       {"lstrip", text == "<mask>"},
                       {"rstrip", false},
                       {"normalized", false},
                       {"special", type != Type::user_defined}});
    }
    return all;
}

std::size_t unknown_id(const Pieces& pieces) {
    const auto is_unknown = [](const auto& piece) { return piece.type == Type::unknown; };
    return static_cast<std::size_t>(std::find_if(pieces.begin(), pieces.end(), is_unknown) - pieces.begin());
}

Json unigram(const SentencePieceFile& file, const Pieces& pieces) {
    Json vocabulary = Json::array();
    for (const auto& [text, score, type] : pieces) {
        const bool counts = type != Type::control && type != Type::unknown;
        vocabulary.push_back(Json::array({text, counts ? score : 0}));
    }
    return {{"type", "Unigram"}, {"unk_id", unknown_id(pieces)}, {"vocab", vocabulary}, {"byte_fallback", file.byte_fallback}};
}

/// Every way to make a piece of two, in the order of the pieces, then of the lengths of their halves (transformers' generate_merges()).
Json merges_of(const Pieces& pieces) {
    std::unordered_set<std::string_view> texts;
    for (const auto& piece : pieces)
        if (piece.type == Type::normal) texts.insert(piece.text);
    Json merges = Json::array();
    for (const auto& piece : pieces) {
        const std::string_view text = piece.type == Type::normal ? piece.text : std::string_view();
        for (std::size_t at = 1; at < text.size(); ++at)
            if (texts.contains(text.substr(0, at)) && texts.contains(text.substr(at)))
                merges.push_back(Json::array({text.substr(0, at), text.substr(at)}));
    }
    return merges;
}

Json byte_pairs(const SentencePieceFile& file, const Pieces& pieces) {
    Json::object_t vocabulary;
    for (std::size_t id = 0; id < pieces.size(); ++id) vocabulary.emplace_back(pieces[id].text, Json(id));
    return {{"type", "BPE"},
            {"unk_token", pieces[unknown_id(pieces)].text},
            {"fuse_unk", true},
            {"byte_fallback", file.byte_fallback},
            {"vocab", Json(std::move(vocabulary))},
            {"merges", merges_of(pieces)}};
}

void require_convertible(const SentencePieceFile& file, const std::string& name) {
    const char* why = file.whitespace_as_suffix  ? "it marks blanks behind words"
                      : !file.escape_whitespaces ? "it does not mark blanks"
                                                 : nullptr;
    if (why) throw data_error("{}: {}, which no tokenizer.json can say; use a folder that has one", name, why);
}

}  // namespace

std::string sentencepiece_tokenizer_json(const std::filesystem::path& path) {
    const SentencePieceFile file = SentencePieceFile::parse(read_file(path, max_tokenizer_bytes), path.string());
    require_convertible(file, path.string());
    const SentencePieceArrangement arrangement = arrange(file, path, read_token_roles(path.parent_path()));
    const Pieces pieces = pieces_of(file, arrangement.vocabulary);
    const auto text_of = [&](std::int32_t id) { return pieces[static_cast<std::size_t>(id)].text; };
    const bool is_bpe = file.algorithm == SentencePieceFile::Algorithm::bpe;
    const Json json = {{"version", "1.0"},
                       {"truncation", nullptr},
                       {"padding", nullptr},
                       {"added_tokens", added_tokens(pieces)},
                       {"normalizer", normalizer(file)},
                       {"pre_tokenizer", pre_tokenizer(file)},
                       {"post_processor", template_processing(arrangement.special, text_of)},
                       {"decoder", decoder(file)},
                       {"model", is_bpe ? byte_pairs(file, pieces) : unigram(file, pieces)}};
    return json.dump() + "\n";
}

}  // namespace faceter
