#include "session/seen_text.h"

#include <algorithm>

#include "text/encode_batch.h"

namespace faceter::worker {
namespace {

constexpr std::size_t max_shown_bytes = 4000, max_pieces = 256, max_measured = 5000;
constexpr std::size_t most_bins = 40;

std::size_t at_character(std::string_view text, std::size_t bytes) { return start_of_text(text, bytes).size(); }

std::vector<std::int32_t> ids_of(const EmbeddingModel& model, const std::string& text, std::size_t limit) {
    std::vector<std::int32_t> ids;
    model.tokenizer->encode(text, limit, ids);
    return ids;
}

/// The longest beginning of the text whose tokens all reach the model: tokens never grow fewer when a text grows longer, so it can be
/// halved.
std::size_t bytes_that_reach(const EmbeddingModel& model, const std::string& instruction, std::size_t limit, std::string_view text) {
    std::size_t low = 0, high = text.size();
    while (low < high) {
        const std::size_t middle = (low + high + 1) / 2;
        const std::string part = instruction + std::string(text.substr(0, at_character(text, middle)));
        if (ids_of(model, part, 0).size() <= limit)
            low = middle;
        else
            high = middle - 1;
    }
    return at_character(text, low);
}

std::size_t limit_of(const EmbeddingModel& model, const SeenThrough& through) {
    return through.limit > 0 ? through.limit : model.max_length;
}

}  // namespace

std::string_view start_of_text(std::string_view text, std::size_t bytes) {
    bytes = std::min(bytes, text.size());
    while (bytes > 0 && bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
    return text.substr(0, bytes);
}

std::size_t num_tokens_of(const EmbeddingModel& model, const std::string& instruction, std::string_view text) {
    return ids_of(model, instruction + std::string(text), 0).size();
}

Json seen_text(const EmbeddingModel& model, const SeenThrough& through, std::string_view role, std::string_view text) {
    const std::string& instruction = through.route.instruction;
    const std::string whole = instruction + std::string(text);
    const std::size_t limit = limit_of(model, through);
    const auto all = ids_of(model, whole, 0), kept = ids_of(model, whole, limit);
    Json pieces = Json::array();
    for (std::size_t i = 0; i < std::min(kept.size(), max_pieces); ++i) pieces.push_back(model.tokenizer->id_to_piece(kept[i]));
    Json seen = {{"role", role},
                 {"instruction", instruction},
                 {"text", std::string(text.substr(0, at_character(text, max_shown_bytes)))},
                 {"cut", nullptr},
                 {"num_tokens", all.size()},
                 {"kept_tokens", kept.size()},
                 {"pieces", std::move(pieces)}};
    if (kept.size() < all.size())
        seen["cut"] = bytes_that_reach(model, instruction, limit, text.substr(0, at_character(text, max_shown_bytes)));
    return seen;
}

Json length_histogram(const EmbeddingModel& model, const SeenThrough& through, std::string_view role,
                      std::span<const std::string_view> texts) {
    const std::size_t limit = limit_of(model, through);
    const std::size_t step = std::max<std::size_t>(1, (texts.size() + max_measured - 1) / max_measured);
    std::vector<std::string_view> measured;
    for (std::size_t i = 0; i < texts.size(); i += step) measured.push_back(texts[i]);
    const TokenBatch encoded = encode_batch(*model.tokenizer, measured, through.route.instruction, 0);
    std::size_t longest = 0, truncated = 0, sum = 0;
    for (std::size_t i = 0; i < encoded.size(); ++i) {
        longest = std::max(longest, encoded[i].size());
        truncated += encoded[i].size() > limit;
        sum += encoded[i].size();
    }
    const std::size_t width = std::max<std::size_t>(1, longest / most_bins + 1);
    std::vector<std::size_t> bins(longest / width + 1);
    for (std::size_t i = 0; i < encoded.size(); ++i) ++bins[encoded[i].size() / width];
    return {{"role", role},
            {"num_texts", measured.size()},
            {"mean", measured.empty() ? 0.0 : static_cast<double>(sum) / static_cast<double>(measured.size())},
            {"longest", longest},
            {"max_length", limit},
            {"num_truncated", truncated},
            {"bin_width", width},
            {"bins", bins}};
}

}  // namespace faceter::worker
