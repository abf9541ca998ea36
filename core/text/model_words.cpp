#include "text/model_words.h"

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"

namespace faceter {
namespace {

/// Passes all on, and looks at the ids.
class WithinRows : public Tokenizer {
  public:
    WithinRows(std::unique_ptr<Tokenizer> all, std::size_t rows, std::string_view name)
        : all_(std::move(all)), rows_(rows), name_(name), fingerprint_(fmt::format("{}-{}", all_->fingerprint(), rows)) {}

    void encode(std::string_view text, std::size_t max_length, std::vector<std::int32_t>& ids) const override {
        const std::size_t begin = ids.size();
        all_->encode(text, max_length, ids);
        const auto own = std::span(ids).subspan(begin);
        const auto beyond = std::find_if(own.begin(), own.end(), [&](std::int32_t id) { return static_cast<std::size_t>(id) >= rows_; });
        if (beyond == own.end()) return;
        const std::int32_t id = *beyond;
        ids.resize(begin);
        throw data_error("the text {} has the token {} (id {}), and {} has embeddings for {}; take it out of the text, or resize the model",
                         faceter::quoted(text, 60), faceter::quoted(id_to_piece(id)), id, name_, rows_);
    }
    std::size_t vocab_size() const override { return rows_; }
    SpecialTokens special() const override { return all_->special(); }
    std::size_t num_special() const override { return all_->num_special(); }
    std::string id_to_piece(int id) const override { return all_->id_to_piece(id); }
    int piece_to_id(std::string_view piece) const override { return all_->piece_to_id(piece); }
    std::string fingerprint() const override { return fingerprint_; }

  private:
    std::unique_ptr<Tokenizer> all_;
    std::size_t rows_;
    std::string name_, fingerprint_;
};

void require_around(const Tokenizer& tokenizer, std::size_t rows, std::string_view name) {
    std::vector<std::int32_t> around;
    tokenizer.encode("", 0, around);
    for (const std::int32_t id : around)
        if (static_cast<std::size_t>(id) >= rows)
            throw data_error(
                "{}: the tokenizer beside it puts the token {} (id {}) around every text, the model has embeddings for {}; the tokenizer "
                "belongs to another model, or the model was not resized for it",
                name, faceter::quoted(tokenizer.id_to_piece(id)), id, rows);
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer_for(std::size_t rows, std::string_view name, const std::filesystem::path& model_folder,
                                              bool lowercase_first) {
    LoadedTokenizer loaded = load_with_words(model_folder, lowercase_first);
    if (loaded.words > rows)
        throw data_error(
            "{}: the tokenizer beside it gives ids up to {}, the model has embeddings for {}; the tokenizer belongs to another model", name,
            loaded.words - 1, rows);
    if (loaded.tokenizer->vocab_size() <= rows) return std::move(loaded.tokenizer);
    require_around(*loaded.tokenizer, rows, name);
    return std::make_unique<WithinRows>(std::move(loaded.tokenizer), rows, name);
}

}  // namespace faceter
