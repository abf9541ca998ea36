#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/bert_normalizer.h"
#include "text/charsmap.h"
#include "text/regex.h"

namespace faceter {

/// What all steps together may make of one text.
struct NormalizerLimits {
    std::size_t max_bytes = 0;  ///< as it is after each
    Regex::Budget& budget;      ///< shared with what comes behind them
};

/// One step that changes a text before it is split: a normalizer of tokenizer.json. Texts are UTF-8. Immutable; thread safe.
class NormalizerStep {
  public:
    virtual ~NormalizerStep() = default;
    /// False where the text stays as it is (`out` is then of no account), else true with the new text in `out`. Sets `front_cut` where the
    /// text's first character went without a successor (Metaspace asks for it with prepend_scheme "first"). A step whose file says how much
    /// it writes for a character throws a data error beyond `limits.max_bytes`.
    virtual bool apply(std::string_view text, std::string& out, bool& front_cut, const NormalizerLimits& limits) const = 0;
};

/// How long a text of `size` bytes may become: the largest expansion of Unicode is eleven times (U+FDFA under NFKC).
constexpr std::size_t most_bytes(std::size_t size) { return (std::size_t{1} << 20) + 64 * size; }
/// Throws a data error where `size` is more than that.
void check_growth(std::size_t size, std::size_t max_bytes);

/// Steps one after the other, with memory that is kept between calls.
class NormalizerChain {
  public:
    struct Buffers {
        std::string first, second;
    };
    void add(std::unique_ptr<NormalizerStep> step) { steps_.push_back(std::move(step)); }
    void add_first(std::unique_ptr<NormalizerStep> step) { steps_.insert(steps_.begin(), std::move(step)); }
    std::size_t size() const { return steps_.size(); }
    /// The view is of `text` or of one of the buffers.
    std::string_view apply(std::string_view text, Buffers& buffers, bool& front_cut, Regex::Budget& budget) const;

  private:
    std::vector<std::unique_ptr<NormalizerStep>> steps_;
};

enum class UnicodeForm { nfc, nfd, nfkc, nfkd };
std::unique_ptr<NormalizerStep> make_unicode_form(UnicodeForm form);
std::unique_ptr<NormalizerStep> make_lowercase();
std::unique_ptr<NormalizerStep> make_strip_accents();
std::unique_ptr<NormalizerStep> make_strip(bool left, bool right);
std::unique_ptr<NormalizerStep> make_replace(std::string pattern, std::string content);
std::unique_ptr<NormalizerStep> make_replace(Regex pattern, std::string content);
std::unique_ptr<NormalizerStep> make_prepend(std::string prefix);
std::unique_ptr<NormalizerStep> make_bert(const BertNormalizer& normalizer);
/// sentencepiece's rules for control characters and white space (Nmt).
std::unique_ptr<NormalizerStep> make_nmt();
/// Every byte becomes the character that byte-level BPE writes for it.
std::unique_ptr<NormalizerStep> make_byte_chars();
/// Precompiled, as Hugging Face's tokenizers apply it: grapheme by grapheme, the shortest key of each.
std::unique_ptr<NormalizerStep> make_precompiled(Charsmap charsmap);

}  // namespace faceter
