#include "text/tokenizer.h"

#include <algorithm>
#include <array>
#include <optional>

#include "common/error.h"
#include "common/file.h"
#include "common/strings.h"
#include "text/added_vocabulary.h"
#include "text/model_words.h"
#include "text/own_files.h"
#include "text/pipeline_json.h"
#include "text/sentencepiece_json.h"
#include "text/token_roles.h"
#include "text/tokenizer_ends.h"
#include "text/tokenizer_files.h"

namespace faceter {
namespace {

constexpr std::uint64_t max_config_bytes = 16u << 20;

LoadedTokenizer with_words(const Vocabulary& vocabulary, const auto& make) {
    std::size_t words = 0;
    for (const auto& [piece, id] : vocabulary) words = std::max(words, static_cast<std::size_t>(id) + 1);
    return {make(), words};
}

LoadedTokenizer make_wordpiece(WordPieceSettings settings, const fs::path& path) {
    return with_words(settings.vocabulary, [&] { return std::make_unique<WordPieceTokenizer>(std::move(settings), path.string()); });
}

BertFlags flags_beside(const fs::path& folder) {
    if (is_read_as_it_is(folder)) return BertFlags::never;
    return goes_by_bert_flags(class_of_model(folder)) ? BertFlags::of_its_model : BertFlags::of_its_class;
}

LoadedTokenizer load_wordpiece_json(std::string_view text, const fs::path& path, bool lowercase_first) {
    WordPieceSettings settings = parse_wordpiece_json(text, path.string());
    const BertFlags flags = flags_beside(path.parent_path());
    const fs::path config = path.parent_path() / "tokenizer_config.json";
    if (const bool is_there = fs::exists(config); is_there || flags == BertFlags::of_its_model)
        apply_tokenizer_config(is_there ? read_file(config, max_config_bytes) : "{}", config.string(), flags, settings);
    settings.normalizer.lowercase |= lowercase_first;
    add_named_tokens(path.parent_path(), settings.added_tokens);
    return make_wordpiece(std::move(settings), path);
}

LoadedTokenizer make_pipeline(PipelineSettings settings, TokenRoles roles, bool lowercase_first) {
    guess_roles(roles, [&](std::string_view token) {
        const auto is_it = [&](const AddedToken& added) { return added.content == token; };
        const auto is_piece = [&](const auto& entry) { return entry.first == token; };
        return std::any_of(settings.added_tokens.begin(), settings.added_tokens.end(), is_it) ||
               std::any_of(settings.vocabulary.begin(), settings.vocabulary.end(), is_piece);
    });
    settings.roles = roles.tokens;
    settings.truncate_left = roles.truncate_left.value_or(settings.truncate_left);
    if (lowercase_first) settings.normalizers.add_first(make_lowercase());
    settings.description += fmt::format("\n{} {}", settings.truncate_left, lowercase_first ? "Lowercase" : "false");
    return with_words(settings.vocabulary, [&] { return std::make_unique<PipelineTokenizer>(std::move(settings)); });
}

/// What those classes of transformers that make their ByteLevel from the configuration alone take for it.
std::optional<bool> prefix_space_of(const TokenRoles& roles, const fs::path& folder) {
    if (is_read_as_it_is(folder)) return std::nullopt;
    std::string_view kind = roles.tokenizer_class;
    const std::string of_model = kind.empty() ? class_of_model(folder) : "";
    if (kind.empty()) kind = of_model;
    if (kind.ends_with("Fast")) kind.remove_suffix(4);
    static constexpr std::array<std::string_view, 7> kinds = {"RobertaTokenizer",    "GPT2Tokenizer", "BartTokenizer",
                                                              "LongformerTokenizer", "LEDTokenizer",  "CodeGenTokenizer",
                                                              "DebertaTokenizer"};
    return std::find(kinds.begin(), kinds.end(), kind) == kinds.end() ? std::nullopt : std::optional(roles.add_prefix_space);
}

LoadedTokenizer load_pipeline_json(std::string_view text, const fs::path& path, bool lowercase_first) {
    const TokenRoles roles = read_token_roles(path.parent_path());
    PipelineSettings settings = parse_pipeline_json(text, path.string(), prefix_space_of(roles, path.parent_path()));
    if (add_ends(settings, roles, path.string())) {  // read as a folder written from this one says it: both have one fingerprint
        settings = parse_pipeline_json(with_ends(text, settings), path.string());
        add_ends(settings, roles, path.string());
    }
    settings.description += add_named_tokens(path.parent_path(), settings.added_tokens);
    return make_pipeline(std::move(settings), roles, lowercase_first);
}

LoadedTokenizer load_sentencepiece(const fs::path& path, bool lowercase_first) {
    TokenRoles roles = read_token_roles(path.parent_path());
    const auto unnamed = [](const std::string& token) { return token.empty(); };
    // mDeBERTa's tokenizer_config.json names neither class nor tokens.
    if (roles.tokenizer_class.empty() && std::all_of(roles.tokens.begin(), roles.tokens.end(), unnamed)) roles.configured = false;
    return make_pipeline(read_sentencepiece_tokenizer(read_file(path, max_tokenizer_bytes), path, roles), roles, lowercase_first);
}

LoadedTokenizer load_byte_level(const fs::path& path, bool lowercase_first) {
    const fs::path folder = path.parent_path(), merges = folder / "merges.txt";
    if (!fs::exists(merges)) throw data_error("{}: has no merges.txt beside it; a byte-level BPE needs both", path.string());
    const TokenRoles roles = read_token_roles(folder);
    PipelineSettings settings =
        read_byte_level_tokenizer(read_file(path, max_tokenizer_bytes), read_file(merges, max_tokenizer_bytes), folder, roles);
    settings.description += add_named_tokens(folder, settings.added_tokens);
    return make_pipeline(std::move(settings), roles, lowercase_first);
}

LoadedTokenizer load_wordpiece_vocabulary(const fs::path& path, bool lowercase_first) {
    WordPieceSettings settings = parse_wordpiece_vocabulary(read_file(path, max_tokenizer_bytes), path.string());
    if (const fs::path config = path.parent_path() / "tokenizer_config.json"; fs::exists(config))
        apply_tokenizer_config(read_file(config, max_config_bytes), config.string(), BertFlags::always, settings);
    add_named_tokens(path.parent_path(), settings.added_tokens);
    add_bert_specials(settings, path.string());
    settings.normalizer.lowercase |= lowercase_first;
    return make_wordpiece(std::move(settings), path);
}

/// The kinds of tokenizer.json that can be read. To add one, write its loader and name it here.
struct Kind {
    std::string_view name;
    LoadedTokenizer (*load)(std::string_view text, const fs::path& path, bool lowercase_first);
};
constexpr Kind kinds[] = {{"WordPiece", load_wordpiece_json},
                          {"WordPiece of steps", load_pipeline_json},
                          {"Unigram", load_pipeline_json},
                          {"BPE", load_pipeline_json}};

/// What a folder without tokenizer.json may have, in the order in which it is looked for.
struct OwnFile {
    const char* name;
    LoadedTokenizer (*load)(const fs::path& path, bool lowercase_first);
};
constexpr OwnFile own_files[] = {{"vocab.txt", load_wordpiece_vocabulary}, {"sentencepiece.bpe.model", load_sentencepiece},
                                 {"spiece.model", load_sentencepiece},     {"tokenizer.model", load_sentencepiece},
                                 {"spm.model", load_sentencepiece},        {"vocab.json", load_byte_level}};

/// The one that is read; null where the folder has none.
const OwnFile* own_file_in(const fs::path& folder) {
    for (const OwnFile& file : own_files)
        if (fs::exists(folder / file.name)) return &file;
    return nullptr;
}

}  // namespace

LoadedTokenizer load_with_words(const fs::path& model_folder, bool lowercase_first) {
    if (const fs::path path = model_folder / "tokenizer.json"; fs::exists(path)) {
        const std::string text = read_file(path, max_tokenizer_bytes);
        const std::string found = tokenizer_json_kind(text, path.string());
        for (const Kind& kind : kinds)
            if (kind.name == found) return kind.load(text, path, lowercase_first);
        throw data_error("{}: tokenizers of kind '{}' are not supported; WordPiece, Unigram and BPE are", path.string(), found);
    }
    if (const OwnFile* file = own_file_in(model_folder)) return file->load(model_folder / file->name, lowercase_first);
    throw data_error(
        "{}: has no tokenizer.json, and no vocab.txt, sentencepiece.bpe.model, spiece.model, tokenizer.model, spm.model or vocab.json; a "
        "model "
        "folder has one of them beside its config.json",
        model_folder.string());
}

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& model_folder, bool lowercase_first) {
    return load_with_words(model_folder, lowercase_first).tokenizer;
}

std::optional<std::filesystem::path> lone_sentencepiece_model(const std::filesystem::path& folder) {
    const OwnFile* file = fs::exists(folder / "tokenizer.json") ? nullptr : own_file_in(folder);
    return file && file->load == load_sentencepiece ? std::optional(folder / file->name) : std::nullopt;
}

}  // namespace faceter
