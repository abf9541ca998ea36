#pragma once
#include <memory>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/json.h"
#include "text/tokenizer.h"

namespace faceter::testing {

/// A tokenizer.json as Hugging Face writes one, with a vocabulary small enough to read.
inline Json small_tokenizer_json() {
    return Json::parse(R"({
        "version": "1.0",
        "truncation": {"max_length": 3, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {"strategy": {"Fixed": 128}, "direction": "Right", "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": [
            {"id": 0, "content": "[PAD]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
            {"id": 1, "content": "[UNK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
            {"id": 2, "content": "[CLS]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
            {"id": 3, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
            {"id": 4, "content": "[MASK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "pair": [], "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}, "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
            "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "un": 5, "##aff": 6, "##able": 7, "a": 8, "##a": 9, "b": 10, ".": 11, "cafe": 12, "中": 13, "[": 14, "]": 15, "mask": 16}}})");
}

/// A folder with that file in it.
class TokenizerFolder {
  public:
    explicit TokenizerFolder(const Json& json = small_tokenizer_json()) { write("tokenizer.json", json.dump()); }
    void write(const std::string& name, std::string_view content) { write_file_atomic(folder_.path() / name, content); }
    const fs::path& path() const { return folder_.path(); }
    std::unique_ptr<Tokenizer> load() const { return load_tokenizer(path()); }

  private:
    TemporaryDirectory folder_;
};

inline std::vector<std::int32_t> encode(const Tokenizer& tokenizer, std::string_view text, std::size_t max_length = 0) {
    std::vector<std::int32_t> ids;
    tokenizer.encode(text, max_length, ids);
    return ids;
}

}  // namespace faceter::testing
