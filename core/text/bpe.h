#pragma once
#include <array>
#include <optional>

#include "text/piece_model.h"
#include "text/piece_trie.h"

namespace faceter {

/// A byte-pair encoder's vocabulary and its merges, best first, as tokenizer.json or vocab.json and merges.txt give them.
struct BpeSettings {
    Vocabulary vocabulary;
    std::vector<std::pair<std::string, std::string>> merges;
    std::optional<std::string> unk_token;
    std::string continuing_prefix, end_suffix;
    bool fuse_unk = false;       ///< unknown characters in a row are one
    bool byte_fallback = false;  ///< what is unknown becomes pieces "<0x00>" to "<0xFF>"
    bool ignore_merges = false;  ///< a piece of the vocabulary is taken whole
    bool byte_chars = false;     ///< pieces come as bytes; the vocabulary writes a character for each (byte_chars.h)
};

/// BPE (Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units", 2016) as Hugging Face's tokenizers run it: the
/// merge of lowest rank first, of equal ones the leftmost, by a heap: n log n for a piece of n characters.
class BpeModel : public PieceModel {
  public:
    /// Throws a data error (`name` in front) where a merge or the unknown token is not in the vocabulary.
    BpeModel(BpeSettings settings, std::string_view name);
    void encode(std::string_view piece, std::vector<std::int32_t>& ids) const override;
    std::size_t next_cut(std::string_view piece, std::size_t from) const override;

  private:
    struct Merge {
        std::uint64_t pair = empty;
        std::uint32_t rank = 0;
        std::int32_t id = -1;
        static constexpr std::uint64_t empty = ~std::uint64_t{0};
    };
    struct Symbol {
        std::int32_t id, previous, next;
        bool gone = false;
    };
    struct Candidate {
        std::uint32_t rank;
        std::int32_t at, id;
        /// For a heap whose top is the lowest rank, then the leftmost.
        bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
    };
    struct Scratch;
    static std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
        return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
    }
    std::int32_t find_id(std::string_view piece) const;
    const Merge* find_merge(std::int32_t left, std::int32_t right) const;
    void insert_merge(const Merge& merge);
    void add_merges(const BpeSettings& settings, std::string_view name);
    void find_mark_use(const BpeSettings& settings);
    void start_symbols(std::string_view piece, Scratch& scratch) const;
    bool append_bytes(std::string_view text, Scratch& scratch) const;
    void merge_all(Scratch& scratch) const;

    PieceTrie trie_;
    std::vector<Merge> merges_;  // open addressing
    std::size_t mask_ = 0;
    std::array<std::int32_t, 256> byte_ids_;  // of byte_chars, or of byte_fallback
    std::int32_t unk_id_ = -1;
    std::string prefix_, suffix_;
    bool fuse_unk_, byte_fallback_, ignore_merges_, byte_chars_;
    bool cut_at_marks_ = false;  // no merge reaches over the beginning of a word
};

}  // namespace faceter
