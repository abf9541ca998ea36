#pragma once
#include <string_view>

#include "common/json.h"

/// What the configurations of sentence-transformers' modules may ask for that changes a folder's vectors and is not computed here. Errors
/// (data): the member, its value, and what is supported; `name` is the file's.
namespace faceter {

/// sentence_bert_config.json: another task, output or input of the Transformer, arguments for tokenizer, texts or model.
void refuse_foreign_transformer(const Json& config, std::string_view name);
/// 2_Dense/config.json: a layer on tokens, or beside its input.
void refuse_foreign_dense(const Json& config, std::string_view name);
/// 3_Normalize/config.json: lengths of tokens.
void refuse_foreign_normalize(const Json& config, std::string_view name);
/// config_sentence_transformers.json: embeddings that are cut.
void refuse_truncation(const Json& config, std::string_view name);

}  // namespace faceter
