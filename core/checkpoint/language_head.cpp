#include "checkpoint/language_head.h"

#include <map>

namespace faceter {

const LanguageHead* language_head(const std::string& model_type) {
    static const LanguageHead bert = {"cls.predictions.transform.dense",
                                      {"cls.predictions.transform.LayerNorm", "cls.predictions.transform.layer_norm"},
                                      {"cls.predictions.bias", "cls.predictions.decoder.bias"},
                                      "cls.predictions.decoder.weight"};
    static const LanguageHead roberta = {
        "lm_head.dense", {"lm_head.layer_norm"}, {"lm_head.bias", "lm_head.decoder.bias"}, "lm_head.decoder.weight"};
    static const std::map<std::string, LanguageHead> families = {
        {"bert", bert},
        {"nomic_bert", bert},
        {"roberta", roberta},
        {"xlm-roberta", roberta},
        {"camembert", roberta},
        {"mpnet", roberta},
        {"distilbert", {"vocab_transform", {"vocab_layer_norm"}, {"vocab_projector.bias"}, "vocab_projector.weight"}},
        {"modernbert", {"head.dense", {"head.norm"}, {"decoder.bias"}, "decoder.weight", false}}};
    const auto found = families.find(model_type);
    return found == families.end() ? nullptr : &found->second;
}

}  // namespace faceter
