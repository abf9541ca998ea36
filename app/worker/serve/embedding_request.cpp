#include "serve/embedding_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/json.h"
#include "common/strings.h"

namespace faceter::worker {
namespace {

constexpr std::size_t other_values = 8192;  // of a request, beside its texts

/// Lists, objects and strings, names of members among them: at least as many as the parser would make.
std::size_t count_values(std::string_view body) {
    std::size_t count = 0;
    for (std::size_t at = 0; at < body.size(); ++at) {
        const char c = body[at];
        count += c == '[' || c == '{' || c == '"';
        if (c != '"') continue;
        while (++at < body.size() && body[at] != '"')
            if (body[at] == '\\') ++at;
    }
    return count;
}

/// Parsed, two bytes of a list of empty lists take a hundred: what has far too many values is refused before.
Json object_of(std::string_view body, const ApiLimits& limits) {
    if (count_values(body) > limits.texts + other_values)
        throw Refused(413, fmt::format("far more than {} texts in one request; at most so many are taken", limits.texts));
    Json request = parse_json(body, "request");
    if (!request.is_object()) throw Refused(400, "the request is not a JSON object");
    return request;
}

bool is_ids(const Json& list) {
    return list.is_array() && !list.empty() && std::all_of(list.begin(), list.end(), [](const Json& id) { return id.is_number_integer(); });
}

std::vector<std::int32_t> ids_of(const Json& list) {
    std::vector<std::int32_t> ids;
    for (const Json& id : list) {
        // A number beyond 2^63 is kept unsigned, and would come out negative.
        const bool fits = !id.is_number_unsigned() || id.get<std::uint64_t>() <= std::numeric_limits<std::int32_t>::max();
        if (!fits || id.get<std::int64_t>() < 0 || id.get<std::int64_t>() > std::numeric_limits<std::int32_t>::max())
            throw Refused(400, fmt::format("token id {} is none of this model's", id.dump()));
        ids.push_back(id.get<std::int32_t>());
    }
    return ids;
}

/// A text, a list of texts, the ids of a text, or a list of those.
void take_texts(const Json& input, const ApiLimits& limits, EmbeddingRequest& request) {
    if (input.is_string()) {
        request.texts.push_back(input.get<std::string>());
    } else if (is_ids(input)) {
        request.ids.push_back(ids_of(input));
    } else if (input.is_array() && !input.empty()) {
        if (input.size() > limits.texts)
            throw Refused(413, fmt::format("{} texts in one request; at most {} are taken", input.size(), limits.texts));
        for (const Json& one : input) {
            if (one.is_string() && request.ids.empty())
                request.texts.push_back(one.get<std::string>());
            else if (is_ids(one) && request.texts.empty())
                request.ids.push_back(ids_of(one));
            else
                throw Refused(400, "the input is neither a text, a list of texts, token ids nor a list of those");
        }
    } else {
        throw Refused(400, "the input is missing or empty; a text or a list of texts is expected");
    }
}

/// What the model does not read of a text has to become tokens all the same, for as long as it is.
void refuse_long_texts(const std::vector<std::string>& texts, const ApiLimits& limits) {
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (texts[i].size() > limits.text_bytes)
            throw Refused(413, fmt::format("text {} has {} bytes; at most {} are taken of one (--max-text): shorten it", i + 1,
                                           texts[i].size(), limits.text_bytes));
}

EmbeddingRequest read_common(const Json& body, const char* input, const ApiLimits& limits) {
    EmbeddingRequest request;
    request.model = json_or<std::string>(body, "model", "", "request");
    request.prompt_name = json_or<std::string>(body, "prompt_name", "", "request");
    if (body.contains("dimensions") && !body["dimensions"].is_null()) {
        request.dimensions = json_at<std::int64_t>(body, "dimensions", "request");
        if (*request.dimensions < 1) throw Refused(400, fmt::format("dimensions is {}; at least 1 is expected", *request.dimensions));
    }
    take_texts(body.contains(input) ? body[input] : Json(), limits, request);
    refuse_long_texts(request.texts, limits);
    return request;
}

}  // namespace

EmbeddingRequest read_openai_request(std::string_view text, const ApiLimits& limits) {
    const Json body = object_of(text, limits);
    const auto format = json_or<std::string>(body, "encoding_format", "float", "request");
    if (format != "float" && format != "base64")
        throw Refused(400, fmt::format("encoding_format {} is unknown; float and base64 are known", faceter::quoted(format)));
    EmbeddingRequest request = read_common(body, "input", limits);
    request.base64 = format == "base64";
    return request;
}

EmbeddingRequest read_tei_request(std::string_view text, const ApiLimits& limits) {
    const Json body = object_of(text, limits);
    EmbeddingRequest request = read_common(body, "inputs", limits);
    request.truncate = json_or(body, "truncate", false, "request");
    const std::string direction = lowercase_ascii(json_or<std::string>(body, "truncation_direction", "", "request"));
    if (!direction.empty() && direction != "left" && direction != "right")
        throw Refused(400, "truncation_direction is neither Left nor Right");
    if (!direction.empty()) request.cut_left = direction == "left";
    if (body.contains("normalize") && !body["normalize"].is_null()) request.normalise = json_at<bool>(body, "normalize", "request");
    return request;
}

}  // namespace faceter::worker
