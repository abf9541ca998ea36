#include "text/added_vocabulary.h"

#include <algorithm>

namespace faceter {

AddedVocabulary::AddedVocabulary(Vocabulary vocabulary, std::vector<AddedToken> tokens,
                                 const std::function<std::string(std::string_view)>& normalize)
    : vocabulary_(std::move(vocabulary)), tokens_(std::move(tokens)) {
    for (const auto& [piece, id] : vocabulary_)
        if (!piece.empty()) ids_.insert(piece, id);
    number_tokens();
    for (const bool special : {true, false})
        for (const AddedToken& token : tokens_)
            if (token.special == special)
                token.normalized ? normalized_.add(normalize(token.content), token) : raw_.add(token.content, token);
    for (std::size_t i = 0; i < vocabulary_.size(); ++i) by_id_.emplace_back(vocabulary_[i].second, std::uint32_t(i));
    for (std::size_t i = 0; i < tokens_.size(); ++i) by_id_.emplace_back(tokens_[i].id, std::uint32_t(vocabulary_.size() + i));
    std::stable_sort(by_id_.begin(), by_id_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    size_ = by_id_.empty() ? 0 : std::size_t(by_id_.back().first) + 1;
}

void AddedVocabulary::number_tokens() {
    auto next = static_cast<std::int32_t>(vocabulary_.size());
    for (AddedToken& token : tokens_) {
        const int known = piece_to_id(token.content);
        token.id = known < 0 ? next : known;
        next = std::max(next, token.id + 1);
        if (known < 0) ids_.insert(token.content, token.id);
    }
}

std::string AddedVocabulary::id_to_piece(int id) const {
    const auto found =
        std::lower_bound(by_id_.begin(), by_id_.end(), id, [](const auto& entry, int wanted) { return entry.first < wanted; });
    if (found == by_id_.end() || found->first != id) return {};
    const std::size_t index = found->second, size = vocabulary_.size();
    return index < size ? vocabulary_[index].first : tokens_[index - size].content;
}

int AddedVocabulary::piece_to_id(std::string_view piece) const {
    const PieceTrie::Node node = piece.empty() ? PieceTrie::none : ids_.find(piece);
    return node == PieceTrie::none ? -1 : ids_.id(node);
}

}  // namespace faceter
