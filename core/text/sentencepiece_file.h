#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace faceter {

/// What a .model file of sentencepiece says (sentencepiece_model.proto), as far as ids depend on it.
struct SentencePieceFile {
    enum class Type { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
    enum class Algorithm { unigram = 1, bpe = 2, word = 3, character = 4 };
    struct Piece {
        std::string text;
        float score = 0;
        Type type = Type::normal;
    };
    std::vector<Piece> pieces;  ///< a piece's id is its place
    Algorithm algorithm = Algorithm::unigram;
    bool byte_fallback = false, whitespace_as_suffix = false;
    std::string charsmap;  ///< may be empty: nothing is replaced
    bool add_dummy_prefix = true, remove_extra_whitespaces = true, escape_whitespaces = true;

    /// Throws a data error (`name` in front): not a protocol buffer, torn, no pieces, a piece that is empty or not UTF-8, a score that is
    /// no finite number, not exactly one unknown piece.
    static SentencePieceFile parse(std::string_view bytes, std::string_view name);
};

}  // namespace faceter
