#include "text/normalizer.h"

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"
#include "text/bert_unicode.h"
#include "text/byte_chars.h"
#include "text/char_kinds.h"
#include "text/utf8.h"

namespace faceter {
namespace {

bool is_ascii(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) >= 0x80; });
}

/// Calls use(code point, bytes) for each character.
template <typename Use>
void for_each_char(std::string_view text, const Use& use) {
    for (const char *at = text.data(), *end = at + text.size(); at < end;) {
        const DecodedChar decoded = decode_utf8(at, end);
        use(decoded.code_point, std::string_view(at, static_cast<std::size_t>(decoded.length)));
        at += decoded.length;
    }
}

class Lowercase : public NormalizerStep {
    bool apply(std::string_view text, std::string& out, bool&, const NormalizerLimits&) const override {
        out.clear();
        out.reserve(text.size() + 8);
        std::u32string lower;
        for_each_char(text, [&](char32_t c, std::string_view) {
            if (c < 0x80) return out.push_back(static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c));
            lower.clear();
            bert_unicode::append_lowercase(c, lower);
            for (const char32_t one : lower) append_utf8(one, out);
        });
        return true;
    }
};

class StripAccents : public NormalizerStep {
    bool apply(std::string_view text, std::string& out, bool& front_cut, const NormalizerLimits&) const override {
        if (is_ascii(text)) return false;
        out.clear();
        bool front = true;
        for_each_char(text, [&](char32_t c, std::string_view bytes) {
            const bool mark = c >= 0x300 && is_combining_mark(c);
            if (!mark) out += bytes;
            front_cut = front_cut || (front && mark);
            front = false;
        });
        return true;
    }
};

class Strip : public NormalizerStep {
  public:
    Strip(bool left, bool right) : left_(left), right_(right) {}

  private:
    bool apply(std::string_view text, std::string& out, bool& front_cut, const NormalizerLimits&) const override {
        const std::size_t before = left_ ? leading_whitespace(text) : 0;
        const std::string_view rest = text.substr(before);
        const std::size_t behind = right_ ? trailing_whitespace(rest) : 0;
        if (before + behind == 0) return false;
        front_cut = front_cut || before > 0;
        out = rest.substr(0, rest.size() - behind);
        return true;
    }
    bool left_, right_;
};

class ReplaceText : public NormalizerStep {
  public:
    ReplaceText(std::string pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}

  private:
    bool apply(std::string_view text, std::string& out, bool& front_cut, const NormalizerLimits& limits) const override {
        std::size_t found = text.find(pattern_);
        if (pattern_.empty() || found == std::string_view::npos) return false;
        front_cut = front_cut || (found == 0 && content_.empty());
        out.clear();
        std::size_t done = 0;
        for (; found != std::string_view::npos; found = text.find(pattern_, done)) {
            out.append(text, done, found - done).append(content_);
            check_growth(out.size(), limits.max_bytes);
            done = found + pattern_.size();
        }
        out.append(text, done);
        return true;
    }
    std::string pattern_, content_;
};

class ReplaceRegex : public NormalizerStep {
  public:
    ReplaceRegex(Regex pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}

  private:
    bool apply(std::string_view text, std::string& out, bool& front_cut, const NormalizerLimits& limits) const override {
        std::size_t done = 0;
        bool changed = false;
        if (text.empty()) return false;
        pattern_.for_each_match(text, limits.budget, [&](std::size_t begin, std::size_t end) {
            if (!changed) out.clear();
            changed = true;
            front_cut = front_cut || (begin == 0 && end > 0 && content_.empty());
            out.append(text, done, begin - done).append(content_);
            check_growth(out.size(), limits.max_bytes);
            done = end;
        });
        if (changed) out.append(text, done);
        return changed;
    }
    Regex pattern_;
    std::string content_;
};

class Prepend : public NormalizerStep {
  public:
    explicit Prepend(std::string prefix) : prefix_(std::move(prefix)) {}

  private:
    bool apply(std::string_view text, std::string& out, bool&, const NormalizerLimits&) const override {
        if (text.empty()) return false;
        out.assign(prefix_).append(text);
        return true;
    }
    std::string prefix_;
};

class Bert : public NormalizerStep {
  public:
    explicit Bert(const BertNormalizer& normalizer) : normalizer_(normalizer), table_(normalizer) {}

  private:
    bool apply(std::string_view text, std::string& out, bool& front_cut, const NormalizerLimits&) const override {
        if (!text.empty() && normalizer_.clean_text)
            front_cut = front_cut || bert_unicode::is_removed(decode_utf8(text.data(), text.data() + text.size()).code_point);
        out = table_.normalize(text);
        return true;
    }
    BertNormalizer normalizer_;
    CharTable table_;
};

class Nmt : public NormalizerStep {
    static bool is_removed(char32_t c) {
        return (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
    }
    static bool is_blank(char32_t c) {
        return c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 ||
               c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
    }
    bool apply(std::string_view text, std::string& out, bool& front_cut, const NormalizerLimits&) const override {
        out.clear();
        bool front = true;
        for_each_char(text, [&](char32_t c, std::string_view bytes) {
            front_cut = front_cut || (front && is_removed(c));
            front = false;
            if (!is_removed(c)) out += is_blank(c) ? " " : bytes;
        });
        return true;
    }
};

class ByteChars : public NormalizerStep {
    bool apply(std::string_view text, std::string& out, bool&, const NormalizerLimits&) const override {
        out.clear();
        append_byte_chars(text, out);
        return true;
    }
};

}  // namespace

void check_growth(std::size_t size, std::size_t max_bytes) {
    if (size > max_bytes)
        throw data_error("the tokenizer makes more than {} of a short text; its file is broken or hostile, fetch it again",
                         format_bytes(max_bytes));
}

std::string_view NormalizerChain::apply(std::string_view text, Buffers& buffers, bool& front_cut, Regex::Budget& budget) const {
    const NormalizerLimits limits{most_bytes(text.size()), budget};
    for (const auto& step : steps_)
        if (step->apply(text, buffers.first, front_cut, limits)) {
            check_growth(buffers.first.size(), limits.max_bytes);
            buffers.first.swap(buffers.second);  // the next step reads `second` and writes `first`
            text = buffers.second;
        }
    return text;
}

std::unique_ptr<NormalizerStep> make_lowercase() { return std::make_unique<Lowercase>(); }
std::unique_ptr<NormalizerStep> make_strip_accents() { return std::make_unique<StripAccents>(); }
std::unique_ptr<NormalizerStep> make_strip(bool left, bool right) { return std::make_unique<Strip>(left, right); }
std::unique_ptr<NormalizerStep> make_replace(std::string pattern, std::string content) {
    return std::make_unique<ReplaceText>(std::move(pattern), std::move(content));
}
std::unique_ptr<NormalizerStep> make_replace(Regex pattern, std::string content) {
    return std::make_unique<ReplaceRegex>(std::move(pattern), std::move(content));
}
std::unique_ptr<NormalizerStep> make_prepend(std::string prefix) { return std::make_unique<Prepend>(std::move(prefix)); }
std::unique_ptr<NormalizerStep> make_bert(const BertNormalizer& normalizer) { return std::make_unique<Bert>(normalizer); }
std::unique_ptr<NormalizerStep> make_nmt() { return std::make_unique<Nmt>(); }
std::unique_ptr<NormalizerStep> make_byte_chars() { return std::make_unique<ByteChars>(); }

}  // namespace faceter
