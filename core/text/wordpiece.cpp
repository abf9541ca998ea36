#include "text/wordpiece.h"

#include <algorithm>

#include "common/error.h"
#include "common/hash.h"
#include "text/bert_scan.h"
#include "text/utf8.h"

namespace faceter {
namespace {

/// A canonical text of all settings that ids depend on.
std::string describe(const WordPieceSettings& settings) {
    const BertNormalizer& normalizer = settings.normalizer;
    std::string text =
        fmt::format("wordpiece 1 {} {} {} {} {} {} {}\n", settings.max_chars_per_word, settings.continuing_prefix, normalizer.clean_text,
                    normalizer.handle_chinese_chars, normalizer.strip_accents, normalizer.lowercase, settings.truncate_left);
    const auto append = [&](std::string_view piece, auto&&... numbers) {
        text += piece;
        ((text += fmt::format("\t{}", numbers)), ...);
        text += '\n';
    };
    for (const auto& [piece, id] : settings.vocabulary) append(piece, id);
    for (const AddedToken& token : settings.added_tokens)
        append(token.content, token.id, token.single_word, token.lstrip, token.rstrip, token.normalized, token.special);
    for (const std::int32_t id : settings.around.before) append("before", id);
    for (const std::int32_t id : settings.around.after) append("after", id);
    append(settings.unk_token);
    return text;
}

std::size_t count_chars(std::string_view text) {
    return std::size_t(
        std::count_if(text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

}  // namespace

/// What a thread keeps between calls, so that encoding a text allocates nothing.
struct WordPieceTokenizer::Scratch {
    std::vector<std::int32_t> ids = std::vector<std::int32_t>(1024);
    std::vector<std::int32_t> pieces;
    std::vector<char> word;
    static Scratch& of_thread() {
        thread_local Scratch scratch;
        return scratch;
    }
};

/// Takes words, gives ids: through the cache, else by greedy longest match.
class WordPieceTokenizer::Sink {
  public:
    Sink(const WordPieceTokenizer& tokenizer, std::size_t limit)
        : tokenizer_(tokenizer), cache_(WordCache::of_thread(tokenizer.serial_)), scratch_(Scratch::of_thread()), limit_(limit) {}

    bool full() const { return size_ >= limit_; }
    std::size_t size() const { return size_; }
    void rewind(std::size_t size) { size_ = size; }
    const std::int32_t* data() const { return scratch_.ids.data(); }
    std::vector<char>& word_buffer() { return scratch_.word; }

    void push(std::int32_t id) { push(&id, 1); }
    void single(char c) { push(tokenizer_.single_ids_[static_cast<unsigned char>(c)]); }
    void overlong_word() { push(tokenizer_.unk_); }
    void long_word(std::string_view word) {
        split(word);
        push(scratch_.pieces.data(), scratch_.pieces.size());
    }
    void word(const WordKey& key) {
        const std::uint64_t hash = key.hash();
        if (const WordCache::Entry* entry = cache_.find(key, hash)) {
            reserve(8);
            std::memcpy(scratch_.ids.data() + size_, entry->ids.data(), sizeof entry->ids);  // all seven: a fixed size is fast
            size_ += entry->num_ids;
            return;
        }
        long_word(key.text());
        if (scratch_.pieces.size() <= WordCache::max_ids) cache_.insert(key, hash, scratch_.pieces.data(), scratch_.pieces.size());
    }

  private:
    void reserve(std::size_t count) {
        if (size_ + count > scratch_.ids.size()) scratch_.ids.resize(2 * (size_ + count));
    }
    void push(const std::int32_t* ids, std::size_t count) {
        reserve(count);
        std::copy_n(ids, count, scratch_.ids.data() + size_);
        size_ += count;
    }
    /// The pieces of a word into scratch_.pieces; the unknown token alone where one is not found or the word is too long.
    void split(std::string_view word) {
        std::vector<std::int32_t>& pieces = scratch_.pieces;
        pieces.clear();
        const bool too_long =
            word.size() > tokenizer_.settings_.max_chars_per_word && count_chars(word) > tokenizer_.settings_.max_chars_per_word;
        PieceTrie::Node from = PieceTrie::root;
        while (!word.empty() && !too_long && from != PieceTrie::none) {
            const PieceTrie::Match match = tokenizer_.pieces_.longest(word, from);
            if (match.id < 0) break;
            pieces.push_back(match.id);
            word.remove_prefix(match.length);
            from = tokenizer_.continuation_;
        }
        if (!word.empty()) pieces.assign(1, tokenizer_.unk_);
    }

    const WordPieceTokenizer& tokenizer_;
    WordCache& cache_;
    Scratch& scratch_;
    const std::size_t limit_;
    std::size_t size_ = 0;
};

WordPieceTokenizer::WordPieceTokenizer(WordPieceSettings settings, std::string_view name)
    : settings_(std::move(settings)),
      table_(settings_.normalizer),
      split_table_(BertNormalizer{false, false, false, false}),
      max_word_bytes_(4 * std::min<std::size_t>(settings_.max_chars_per_word, std::size_t(1) << 40)),
      serial_(next_tokenizer_serial()) {
    for (const auto& [piece, id] : settings_.vocabulary) check_piece(piece, name);
    fill_tries();
    const PieceTrie::Node unknown = pieces_.find(settings_.unk_token);
    unk_ = unknown == PieceTrie::none ? -1 : pieces_.id(unknown);
    if (unk_ < 0) throw data_error("{}: the unknown token '{}' is not in the vocabulary", name, settings_.unk_token);
    int* const roles[] = {&special_.pad, &special_.unk, &special_.cls, &special_.sep, &special_.mask};
    for (std::size_t i = 0; i < 5; ++i) *roles[i] = piece_to_id(settings_.special[i]);
    Sink sink(*this, SIZE_MAX);
    for (std::size_t c = 0; c < 128; ++c) {
        const char character = static_cast<char>(c);
        sink.rewind(0);
        sink.long_word({&character, 1});
        single_ids_[c] = sink.data()[0];
    }
    fingerprint_ = hash128(describe(settings_)).hex();
}

WordPieceTokenizer::~WordPieceTokenizer() = default;

/// Ids as AddedVocabulary gives them: the file's "id" does not count.
void WordPieceTokenizer::number_added_tokens() {
    std::int32_t next = static_cast<std::int32_t>(settings_.vocabulary.size());
    for (AddedToken& token : settings_.added_tokens) {
        const int known = piece_to_id(token.content);
        token.id = known < 0 ? next : known;
        next = std::max(next, token.id + 1);
        added_ids_.insert(token.content, token.id);
    }
}

void WordPieceTokenizer::fill_tries() {
    const auto& vocabulary = settings_.vocabulary;
    for (const auto& [piece, id] : vocabulary) {
        if (!piece.empty()) pieces_.insert(piece, id);  // an empty piece would match everywhere
    }
    continuation_ = pieces_.find(settings_.continuing_prefix);
    number_added_tokens();
    for (std::size_t i = 0; i < vocabulary.size(); ++i) by_id_.emplace_back(vocabulary[i].second, std::uint32_t(i));
    for (std::size_t i = 0; i < settings_.added_tokens.size(); ++i) {
        by_id_.emplace_back(settings_.added_tokens[i].id, std::uint32_t(vocabulary.size() + i));
    }
    for (const bool special : {true, false}) {
        for (const AddedToken& token : settings_.added_tokens) {
            if (token.special != special) continue;
            const std::string pattern = token.normalized ? settings_.normalizer.normalize(token.content) : token.content;
            (token.normalized ? normalized_tokens_ : raw_tokens_).add(pattern, token);
        }
    }
    std::stable_sort(by_id_.begin(), by_id_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    vocab_size_ = by_id_.empty() ? 0 : std::size_t(by_id_.back().first) + 1;
}

std::string WordPieceTokenizer::id_to_piece(int id) const {
    const auto found =
        std::lower_bound(by_id_.begin(), by_id_.end(), id, [](const auto& entry, int wanted) { return entry.first < wanted; });
    if (found == by_id_.end() || found->first != id) return {};
    const std::size_t index = found->second, size = settings_.vocabulary.size();
    return index < size ? settings_.vocabulary[index].first : settings_.added_tokens[index - size].content;
}

int WordPieceTokenizer::piece_to_id(std::string_view piece) const {
    const auto look_up = [&](const PieceTrie& trie) {
        const PieceTrie::Node node = trie.find(piece);
        return node == PieceTrie::none ? -1 : trie.id(node);
    };
    const int id = look_up(pieces_);
    return id >= 0 ? id : look_up(added_ids_);
}

void WordPieceTokenizer::encode(std::string_view text, std::size_t max_length, std::vector<std::int32_t>& ids) const {
    if (max_length != 0 && max_length < num_special())
        throw settings_error("max_length {} leaves no room for the {} special tokens around a text", max_length, num_special());
    const std::size_t content = max_length == 0 ? SIZE_MAX : max_length - num_special();
    Sink sink(*this, settings_.truncate_left ? SIZE_MAX : content);
    if (!encode_content(text, sink)) {
        sink.rewind(0);
        encode_content(replace_invalid_utf8(text), sink);
    }
    const std::size_t kept = std::min(sink.size(), content), skipped = settings_.truncate_left ? sink.size() - kept : 0;
    ids.insert(ids.end(), settings_.around.before.begin(), settings_.around.before.end());
    ids.insert(ids.end(), sink.data() + skipped, sink.data() + skipped + kept);
    ids.insert(ids.end(), settings_.around.after.begin(), settings_.around.after.end());
}

/// False where the text turned out not to be UTF-8.
bool WordPieceTokenizer::encode_content(std::string_view text, Sink& sink) const {
    std::size_t done = 0;
    if (!raw_tokens_.empty()) {
        AddedTokenFinder::Walk walk(raw_tokens_, text);
        while (const auto match = sink.full() ? std::nullopt : walk.next()) {
            if (match->begin > done && !encode_segment(text.substr(done, match->begin - done), sink)) return false;
            sink.push(match->id);
            done = match->end;
        }
    }
    return sink.full() || encode_segment(text.substr(done), sink);
}

bool WordPieceTokenizer::encode_segment(std::string_view text, Sink& sink) const {
    const std::size_t start = sink.size();
    ScanResult result = ScanResult::needs_context;
    if (normalized_tokens_.empty()) result = BertScanner<Sink>(table_, max_word_bytes_, sink.word_buffer(), sink).run(text);
    if (result == ScanResult::needs_context) {
        sink.rewind(start);
        encode_normalized(table_.normalize(text), sink);
    }
    return result != ScanResult::invalid;
}

void WordPieceTokenizer::encode_normalized(std::string_view text, Sink& sink) const {
    std::size_t done = 0;
    AddedTokenFinder::Walk walk(normalized_tokens_, text);
    while (const auto match = normalized_tokens_.empty() || sink.full() ? std::nullopt : walk.next()) {
        if (match->begin > done) split_normalized(text.substr(done, match->begin - done), sink);
        sink.push(match->id);
        done = match->end;
    }
    split_normalized(text.substr(done), sink);
}

void WordPieceTokenizer::split_normalized(std::string_view text, Sink& sink) const {
    BertScanner<Sink>(split_table_, max_word_bytes_, sink.word_buffer(), sink).run(text);
}

}  // namespace faceter
