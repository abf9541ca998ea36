#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "common/json.h"
#include "text/pipeline.h"
#include "text/token_roles.h"

namespace faceter {

/// tokenizers' TemplateProcessing: the special ids, each by its text, around a text, and around each of a pair.
Json template_processing(const SpecialIds& special, const std::function<std::string(std::int32_t id)>& text_of);

/// The classes of Llama and Gemma, and the code of gte-Qwen2's release, put the ends around a text that tokenizer_config.json asks for,
/// though the template of tokenizer.json has none: e5-mistral's </s> is in no other file. Adds those to `settings`; true where there were
/// any. `name` stands in front of messages.
bool add_ends(PipelineSettings& settings, const TokenRoles& roles, std::string_view name);

/// The text of a tokenizer.json with the ends of `settings` in its template.
std::string with_ends(std::string_view text, const PipelineSettings& settings);

/// A folder's tokenizer.json with such ends in its own template, for readers that look nowhere else (transformers 5 silently leaves them
/// out and pools another token); the very text of the file where there are none to add.
std::string tokenizer_json_with_ends(const std::filesystem::path& model_folder);

}  // namespace faceter
