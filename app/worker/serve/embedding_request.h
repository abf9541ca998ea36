#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace faceter::worker {

/// A request that cannot be served as it is; becomes the status that it names.
struct Refused : std::runtime_error {
    Refused(int with, const std::string& message) : std::runtime_error(message), status(with) {}
    int status;
};

struct ApiLimits {
    std::size_t texts = 2048;          ///< of a request
    std::size_t text_bytes = 1 << 20;  ///< of one text
};

/// What the body of a request asks for, before any model is looked at: texts, or the token ids of texts.
struct EmbeddingRequest {
    std::string model, prompt_name;
    std::vector<std::string> texts;
    std::vector<std::vector<std::int32_t>> ids;  ///< none negative
    bool base64 = false;                         ///< numbers as OpenAI's clients ask for them
    std::optional<std::int64_t> dimensions;      ///< at least 1
    bool truncate = true;
    std::optional<bool> cut_left;  ///< where a text is cut, if the client says it
    std::optional<bool> normalise;
};

/// The body of POST /v1/embeddings. Throws Refused (400; 413: too many texts, or one that is too long) or a data error: no JSON, or a
/// member of another type.
EmbeddingRequest read_openai_request(std::string_view body, const ApiLimits& limits);
/// The same of POST /embed.
EmbeddingRequest read_tei_request(std::string_view body, const ApiLimits& limits);

}  // namespace faceter::worker
