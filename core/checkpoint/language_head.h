#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace faceter {

/// A family's head for masked-language modelling: what its checkpoints call the parts; behind the first name stand those that other writers
/// of the same family use. The decoder is the word embeddings.
struct LanguageHead {
    std::string dense;
    std::vector<std::string> norm, bias;
    std::string decoder;
    bool inner_bias = true;  ///< ModernBERT has none but the decoder's
};

inline constexpr std::string_view families_with_language_head =
    "BERT, NomicBERT, RoBERTa, XLM-R, CamemBERT, DistilBERT, MPNet and ModernBERT";

/// That of a model of this type; null where the family has none.
const LanguageHead* language_head(const std::string& model_type);

}  // namespace faceter
