#include "train/masking.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "common/error.h"
#include "common/random.h"
#include "common/strings.h"
#include "experiment/builtin_settings.h"

namespace faceter {
namespace {

double share(const Json& settings, const char* key) {
    const auto value = json_at<double>(settings, key, "objective");
    if (!(value >= 0 && value <= 1)) throw settings_error("objective.{} is {}; expected a share, 0 to 1", key, value);
    return value;
}

std::int64_t other_token(const MaskVocabulary& vocabulary, RandomStream& random) {
    for (;;)
        if (const auto id = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(vocabulary.size)));
            !vocabulary.special.contains(id))
            return id;
}

}  // namespace

MaskingSettings MaskingSettings::from_json(const Json& given) {
    const Json settings = builtin_settings(ExtensionKind::objective, "masked_language", given);
    MaskingSettings s;
    s.rate = share(settings, "rate");
    s.mask_share = share(settings, "mask_share");
    s.random_share = share(settings, "random_share");
    if (s.mask_share + s.random_share > 1 + 1e-9)
        throw settings_error("objective.mask_share and random_share are {} and {}; together they are at most 1", s.mask_share,
                             s.random_share);
    return s;
}

MaskVocabulary::MaskVocabulary(const Tokenizer& tokenizer)
    : mask(tokenizer.special().mask), size(static_cast<std::int64_t>(tokenizer.vocab_size())) {
    const SpecialTokens tokens = tokenizer.special();
    if (tokens.mask < 0)
        throw data_error(
            "the model's tokenizer has no mask token, which masked-language modelling needs; name one as mask_token in its "
            "tokenizer_config.json");
    if (tokens.mask >= size)
        throw data_error("the tokenizer's mask token {} has id {}, and the model has embeddings for {}; resize the model for it",
                         faceter::quoted(tokenizer.id_to_piece(tokens.mask)), tokens.mask, size);
    for (const int id : {tokens.pad, tokens.unk, tokens.cls, tokens.sep, tokens.mask})
        if (id >= 0) special.insert(id);
    std::vector<std::int32_t> around;  // what stands around a text: <bos> and <eos> of tokenizers that have them
    tokenizer.encode("", 0, around);
    special.insert(around.begin(), around.end());
    if (size <= static_cast<std::int64_t>(special.size())) throw data_error("the model's tokenizer has no tokens but special ones");
}

MaskedTokens mask_tokens(const PackedBatch& batch, const MaskVocabulary& vocabulary, const MaskingSettings& settings, std::uint64_t seed,
                         std::int64_t step) {
    MaskedTokens masked;
    masked.ids = batch.ids.clone();
    auto* ids = masked.ids.data_ptr<std::int64_t>();
    std::vector<std::int64_t> rows, targets;
    for (std::int64_t s = 0; s < batch.layout->num_sequences(); ++s) {
        const std::string key = fmt::format("mask/{}/{}", step, batch.layout->keys()[static_cast<std::size_t>(s)]);
        RandomStream chosen(seed, key), replaced(seed, key + "/by");
        for (std::int64_t row = batch.layout->offsets()[static_cast<std::size_t>(s)];
             row < batch.layout->offsets()[static_cast<std::size_t>(s) + 1]; ++row) {
            const double draw = chosen.uniform();
            if (draw >= settings.rate || vocabulary.special.contains(ids[row])) continue;
            rows.push_back(row);
            targets.push_back(ids[row]);
            const double kind = replaced.uniform();
            if (kind < settings.mask_share)
                ids[row] = vocabulary.mask;
            else if (kind < settings.mask_share + settings.random_share)
                ids[row] = other_token(vocabulary, replaced);
        }
    }
    masked.rows = at::tensor(at::ArrayRef<std::int64_t>(rows), at::kLong);
    masked.targets = at::tensor(at::ArrayRef<std::int64_t>(targets), at::kLong);
    return masked;
}

}  // namespace faceter
