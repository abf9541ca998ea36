#pragma once
#include <span>
#include <string_view>

#include "common/json.h"
#include "model/embedding_model.h"

namespace faceter::worker {

/// Its first `bytes`, or fewer so that no character is cut.
std::string_view start_of_text(std::string_view text, std::size_t bytes);

/// What stands in front of a text, and how many tokens of both reach the model; 0: its own max_length.
struct SeenThrough {
    Route route;
    std::size_t limit = 0;
};

/// Tokens of a text behind an instruction, special ones with them, however many of them reach the model.
std::size_t num_tokens_of(const EmbeddingModel& model, const std::string& instruction, std::string_view text);

/// One text as the model sees it: {"role", "instruction", "text", "cut": bytes of the text that are left out or none, "num_tokens" (of the
/// whole text, with the instruction and special tokens), "kept_tokens", "pieces" (the first ones)}. Texts longer than 4,000 bytes are shown
/// shortened.
Json seen_text(const EmbeddingModel& model, const SeenThrough& through, std::string_view role, std::string_view text);

/// How long texts are under an instruction, in tokens: {"role", "num_texts" (looked at), "mean", "longest", "max_length", "num_truncated",
/// "bin_width", "bins": [count ...]}; bin i holds lengths of [i * bin_width, (i + 1) * bin_width). At most 5,000 texts are looked at,
/// spread over all.
Json length_histogram(const EmbeddingModel& model, const SeenThrough& through, std::string_view role,
                      std::span<const std::string_view> texts);

}  // namespace faceter::worker
