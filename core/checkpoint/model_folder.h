#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/model_description.h"
#include "checkpoint/weights.h"
#include "common/json.h"

namespace faceter {

/// As sentence-transformers' module Pooling has them: the mean of the rows; their first; their last; the greatest of each feature; their
/// sum over the square root of their number; their mean where the n-th row, instruction included, counts n times (SGPT, 2202.08904, Eq. 2).
enum class Pooling { mean, cls, last_token, max, mean_sqrt_length, weighted_mean };
enum class Similarity { cosine, dot, euclidean, manhattan };

std::string_view pooling_name(Pooling pooling);           ///< "mean", "cls", "last_token", ...
std::string_view similarity_name(Similarity similarity);  ///< "cosine", "dot", "euclidean", "manhattan"

/// A linear layer behind pooling (sentence-transformers' module Dense), such as INSTRUCTOR, GTR and Sentence-T5 have.
struct DenseModule {
    std::string name;  ///< its folder inside the model's, such as "2_Dense"
    std::int64_t in_features = 0, out_features = 0;
    bool bias = true, tanh = false;  ///< tanh: the activation behind it; otherwise there is none
};

/// A Hugging Face or sentence-transformers folder as it says itself. A plain transformers folder (no modules.json) is read as
/// sentence-transformers reads it: mean pooling, no normalisation, the tokenizer's model_max_length.
struct ModelFolder {
    std::filesystem::path folder;          ///< what was opened
    std::filesystem::path encoder_folder;  ///< where config.json, weights and tokenizer lie: `folder`, or its 0_Transformer
    Json config;                           ///< config.json
    std::string model_type;                ///< config.json's "model_type": "bert", "xlm-roberta", ...
    std::vector<std::filesystem::path> weight_files;
    Pooling pooling = Pooling::mean;
    bool include_prompt = true;      ///< false: pooling leaves the instruction's tokens out
    std::vector<DenseModule> dense;  ///< behind pooling, in order
    bool normalize = false;
    std::size_t max_seq_length = 512;  ///< tokens, special tokens included; never more than the model has positions for
    bool lowercase_first = false;      ///< sentence_bert_config.json's do_lower_case: the text is lower-cased before the tokenizer
    std::map<std::string, std::string> prompts;  ///< name -> instruction
    std::string default_prompt;                  ///< name of a prompt, or empty
    Similarity similarity = Similarity::cosine;
    std::optional<ModelDescription> description;  ///< of faceter.json: what config.json cannot say
    bool only_faceter = false;  ///< modules.json names a module that no other program has: it would load a part and answer wrongly

    /// Throws a data error: not a folder, a file missing or broken, a module that is not supported (named, with what to do).
    static ModelFolder open(const std::filesystem::path& folder);
    /// Its weights: those of weight_files, and each Dense module's as "<module>.linear.weight" and "<module>.linear.bias".
    Weights weights() const;
    /// The prompt of that name; a data error that lists the known names where there is none.
    const std::string& prompt(const std::string& name) const;
};

/// The type of that module; sentence-transformers refuses what it cannot import.
inline constexpr const char* own_module_type = "faceter.Model";

/// The folder of a model given as a path (relative to `relative_to`), as "minilm" (the package that packaging/setup.sh puts into the
/// cache folder), or as "org/name" or "org/name@revision" of the Hugging Face hub: from its cache, else fetched into it (hub.h). Throws an
/// error that lists where it looked, or says why the hub gave nothing.
std::filesystem::path resolve_model(const std::string& name, const std::filesystem::path& relative_to = {});

/// Writes everything but the weights of a folder that sentence-transformers and transformers load: config.json, modules.json,
/// 1_Pooling/config.json, sentence_bert_config.json, config_sentence_transformers.json (from the fields of `like`, which the caller may
/// have changed) and the tokenizer's files (copied from like.encoder_folder). `out` must exist.
void write_sentence_transformers_files(const std::filesystem::path& out, const ModelFolder& like);

}  // namespace faceter
