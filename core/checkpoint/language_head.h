#pragma once
#include <algorithm>
#include <array>
#include <string_view>

namespace faceter {

/// A family's head for masked-language modelling: what its checkpoints call its first layer and the decoder, which is the word embeddings.
struct LanguageHead {
    std::string_view type, dense, decoder;
};

inline constexpr std::array<LanguageHead, 8> language_heads = {{
    {"bert", "cls.predictions.transform.dense", "cls.predictions.decoder.weight"},
    {"nomic_bert", "cls.predictions.transform.dense", "cls.predictions.decoder.weight"},
    {"roberta", "lm_head.dense", "lm_head.decoder.weight"},
    {"xlm-roberta", "lm_head.dense", "lm_head.decoder.weight"},
    {"camembert", "lm_head.dense", "lm_head.decoder.weight"},
    {"mpnet", "lm_head.dense", "lm_head.decoder.weight"},
    {"distilbert", "vocab_transform", "vocab_projector.weight"},
    {"modernbert", "head.dense", "decoder.weight"},
}};
inline constexpr std::string_view families_with_language_head =
    "BERT, NomicBERT, RoBERTa, XLM-R, CamemBERT, DistilBERT, MPNet and ModernBERT";

/// That of a model of this type; null where the family has none.
constexpr const LanguageHead* language_head(std::string_view type) {
    const auto is_it = [&](const LanguageHead& head) { return head.type == type; };
    const auto found = std::find_if(language_heads.begin(), language_heads.end(), is_it);
    return found == language_heads.end() ? nullptr : &*found;
}

}  // namespace faceter
