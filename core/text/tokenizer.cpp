#include "text/tokenizer.h"

#include "common/error.h"
#include "common/file.h"
#include "text/tokenizer_files.h"

namespace faceter {
namespace {

constexpr std::uint64_t max_tokenizer_bytes = 256u << 20, max_config_bytes = 16u << 20;

std::unique_ptr<Tokenizer> load_wordpiece_json(std::string_view text, const fs::path& path, bool lowercase_first) {
    WordPieceSettings settings = parse_wordpiece_json(text, path.string());
    if (const fs::path config = path.parent_path() / "tokenizer_config.json"; fs::exists(config))
        apply_tokenizer_config(read_file(config, max_config_bytes), config.string(), false, settings);
    settings.normalizer.lowercase |= lowercase_first;
    return std::make_unique<WordPieceTokenizer>(std::move(settings), path.string());
}

std::unique_ptr<Tokenizer> load_wordpiece_vocabulary(const fs::path& path, bool lowercase_first) {
    WordPieceSettings settings = parse_wordpiece_vocabulary(read_file(path, max_tokenizer_bytes), path.string());
    if (const fs::path config = path.parent_path() / "tokenizer_config.json"; fs::exists(config))
        apply_tokenizer_config(read_file(config, max_config_bytes), config.string(), true, settings);
    add_bert_specials(settings, path.string());
    settings.normalizer.lowercase |= lowercase_first;
    return std::make_unique<WordPieceTokenizer>(std::move(settings), path.string());
}

/// The kinds of tokenizer.json that can be read. To add one, write its loader and name it here.
struct Kind {
    std::string_view name;
    std::unique_ptr<Tokenizer> (*load)(std::string_view text, const fs::path& path, bool lowercase_first);
};
constexpr Kind kinds[] = {{"WordPiece", load_wordpiece_json}};

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& model_folder, bool lowercase_first) {
    if (const fs::path path = model_folder / "tokenizer.json"; fs::exists(path)) {
        const std::string text = read_file(path, max_tokenizer_bytes);
        const std::string found = tokenizer_json_kind(text, path.string());
        for (const Kind& kind : kinds)
            if (kind.name == found) return kind.load(text, path, lowercase_first);
        throw data_error("{}: tokenizers of kind '{}' are not supported yet; WordPiece (BERT) is. Choose a BERT model", path.string(),
                         found);
    }
    if (const fs::path path = model_folder / "vocab.txt"; fs::exists(path)) return load_wordpiece_vocabulary(path, lowercase_first);
    for (const std::string_view other : {"spiece.model", "sentencepiece.bpe.model", "tokenizer.model", "vocab.json"})
        if (fs::exists(model_folder / other))
            throw data_error(
                "{}: tokenizers of this kind are not supported yet; WordPiece (tokenizer.json or vocab.txt of a BERT model) is",
                (model_folder / other).string());
    throw data_error("{}: has no tokenizer.json and no vocab.txt; a model folder has one of them beside its config.json",
                     model_folder.string());
}

}  // namespace faceter
