#include "text/wordpiece_model.h"

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"

namespace faceter {

WordPieceModel::WordPieceModel(const Vocabulary& vocabulary, const Settings& settings, std::string_view name)
    : max_chars_(settings.max_chars_per_word) {
    for (const auto& [piece, id] : vocabulary) {
        check_piece(piece, name);
        if (!piece.empty()) trie_.insert(piece, id);
    }
    continuation_ = trie_.find(settings.continuing_prefix);
    const PieceTrie::Node unknown = trie_.find(settings.unk_token);
    if (unknown != PieceTrie::none) unk_id_ = trie_.id(unknown);
    if (unk_id_ < 0) throw data_error("{}: the unknown token {} is not in the vocabulary", name, faceter::quoted(settings.unk_token));
}

void WordPieceModel::encode(std::string_view piece, std::vector<std::int32_t>& ids) const {
    const std::size_t size = ids.size();
    const auto num_chars =
        std::count_if(piece.begin(), piece.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; });
    const bool too_long = static_cast<std::size_t>(num_chars) > max_chars_;
    PieceTrie::Node from = PieceTrie::root;
    while (!piece.empty() && !too_long && from != PieceTrie::none) {
        const PieceTrie::Match match = trie_.longest(piece, from);
        if (match.id < 0) break;
        ids.push_back(match.id);
        piece.remove_prefix(match.length);
        from = continuation_;
    }
    if (piece.empty()) return;
    ids.resize(size);
    ids.push_back(unk_id_);
}

}  // namespace faceter
