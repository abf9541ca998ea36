
#include "common/error.h"
#include "common/strings.h"
#include "text/own_files.h"
#include "text/sentencepiece_json.h"
#include "text/sentencepiece_model.h"

namespace faceter {
namespace {

using Ids = std::vector<std::int32_t>;
using Arrangement = SentencePieceArrangement;

std::int32_t place_of(const SentencePieceFile& file, std::string_view text) {
    for (std::size_t i = 0; i < file.pieces.size(); ++i)
        if (file.pieces[i].text == text) return static_cast<std::int32_t>(i);
    return -1;
}

Arrangement plain(const SentencePieceFile& file) {
    Arrangement result;
    for (const auto& piece : file.pieces) {
        result.ids.push_back(static_cast<std::int32_t>(result.ids.size()));
        result.vocabulary.emplace_back(piece.text, result.ids.back());
    }
    return result;
}

/// fairseq's numbers: <s> 0, <pad> 1, </s> 2, <unk> 3, piece i at i + 1, <mask> last.
Arrangement arrange_xlmr(const SentencePieceFile& file, std::string_view name) {
    if (file.pieces.size() < 3 || place_of(file, "<unk>") != 0 || place_of(file, "<s>") != 1 || place_of(file, "</s>") != 2)
        throw data_error("{}: an XLM-R model begins with <unk>, <s> and </s>; this one does not. Use a folder with tokenizer.json", name);
    Arrangement result;
    result.vocabulary = {{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}};
    for (std::size_t i = 0; i < file.pieces.size(); ++i) {
        const auto id = static_cast<std::int32_t>(i == 0 ? 3 : i + 1);
        result.ids.push_back(id);
        if (i >= 3) result.vocabulary.emplace_back(file.pieces[i].text, id);
    }
    result.vocabulary.emplace_back("<mask>", static_cast<std::int32_t>(file.pieces.size() + 1));
    result.special = {{0}, {2}};
    return result;
}

/// The file's numbers, then sentinels in falling order; </s> behind a text.
Arrangement arrange_t5(const SentencePieceFile& file, std::size_t extra_ids, std::string_view name) {
    Arrangement result = plain(file);
    for (std::size_t i = extra_ids; i-- > 0;)
        result.vocabulary.emplace_back(fmt::format("<extra_id_{}>", i), static_cast<std::int32_t>(result.vocabulary.size()));
    const std::int32_t end = place_of(file, "</s>");
    if (end < 0) throw data_error("{}: a T5 model has the piece </s>; this one does not. Use a folder with tokenizer.json", name);
    result.special.after = {end};
    return result;
}

Arrangement arrange_llama(const SentencePieceFile& file, const TokenRoles& roles, std::string_view name) {
    Arrangement result = plain(file);
    const auto add = [&](bool wanted, const std::string& token, Ids& ids) {
        if (!wanted) return;
        ids = {place_of(file, token)};
        if (ids[0] < 0) throw data_error("{}: the special token {} is not among its pieces", name, faceter::quoted(token));
    };
    add(roles.add_bos_token.value_or(true), roles.bos_token.empty() ? "<s>" : roles.bos_token, result.special.before);
    add(roles.add_eos_token.value_or(false), roles.eos_token.empty() ? "</s>" : roles.eos_token, result.special.after);
    return result;
}

/// The file's numbers, which begin with [PAD], [CLS], [SEP] and [UNK]; [MASK] behind them.
Arrangement arrange_deberta(const SentencePieceFile& file, std::string_view name) {
    Arrangement result = plain(file);
    if (place_of(file, "[MASK]") < 0) result.vocabulary.emplace_back("[MASK]", static_cast<std::int32_t>(result.vocabulary.size()));
    result.special = {{place_of(file, "[CLS]")}, {place_of(file, "[SEP]")}};
    if (result.special.before[0] < 0 || result.special.after[0] < 0)
        throw data_error("{}: a DeBERTa model has the pieces [CLS] and [SEP]; this one does not. Use a folder with tokenizer.json", name);
    return result;
}

}  // namespace

SentencePieceArrangement arrange(const SentencePieceFile& file, const std::filesystem::path& path, const TokenRoles& roles) {
    const std::string name = path.string(), file_name = path.filename().string();
    const std::string& klass = roles.tokenizer_class;
    const bool general = klass.empty() || klass.starts_with("PreTrainedTokenizer") || klass == "TokenizersBackend";
    const auto is = [&](std::string_view part, std::string_view usual_file) {
        return klass.find(part) != std::string::npos || (general && file_name == usual_file);
    };
    if (is("XLMRoberta", "sentencepiece.bpe.model")) return arrange_xlmr(file, name);
    if (is("T5", "spiece.model")) return arrange_t5(file, roles.extra_ids.value_or(klass.empty() ? 0 : 100), name);
    if (is("Llama", "tokenizer.model")) return arrange_llama(file, roles, name);
    if (is("DebertaV2", "spm.model")) return arrange_deberta(file, name);
    throw data_error("{}: the tokenizer class {} is not supported without a tokenizer.json; XLM-R's, T5's, Llama's and DeBERTa's are", name,
                     faceter::quoted(klass));
}

PipelineSettings read_sentencepiece_tokenizer(std::string_view bytes, const std::filesystem::path& path, const TokenRoles& roles) {
    const std::string name = path.string();
    const SentencePieceFile file = SentencePieceFile::parse(bytes, name);
    SentencePieceArrangement arrangement = arrange(file, path, roles);
    PipelineSettings settings;
    settings.normalizers.add(make_sentencepiece_normalizer(file, name));
    settings.model = std::make_unique<SentencePieceModel>(file, std::move(arrangement.ids), name);
    settings.pieces_are_words = false;
    settings.vocabulary = std::move(arrangement.vocabulary);
    settings.special = std::move(arrangement.special);
    settings.description = fmt::format("sentencepiece 1 {} {} {}\n{}", roles.tokenizer_class, fmt::join(settings.special.before, " "),
                                       fmt::join(settings.special.after, " "), bytes);
    return settings;
}

}  // namespace faceter
