#include "text/pipeline_json.h"

#include <algorithm>

#include "common/error.h"
#include "common/json.h"
#include "common/json_document.h"
#include "common/strings.h"
#include "text/bpe.h"
#include "text/unigram.h"
#include "text/wordpiece_model.h"

namespace faceter {
namespace {

/// [["<unk>", 0.0], ["▁the", -3.2], ...]
UnigramSettings read_unigram(const JsonElement& model, std::string_view name) {
    UnigramSettings settings;
    simdjson::dom::array entries;
    if (model["vocab"].get(entries)) throw_json_member(name, "model.vocab", "is missing or not a list");
    for (const JsonElement entry : entries) {
        simdjson::dom::array pair;
        std::string_view piece;
        double score = 0;
        if (entry.get(pair) || pair.at(0).get(piece) || pair.at(1).get(score))
            throw data_error("{}: entry {} of model.vocab is not a piece and its score", name, settings.pieces.size());
        settings.pieces.emplace_back(piece, score);
    }
    if (settings.pieces.empty()) throw_json_member(name, "model.vocab", "is empty");
    JsonElement unk;
    if (!find_member(model, "unk_id", unk))
        throw_json_member(name, "model.unk_id", "is missing; texts with unknown characters could not be read");
    settings.unk_id = to_id(unk, "the unknown token", name);
    settings.byte_fallback = member_or(model, "byte_fallback", false, name);
    return settings;
}

/// "a b", or ["a", "b"] in newer files.
std::pair<std::string, std::string> read_merge(const JsonElement& merge, std::size_t rank, std::string_view name) {
    std::string_view line, left, right;
    simdjson::dom::array pair;
    if (!merge.get(line)) {
        const auto parts = split(line, ' ');
        if (parts.size() == 2) return {std::string(parts[0]), std::string(parts[1])};
    } else if (!merge.get(pair) && pair.size() == 2 && !pair.at(0).get(left) && !pair.at(1).get(right)) {
        return {std::string(left), std::string(right)};
    }
    throw data_error("{}: merge {} is not two pieces", name, rank + 1);
}

BpeSettings read_bpe(const JsonElement& model, std::string_view name) {
    BpeSettings settings;
    settings.vocabulary = read_vocabulary(model, name);
    simdjson::dom::array merges;
    if (model["merges"].get(merges)) throw_json_member(name, "model.merges", "is missing or not a list");
    for (const JsonElement merge : merges) {
        std::string_view line;
        if (!merge.get(line) && line.starts_with("#version")) continue;
        settings.merges.push_back(read_merge(merge, settings.merges.size(), name));
    }
    JsonElement member;
    if (find_member(model, "unk_token", member)) settings.unk_token = member_text(model, "unk_token", name);
    settings.continuing_prefix = member_or(model, "continuing_subword_prefix", std::string_view(), name);
    settings.end_suffix = member_or(model, "end_of_word_suffix", std::string_view(), name);
    settings.fuse_unk = member_or(model, "fuse_unk", false, name);
    settings.byte_fallback = member_or(model, "byte_fallback", false, name);
    settings.ignore_merges = member_or(model, "ignore_merges", false, name);
    double dropout = 0;
    if (find_member(model, "dropout", member) && (member.get(dropout) || dropout != 0))
        throw data_error("{}: model.dropout makes ids that differ from call to call and is not supported; set it to null", name);
    return settings;
}

std::unique_ptr<PieceModel> read_wordpiece(const JsonElement& model, const Vocabulary& vocabulary, std::string_view name) {
    WordPieceModel::Settings settings;
    settings.unk_token = member_or(model, "unk_token", std::string_view("[UNK]"), name);
    settings.continuing_prefix = member_or(model, "continuing_subword_prefix", std::string_view("##"), name);
    const std::int64_t max_chars = member_or(model, "max_input_chars_per_word", std::int64_t{100}, name);
    if (max_chars < 0) throw_json_member(name, "model.max_input_chars_per_word", "is negative");
    settings.max_chars_per_word = static_cast<std::size_t>(max_chars);
    return std::make_unique<WordPieceModel>(vocabulary, settings, name);
}

void read_model(const JsonElement& root, bool byte_chars, std::string_view name, PipelineSettings& settings) {
    JsonElement model, member;
    if (!find_member(root, "model", model)) throw_json_member(name, "model", "is missing");
    const bool list = find_member(model, "vocab", member) && member.is_array();
    const std::string_view guess = list ? "Unigram" : find_member(model, "merges", member) ? "BPE" : "WordPiece";
    const std::string_view type = member_or(model, "type", guess, name);
    if (type == "BPE") {
        BpeSettings bpe = read_bpe(model, name);
        bpe.byte_chars = byte_chars;
        settings.vocabulary = bpe.vocabulary;
        settings.model = std::make_unique<BpeModel>(std::move(bpe), name);
        return;
    }
    if (byte_chars) settings.pre_tokenizers.push_back(make_byte_chars_pieces());
    if (type == "Unigram") {
        UnigramSettings unigram = read_unigram(model, name);
        for (const auto& [piece, score] : unigram.pieces)
            settings.vocabulary.emplace_back(piece, static_cast<std::int32_t>(settings.vocabulary.size()));
        settings.model = std::make_unique<UnigramModel>(std::move(unigram), name);
    } else if (type == "WordPiece") {
        settings.vocabulary = read_vocabulary(model, name);
        settings.model = read_wordpiece(model, settings.vocabulary, name);
    } else {
        throw data_error("{}: tokenizers of kind {} are not supported; WordPiece, Unigram and BPE are", name, quoted(type));
    }
}

}  // namespace

PipelineSettings parse_pipeline_json(std::string_view text, std::string_view name, std::optional<bool> prefix_space) {
    PipelineSettings settings;
    with_json_document(text, name, [&](JsonElement root) {
        read_normalizers(root, name, settings.normalizers);
        const bool byte_chars = read_pre_tokenizers(root, name, settings.pre_tokenizers, prefix_space);
        read_model(root, byte_chars, name, settings);
        settings.added_tokens = read_added_tokens(root, name);
        settings.special = read_post_processor(root, name);
        settings.truncate_left = truncates_left(root, name);
    });
    settings.description = fmt::format("pipeline 1\n{}", text);
    if (prefix_space) settings.description += fmt::format("\nprefix space {}", *prefix_space);
    return settings;
}

}  // namespace faceter
