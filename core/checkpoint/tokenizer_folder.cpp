#include "checkpoint/tokenizer_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/file.h"

namespace faceter {
namespace {

constexpr std::array files = {"tokenizer.json",  "vocab.txt", "sentencepiece.bpe.model", "spiece.model", "spm.model",
                              "tokenizer.model", "vocab.json"};

bool has_tokenizer(const fs::path& folder) {
    std::error_code ignored;
    return std::any_of(files.begin(), files.end(), [&](const char* name) { return fs::exists(folder / name, ignored); });
}

fs::path folder_above(const fs::path& folder) {
    const fs::path own = absolute_path(folder);
    return own.filename().empty() ? own.parent_path().parent_path() : own.parent_path();
}

}  // namespace

fs::path tokenizer_home(const fs::path& encoder_folder) {
    if (has_tokenizer(encoder_folder)) return encoder_folder;
    const fs::path above = folder_above(encoder_folder);
    std::error_code ignored;
    return has_tokenizer(above) && fs::exists(above / "config.json", ignored) ? above : encoder_folder;
}

std::optional<std::string> remark_on_home(const fs::path& encoder_folder) {
    const fs::path home = tokenizer_home(encoder_folder);
    if (home == encoder_folder) return std::nullopt;
    return fmt::format("{}: has no tokenizer; that of {} is used, with its pooling and prompts", encoder_folder.string(), home.string());
}

}  // namespace faceter
