#include "train/segments.h"

#include <algorithm>
#include <map>

#include "common/strings.h"
#include "data/fingerprint.h"

namespace faceter {
namespace {

constexpr std::size_t bytes_a_token = 32;  // of a window that is looked at: a piece of so many bytes is long enough

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

/// Where a piece may end: at white space between `low` and `place`, else at the start of a character there. `low` where there is none.
std::size_t end_before(std::string_view text, std::size_t low, std::size_t place) {
    for (std::size_t at = place; at > low; --at)
        if (is_space(text[at]) && !is_space(text[at - 1])) return at;
    for (std::size_t at = place; at > low; --at)
        if (starts_character(text[at])) return at;
    return low;
}

std::size_t first_character(std::string_view text) {
    std::size_t end = 1;
    while (end < text.size() && !starts_character(text[end])) ++end;
    return end;
}

/// The longest beginning that fits, by interpolation: texts have about as many tokens everywhere. text[0, size) has too many.
std::size_t longest_fit(std::string_view text, const CountTokens& count, std::size_t limit, std::size_t tokens) {
    constexpr int tries = 20;
    std::size_t low = 0, high = text.size(), low_tokens = count({}), high_tokens = tokens;
    for (int i = 0; i < tries && low_tokens < limit; ++i) {
        const double share = (static_cast<double>(limit - low_tokens) + 0.5) / static_cast<double>(high_tokens - low_tokens);
        const auto guess = low + static_cast<std::size_t>(std::min(share, 1.0) * static_cast<double>(high - low));
        const std::size_t end = end_before(text, low, std::min(guess, high - 1));
        if (end <= low) break;
        const std::size_t own = count(text.substr(0, end));
        if (own <= limit)
            low = end, low_tokens = own;
        else
            high = end, high_tokens = own;
    }
    return low > 0 ? low : first_character(text);
}

}  // namespace

std::vector<std::string_view> segments_of(std::string_view text, const CountTokens& count, std::size_t limit) {
    if (count({}) >= limit) return {text};  // the instruction alone fills it
    std::vector<std::string_view> pieces;
    while (!text.empty()) {
        const std::size_t window = end_before(text, 0, std::min(text.size() - 1, limit * bytes_a_token));
        const std::string_view seen = text.size() > limit * bytes_a_token ? text.substr(0, std::max(window, first_character(text))) : text;
        const std::size_t tokens = count(seen);
        const std::size_t end = tokens <= limit ? seen.size() : longest_fit(seen, count, limit, tokens);
        if (!trim(text.substr(0, end)).empty() || pieces.empty()) pieces.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return pieces;
}

namespace {

/// Where texts are cut follows from the tokeniser, the instruction and the lengths, and which are there from the sides that are read: what
/// is kept of one set under its fingerprint must not be taken for that of another.
std::string fingerprint_of_segments(const TrainingSet& whole, const TrainingSet& cut) {
    std::vector<std::uint32_t> pairs;
    for (const Example& example : cut.examples) pairs.insert(pairs.end(), {example.anchor, example.positive});
    Fingerprint fingerprint;
    fingerprint.add(whole.fingerprint);
    fingerprint.add_texts(cut.texts);
    fingerprint.add_values(std::span<const std::uint32_t>(pairs));
    return fingerprint.hex();
}

/// The segments of the texts of one side, each text cut once.
class SideSegments {
  public:
    SideSegments(const EmbeddingModel& model, const TrainingSet& set, PairSide side, std::size_t length)
        : set_(set), tokenizer_(*model.tokenizer), limit_(length > 0 ? length : model.max_length) {
        prefix_ = route_of(model, set, side).instruction;
    }
    const std::vector<std::string_view>& of(std::uint32_t text) {
        auto& segments = known_[text];
        if (segments.empty())
            segments = segments_of(
                set_.texts[text], [this](std::string_view part) { return tokens_of(part); }, limit_);
        if (segments.empty()) segments.emplace_back();
        return segments;
    }

  private:
    std::size_t tokens_of(std::string_view part) const {
        std::vector<std::int32_t> ids;
        tokenizer_.encode(prefix_ + std::string(part), 0, ids);
        return ids.size();
    }
    const TrainingSet& set_;
    const Tokenizer& tokenizer_;
    std::size_t limit_;
    std::string prefix_;
    std::map<std::uint32_t, std::vector<std::string_view>> known_;
};

}  // namespace

TrainingSet segmented_set(const EmbeddingModel& model, const TrainingSet& set, ReadTexts texts, const TokenLengths& lengths) {
    SideSegments queries(model, set, PairSide::query, lengths.query), documents(model, set, PairSide::positive, lengths.document);
    TrainingSet cut;
    cut.name = set.name;
    cut.task = set.task;
    cut.card = set.card;
    for (const Example& example : set.examples) {
        const std::vector<std::string_view> whole{""};  // of a side that is not read
        const auto& anchors = texts == ReadTexts::documents ? whole : queries.of(example.anchor);
        const auto& positives = texts == ReadTexts::queries ? whole : documents.of(example.positive);
        for (std::size_t i = 0; i < std::max(anchors.size(), positives.size()); ++i) {
            Example one;
            one.anchor = cut.texts.intern(anchors[i % anchors.size()]);
            one.positive = cut.texts.intern(positives[i % positives.size()]);
            cut.examples.push_back(one);
        }
    }
    cut.fingerprint = fingerprint_of_segments(set, cut);
    return cut;
}

}  // namespace faceter
