#include "plugin/export_tokenizer.h"

#include "common/error.h"
#include "plugin/export_check.h"
#include "text/sentencepiece_json.h"
#include "text/tokenizer.h"

namespace faceter {

std::optional<fs::path> complete_tokenizer(const fs::path& folder) {
    const auto model = lone_sentencepiece_model(folder);
    if (!model) return std::nullopt;
    const auto own = load_tokenizer(folder);
    write_file_atomic(folder / "tokenizer.json", sentencepiece_tokenizer_json(*model));
    const auto converted = load_tokenizer(folder);
    for (std::size_t i = 0; i < export_check_texts().size(); ++i) {
        std::vector<std::int32_t> ids, again;
        own->encode(export_check_texts()[i], 0, ids);
        converted->encode(export_check_texts()[i], 0, again);
        if (ids != again)
            throw data_error(
                "{}: no tokenizer.json cuts {} as this model of sentencepiece does, so that others would embed other tokens; "
                "'faceter export --to faceter' keeps it as it is",
                model->filename().string(), export_text_name(i));
    }
    return model;
}

}  // namespace faceter
