#include <ATen/ATen.h>

#include <algorithm>

#include "common/error.h"
#include "experiment/builtin_settings.h"
#include "model/device.h"
#include "model/mlm_head.h"
#include "train/checkpoint.h"
#include "train/gradient_way.h"
#include "train/masking.h"
#include "train/token_objective.h"

namespace faceter {

struct MaskedLanguage::Attached {
    MlmHead head;
    MaskVocabulary vocabulary;
    MaskingSettings masking;
};

std::unique_ptr<GradientWay> TokenObjective::way(const StepTools& tools) const { return make_token_way(tools, *this); }

MaskedLanguage::MaskedLanguage(const Json& settings) : settings_(builtin_settings(ExtensionKind::objective, "masked_language", settings)) {
    MaskingSettings::from_json(settings_);
    const auto texts = json_at<std::string>(settings_, "texts", "objective");
    texts_ = texts == "queries" ? ReadTexts::queries : texts == "both" ? ReadTexts::both : ReadTexts::documents;
}

MaskedLanguage::~MaskedLanguage() = default;

std::string MaskedLanguage::attach(const EmbeddingModel& model, std::uint64_t seed, const std::filesystem::path& kept) {
    if (model.encoders.size() != 1)
        throw settings_error(
            "objective masked_language trains one encoder, the model of this run has {}; pre-train a dense variant, and start the "
            "specialists from what it leaves",
            model.encoders.size());
    const ModelFolder& folder = model.folder;
    attached_.reset(new Attached{MlmHead(*model.encoders.front(), folder.model_type, seed), MaskVocabulary(*model.tokenizer),
                                 MaskingSettings::from_json(settings_)});
    for (const fs::path& file : {kept, folder.folder / mlm_head_file})
        if (fs::exists(file) && attached_->head.load(Weights(std::vector<fs::path>{file}), folder.config))
            return "head of masked-language modelling from " + file.string();
    if (attached_->head.load(folder.weights(), folder.config))
        return "head of masked-language modelling from the weights in " + folder.folder.string();
    return "the model has no head of masked-language modelling; a fresh one is trained with it";
}

std::string MaskedLanguage::kept_as() const { return mlm_head_file; }

void MaskedLanguage::keep(const std::filesystem::path& file) const {
    const fs::path temporary = file.string() + ".new";
    std::error_code ignored;
    fs::remove(temporary, ignored);
    write_tensors(temporary, attached_->head.named_tensors());
    rename_synced(temporary, file);
}

std::vector<Parameter> MaskedLanguage::parameters() const { return attached_->head.parameters(); }

PackedBatch MaskedLanguage::texts_of(const PairBatch& batch) const {
    const auto first = batch.rows.begin() + (texts_ == ReadTexts::documents ? batch.num_pairs : 0),
               last = batch.rows.begin() + (texts_ == ReadTexts::queries ? batch.num_pairs : 2 * batch.num_pairs);
    std::vector<std::int64_t> sequences(first, last);
    std::sort(sequences.begin(), sequences.end());  // those of one path stay neighbours
    const PackedLayout& layout = *batch.tokens.layout;
    const at::Tensor all = batch.tokens.ids.to(at::kInt).contiguous();
    std::vector<SequenceInput> chosen;
    auto segment = layout.segments().begin();
    for (const std::int64_t s : sequences) {
        const std::int64_t begin = layout.offsets()[static_cast<std::size_t>(s)];
        while (segment->end <= begin) ++segment;
        chosen.push_back(
            {all.data_ptr<std::int32_t>() + begin, layout.length(s), layout.keys()[static_cast<std::size_t>(s)], segment->path, 0});
    }
    return make_packed_batch(chosen);
}

LossResult MaskedLanguage::loss(const Encoder& encoder, const PackedBatch& texts, const ForwardContext& context) const {
    const MaskedTokens masked = mask_tokens(texts, attached_->vocabulary, attached_->masking, context.seed, context.step);
    PackedBatch input = texts;
    input.ids = masked.ids;
    const at::Tensor hidden = encoder.forward(input, context);  // [T, D]
    if (masked.rows.numel() == 0) return {hidden.sum() * 0, {{"masked_accuracy", at::zeros({}, at::kDouble)}}, 0};
    const at::Tensor guessed = attached_->head.transform(
        hidden.index_select(0, to_device(masked.rows, hidden.device())).to(word_embeddings(encoder).scalar_type()));  // [M, D]
    const TokenLoss result = token_cross_entropy(guessed.to(encoder.dtype()), word_embeddings(encoder), attached_->head.bias(),
                                                 to_device(masked.targets, hidden.device()));
    return {result.loss, {{"masked_accuracy", result.accuracy}}, static_cast<double>(masked.rows.numel())};
}

}  // namespace faceter
