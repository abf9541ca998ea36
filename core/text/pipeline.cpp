#include "text/pipeline.h"

#include <algorithm>

#include "common/error.h"
#include "common/hash.h"
#include "common/strings.h"
#include "text/utf8.h"
#include "text/word_cache.h"

namespace faceter {
namespace {

constexpr std::size_t key_bytes = 32;  // what WordKey::load reads

}  // namespace

/// What a thread keeps between calls.
struct PipelineTokenizer::Scratch {
    std::vector<std::int32_t> ids, word_ids;
    NormalizerChain::Buffers buffers;
    PieceList pieces;
    WordCache* cache = nullptr;
    Regex::Budget budget{0};
    static Scratch& of_thread() {
        thread_local Scratch scratch;
        return scratch;
    }
};

PipelineTokenizer::PipelineTokenizer(PipelineSettings settings) : settings_(std::move(settings)), serial_(next_tokenizer_serial()) {
    std::size_t num_bytes = 0;
    for (const AddedToken& token : settings_.added_tokens) num_bytes += token.content.size();
    Regex::Budget budget(num_bytes);
    const auto normalize = [this, &budget](std::string_view text) {
        NormalizerChain::Buffers buffers;
        bool front_cut = false;
        return std::string(settings_.normalizers.apply(text, buffers, front_cut, budget));
    };
    vocabulary_ = AddedVocabulary(std::move(settings_.vocabulary), std::move(settings_.added_tokens), normalize);
    int* const ids[] = {&special_.pad, &special_.unk, &special_.cls, &special_.sep, &special_.mask};
    for (std::size_t i = 0; i < 5; ++i) *ids[i] = piece_to_id(settings_.roles[i]);
    fingerprint_ = hash128(settings_.description).hex();
    settings_.description = {};
}

PipelineTokenizer::~PipelineTokenizer() = default;

void PipelineTokenizer::encode(std::string_view text, std::size_t max_length, std::vector<std::int32_t>& ids) const {
    if (max_length != 0 && max_length < num_special())
        throw settings_error("max_length {} leaves no room for the {} special tokens around a text", max_length, num_special());
    const std::size_t content = max_length == 0 ? SIZE_MAX : max_length - num_special();
    Scratch& scratch = Scratch::of_thread();
    scratch.ids.clear();
    scratch.budget = Regex::Budget(text.size());
    scratch.pieces.budget = &scratch.budget;
    scratch.cache = settings_.pieces_are_words ? &WordCache::of_thread(serial_) : nullptr;
    const std::size_t limit = settings_.truncate_left ? SIZE_MAX : content;
    if (is_valid_utf8(text))
        encode_content(text, scratch, limit);
    else
        encode_content(replace_invalid_utf8(text), scratch, limit);
    const std::size_t kept = std::min(scratch.ids.size(), content), skipped = settings_.truncate_left ? scratch.ids.size() - kept : 0;
    const auto begin = scratch.ids.begin() + static_cast<std::ptrdiff_t>(skipped);
    ids.insert(ids.end(), settings_.special.before.begin(), settings_.special.before.end());
    ids.insert(ids.end(), begin, begin + static_cast<std::ptrdiff_t>(kept));
    ids.insert(ids.end(), settings_.special.after.begin(), settings_.special.after.end());
}

void PipelineTokenizer::encode_content(std::string_view text, Scratch& scratch, std::size_t limit) const {
    std::size_t done = 0;
    if (!vocabulary_.raw().empty()) {
        AddedTokenFinder::Walk walk(vocabulary_.raw(), text);
        while (const auto match = scratch.ids.size() >= limit ? std::nullopt : walk.next()) {
            if (match->begin > done) encode_segment(text.substr(done, match->begin - done), done == 0, scratch, limit);
            scratch.ids.push_back(match->id);
            done = match->end;
        }
    }
    if (done < text.size() && scratch.ids.size() < limit) encode_segment(text.substr(done), done == 0, scratch, limit);
}

void PipelineTokenizer::encode_segment(std::string_view text, bool at_start, Scratch& scratch, std::size_t limit) const {
    bool front_cut = false;
    text = settings_.normalizers.apply(text, scratch.buffers, front_cut, scratch.budget);
    at_start = at_start && !front_cut;
    std::size_t done = 0;
    if (!vocabulary_.normalized().empty()) {
        AddedTokenFinder::Walk walk(vocabulary_.normalized(), text);
        while (const auto match = scratch.ids.size() >= limit ? std::nullopt : walk.next()) {
            if (match->begin > done) encode_normalized(text.substr(done, match->begin - done), at_start && done == 0, scratch, limit);
            scratch.ids.push_back(match->id);
            done = match->end;
        }
    }
    if (done < text.size() && scratch.ids.size() < limit) encode_normalized(text.substr(done), at_start && done == 0, scratch, limit);
}

void PipelineTokenizer::encode_normalized(std::string_view text, bool at_start, Scratch& scratch, std::size_t limit) const {
    PieceList& list = scratch.pieces;
    list.start(text, at_start);
    for (const auto& step : settings_.pre_tokenizers) {
        step->apply(list);  // makes a text at most some times as long
        check_growth(list.text.size(), most_bytes(text.size()));
    }
    list.text.append(key_bytes, '\0');  // a word's key is read 32 bytes at a time
    for (const Piece& piece : list.pieces) {
        if (scratch.ids.size() >= limit) return;
        encode_piece(std::string_view(list.text).substr(piece.begin, piece.end - piece.begin), scratch);
    }
}

void PipelineTokenizer::encode_piece(std::string_view piece, Scratch& scratch) const {
    for (std::size_t done = 0; done < piece.size();) {
        const std::size_t end = settings_.model->next_cut(piece, done);
        encode_word(piece.substr(done, end - done), scratch);
        done = end;
    }
}

void PipelineTokenizer::encode_word(std::string_view word, Scratch& scratch) const {
    if (!scratch.cache || word.size() > WordKey::max_size) return settings_.model->encode(word, scratch.ids);
    const WordKey key = WordKey::load(word.data(), word.size(), 0);
    const std::uint64_t hash = key.hash();
    if (const WordCache::Entry* entry = scratch.cache->find(key, hash)) {
        scratch.ids.insert(scratch.ids.end(), entry->ids.begin(), entry->ids.begin() + entry->num_ids);
        return;
    }
    scratch.word_ids.clear();
    settings_.model->encode(word, scratch.word_ids);
    const std::size_t count = scratch.word_ids.size();
    // An entry without ids is an empty one to the cache.
    if (count > 0 && count <= WordCache::max_ids) scratch.cache->insert(key, hash, scratch.word_ids.data(), count);
    scratch.ids.insert(scratch.ids.end(), scratch.word_ids.begin(), scratch.word_ids.end());
}

}  // namespace faceter
