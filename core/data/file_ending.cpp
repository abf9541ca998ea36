#include "data/file_ending.h"

#include <algorithm>

#include "common/strings.h"

namespace faceter {

namespace fs = std::filesystem;

std::string data_ending(const fs::path& file) {
    fs::path name = lowercase_ascii(file.filename().string());
    if (name.extension() == ".gz" || name.extension() == ".zst") name.replace_extension();
    return name.extension().string();
}

std::optional<fs::path> find_by_ending(const fs::path& folder, std::string_view stem, std::span<const std::string> endings) {
    for (const std::string& ending : endings)
        if (fs::path file = folder / (std::string(stem) + ending); fs::is_regular_file(file)) return file;
    std::pair<std::size_t, fs::path> best{endings.size(), {}};
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(stem)) continue;
        const auto found = std::find(endings.begin(), endings.end(), lowercase_ascii(std::string_view(name).substr(stem.size())));
        if (found == endings.end() || !entry.is_regular_file(none)) continue;
        best = std::min(best, {static_cast<std::size_t>(found - endings.begin()), entry.path()});
    }
    return best.second.empty() ? std::nullopt : std::optional(best.second);
}

}  // namespace faceter
