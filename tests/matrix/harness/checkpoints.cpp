#include "matrix/harness/checkpoints.h"

#include <ATen/ATen.h>

#include <cmath>

#include "common/hash.h"
#include "matrix/harness/tokenizers.h"
#include "model/encoder.h"
#include "record/run_directory.h"
#include "train/checkpoint.h"

namespace faceter::matrix {
namespace {

/// Vectors stand for norms and biases; matrices keep activations of ordinary size.
at::Tensor random_values(const NamedTensor& named) {
    const auto generator = hash64(named.name);
    at::manual_seed(generator);
    const at::Tensor noise = at::randn(named.tensor.sizes());
    if (named.tensor.dim() > 1) return noise * (1.2 / std::sqrt(static_cast<double>(named.tensor.size(-1))));
    return named.name.ends_with(".weight") ? 1 + 0.1 * noise : 0.1 * noise;
}

Json full_config(const Row& row, const MadeTokenizer& tokenizer) {
    Json config = row.config;
    config["vocab_size"] = tokenizer.vocab_size + 3;  // released checkpoints have more rows than tokens, too
    config["pad_token_id"] = tokenizer.pad_id;
    config["bos_token_id"] = tokenizer.bos_id;
    config["eos_token_id"] = tokenizer.eos_id;
    config["torch_dtype"] = "float32";
    return config;
}

}  // namespace

void write_checkpoint(const Row& row, const fs::path& folder) {
    const TemporaryDirectory tokenizer_folder;
    ModelFolder like;
    like.encoder_folder = tokenizer_folder.path();
    like.config = full_config(row, write_tokenizer(tokenizer_folder.path(), row.cutting));
    like.pooling = row.pooling;
    like.normalize = row.normalize;
    like.similarity = row.normalize ? Similarity::cosine : Similarity::dot;
    like.dense = row.heads;
    like.max_seq_length = 40;
    make_directories(folder);
    write_sentence_transformers_files(folder, like);
    const Encoder encoder(EncoderConfig::from_json(like.config, row.name, Weights(std::vector<fs::path>{})), row.heads, at::kFloat);
    std::vector<NamedTensor> tensors = encoder.named_tensors();
    for (NamedTensor& tensor : tensors) tensor.tensor = random_values(tensor);
    write_model_tensors(folder, like, tensors);
}

fs::path start_model(const Row& row, const fs::path& models) {
    if (!row.folder.empty()) return row.folder;
    const fs::path folder = models / safe_file_name(row.name);
    if (!fs::exists(folder / "model.safetensors")) write_checkpoint(row, folder);
    return folder;
}

}  // namespace faceter::matrix
