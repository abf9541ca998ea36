#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace faceter {

/// Piece -> id, in the file's order; the last of equal pieces counts.
using Vocabulary = std::vector<std::pair<std::string, std::int32_t>>;

/// What turns one piece of a text into ids. Immutable; thread safe.
class PieceModel {
  public:
    virtual ~PieceModel() = default;
    /// Appends the ids of a piece that is not empty and is UTF-8.
    virtual void encode(std::string_view piece, std::vector<std::int32_t>& ids) const = 0;
    /// Where a piece can be cut without a change of its ids: calls go on from `from` to the next such place, or the piece's size.
    virtual std::size_t next_cut(std::string_view piece, std::size_t from) const {
        (void)from;
        return piece.size();
    }
};

/// Which character stands for white space in a vocabulary of SentencePiece.
inline constexpr std::string_view space_mark = "\xE2\x96\x81";

}  // namespace faceter
