#include "compare/data_cards.h"

#include <algorithm>
#include <set>

#include "checkpoint/hub.h"
#include "checkpoint/model_folder.h"
#include "common/error.h"
#include "common/file_hash.h"
#include "common/hash.h"
#include "common/printable.h"
#include "common/strings.h"
#include "compare/model_card.h"
#include "figure/escape.h"

namespace faceter {
namespace {

constexpr std::size_t most_files = 20'000;

/// Of a folder: the hash of "<sha256>  <name>" lines, as sha256sum prints them, in the order of the names.
Json hash_of(const fs::path& path, const HashProgress& progress) {
    std::uint64_t read = 0;
    const auto piece_read = [&](std::uint64_t bytes) {
        read += bytes;
        if (progress) progress(read);
    };
    std::error_code error;
    if (fs::is_regular_file(path, error)) return sha256_file(path, piece_read);
    if (!fs::is_directory(path, error)) return nullptr;
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, error))
        if (entry.is_regular_file(error)) files.push_back(entry.path());
    if (files.empty() || files.size() > most_files) return nullptr;
    std::sort(files.begin(), files.end());
    std::string lines;
    for (const fs::path& file : files) lines += sha256_file(file, piece_read) + "  " + file.lexically_relative(path).string() + "\n";
    return sha256_hex(lines);
}

Json licence_beside(const fs::path& path) {
    std::error_code error;
    const fs::path folder = fs::is_directory(path, error) ? path : path.parent_path();
    if (const std::string named = licence_of(folder); !named.empty()) return named;
    const fs::path card = folder / "dataset.json";
    if (!fs::is_regular_file(card, error)) return nullptr;
    try {
        const Json json = read_json(card, 1 << 20);
        for (const char* key : {"license", "licence"})
            if (json.is_object() && json.contains(key) && json[key].is_string()) return json[key];
    } catch (const Error&) {  // it is no card then
    }
    return nullptr;
}

/// Of package lists, what the run itself saw.
Json hash_of_index(const Json& card) {
    const Json lists = json_or<Json>(json_or<Json>(card, "index", Json::object(), "card"), "lists", Json::object(), "card");
    return json_or<Json>(lists, "sha256", nullptr, "card");
}

Json model_entry(const std::string& name) {
    Json model = {{"name", name}, {"licence", nullptr}, {"sha256", nullptr}};
    try {
        const fs::path found = find_model(name);
        if (found.empty()) return model;  // it is not on this machine any more
        const ModelFolder folder = ModelFolder::open(found);
        if (const std::string licence = licence_of(folder.folder); !licence.empty()) model["licence"] = licence;
        std::string lines;
        for (const fs::path& file : folder.weight_files) lines += sha256_file(file) + "  " + file.filename().string() + "\n";
        model["sha256"] = folder.weight_files.size() == 1 ? lines.substr(0, lines.find(' ')) : sha256_hex(lines);
    } catch (const Error&) {  // what is left of it cannot be read
    }
    return model;
}

std::string plain(const Json& value, const char* missing) {
    return value.is_string() ? escape_markdown(value.get<std::string>()) : std::string(missing);
}

std::string line_of(const std::string& key, const Json& value) {
    return fmt::format("- {}: {}\n", escape_markdown(key), escape_markdown(value.is_string() ? value.get<std::string>() : value.dump()));
}

}  // namespace

Json data_card(const ReportData& data, const HashProgress& progress) {
    const bool has_path = data.card.contains("path") && data.card["path"].is_string() && !data.card["path"].get<std::string>().empty();
    const fs::path path = has_path ? data.card["path"].get<std::string>() : "";
    return {{"name", data.name},
            {"use", data.use},
            {"task", data.task},
            {"licence", has_path ? licence_beside(path) : Json(nullptr)},
            {"sha256", has_path ? hash_of(path, progress) : hash_of_index(data.card)},
            {"card", data.card}};
}

Json data_cards(const Report& report) {
    Json data = Json::array(), models = Json::array();
    for (const ReportData& one : report.data) data.push_back(data_card(one));
    std::set<std::string> names;
    for (const ReportRun& run : report.runs)
        if (const auto name = json_or<std::string>(run.info.settings, "model", "", run.info.shown_name() + ": settings");
            !name.empty() && names.insert(name).second)
            models.push_back(model_entry(name));
    return {{"data", data}, {"models", models}};
}

std::string data_cards_to_markdown(const Json& cards) {
    std::string text = "# Data and start models\n\nHashes are SHA-256, of what lay there when the bundle was made.\n";
    for (const char* part : {"models", "data"})
        for (const Json& one : cards[part]) {
            text += fmt::format("\n## {}\n\n", plain(one["name"], "without a name"));
            if (one.contains("use")) text += fmt::format("- use: {}, task {}\n", plain(one["use"], "?"), plain(one["task"], "?"));
            text += fmt::format("- licence: {}\n- SHA-256: {}\n", plain(one["licence"], "not stated beside it; look where it comes from"),
                                plain(one["sha256"], "it is not on this machine (any more)"));
            if (!one.contains("card")) continue;
            for (const auto& [key, value] : one["card"].items())
                if (value.is_primitive() && !value.is_null()) text += line_of(key, value);
            const auto counts = json_or<Json>(one["card"], "counts", Json::object(), "card");
            for (const auto& [key, value] : counts.items())
                if (value.is_number()) text += line_of(key, value);
        }
    return text;
}

}  // namespace faceter
