#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uniset.h>
#include <unicode/unistr.h>

#include "common/error.h"
#include "text/graphemes.h"
#include "text/normalizer.h"
#include "text/utf8.h"

namespace faceter {
namespace {

/// ICU's normaliser, restricted to what Unicode 9 knows: that is the version of the peers' crate.
const icu::Normalizer2& filtered_normalizer(UnicodeForm form) {
    const auto make = [](const icu::Normalizer2* (*get)(UErrorCode&)) {
        UErrorCode error = U_ZERO_ERROR;
        static const icu::UnicodeSet* const known = [] {
            UErrorCode set_error = U_ZERO_ERROR;
            auto* set = new icu::UnicodeSet(UNICODE_STRING_SIMPLE("[:Age=9.0:]"), set_error);
            set->freeze();
            return set;
        }();
        const icu::Normalizer2* normalizer = get(error);
        if (U_FAILURE(error)) throw failure("ICU cannot normalise: its data are not installed");
        return new icu::FilteredNormalizer2(*normalizer, *known);  // kept as long as the program runs
    };
    static const icu::Normalizer2* const forms[] = {make([](UErrorCode& e) { return icu::Normalizer2::getNFCInstance(e); }),
                                                    make([](UErrorCode& e) { return icu::Normalizer2::getNFDInstance(e); }),
                                                    make([](UErrorCode& e) { return icu::Normalizer2::getNFKCInstance(e); }),
                                                    make([](UErrorCode& e) { return icu::Normalizer2::getNFKDInstance(e); })};
    return *forms[static_cast<int>(form)];
}

class Form : public NormalizerStep {
  public:
    explicit Form(UnicodeForm form) : form_(form), normalizer_(filtered_normalizer(form)) {}

  private:
    /// Below U+0300 nothing is composed; below U+00A0 nothing is decomposed.
    bool is_plain(std::string_view text) const {
        const unsigned char changed_from = form_ == UnicodeForm::nfc ? 0xCC : 0xC2;
        for (const char byte : text)
            if (static_cast<unsigned char>(byte) >= changed_from) return false;
        return true;
    }
    bool apply(std::string_view text, std::string& out, bool&, const NormalizerLimits&) const override {
        if (is_plain(text)) return false;
        UErrorCode error = U_ZERO_ERROR;
        const icu::UnicodeString units = icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
        const int32_t plain = normalizer_.spanQuickCheckYes(units, error);
        if (U_SUCCESS(error) && plain == units.length()) return false;
        const icu::UnicodeString normalized = normalizer_.normalize(units, error);
        if (U_FAILURE(error)) throw failure("ICU cannot normalise a text of {} bytes", text.size());
        out.clear();
        normalized.toUTF8String(out);
        return true;
    }
    UnicodeForm form_;
    const icu::Normalizer2& normalizer_;
};

class Precompiled : public NormalizerStep {
  public:
    explicit Precompiled(Charsmap charsmap) : charsmap_(std::move(charsmap)) {}

  private:
    /// A printable ASCII character that no key starts with and that nothing is combined with: it stays.
    bool stays(std::string_view text, std::size_t at) const {
        const auto byte = static_cast<unsigned char>(text[at]);
        return byte >= 0x20 && byte < 0x7F && !charsmap_.starts(byte);
    }
    bool apply(std::string_view text, std::string& out, bool&, const NormalizerLimits& limits) const override {
        std::size_t plain = 0;
        while (plain < text.size() && stays(text, plain)) ++plain;
        if (plain == text.size()) return false;
        if (plain > 0) --plain;  // may have a mark behind it
        out.assign(text, 0, plain);
        text.remove_prefix(plain);
        while (!text.empty()) {
            const std::size_t length = next_length(text);
            append_grapheme(text.substr(0, length), out);
            check_growth(out.size(), limits.max_bytes);
            text.remove_prefix(length);
        }
        return true;
    }
    /// The grapheme's length; without a look at tables where two ASCII characters follow each other.
    static std::size_t next_length(std::string_view text) {
        const bool alone = static_cast<unsigned char>(text[0]) < 0x80 && text[0] != '\r' &&
                           (text.size() == 1 || static_cast<unsigned char>(text[1]) < 0x80);
        return alone ? 1 : grapheme_length(text);
    }
    /// The shortest key at the front of a grapheme of less than six bytes replaces all of it, marks behind the key included: this is
    /// what the peers do, and ids depend on it.
    void append_grapheme(std::string_view grapheme, std::string& out) const {
        if (grapheme.size() < 6) {
            if (const Charsmap::Match match = charsmap_.shortest(grapheme); match.length > 0) {
                out += match.text;
                return;
            }
        }
        while (!grapheme.empty()) {
            const DecodedChar decoded = decode_utf8(grapheme.data(), grapheme.data() + grapheme.size());
            const std::string_view bytes = grapheme.substr(0, static_cast<std::size_t>(decoded.length));
            const Charsmap::Match match = charsmap_.shortest(bytes);
            out += match.length > 0 ? match.text : bytes;
            grapheme.remove_prefix(bytes.size());
        }
    }
    Charsmap charsmap_;
};

}  // namespace

std::unique_ptr<NormalizerStep> make_unicode_form(UnicodeForm form) { return std::make_unique<Form>(form); }
std::unique_ptr<NormalizerStep> make_precompiled(Charsmap charsmap) { return std::make_unique<Precompiled>(std::move(charsmap)); }

}  // namespace faceter
