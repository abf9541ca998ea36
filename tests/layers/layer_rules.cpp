#include "layers/layer_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <sstream>

#include "common/error.h"

namespace faceter::layers {
namespace {

/// What the sources of one folder may include.
struct Rule {
    std::string who;                ///< as messages name it: core/text, plugins/mote, app/cli
    std::set<std::string> folders;  ///< of core/
    bool torch = false;
    bool qt = false;
    fs::path own;  ///< headers below it may be named relative to it or from its parent
};

struct Include {
    std::size_t line = 0;
    bool quoted = false;
    std::string name;  ///< empty where the preprocessor computes it
};

bool is_source(const fs::path& file) {
    static const std::set<std::string> endings{".h", ".hpp", ".inl", ".inc", ".cpp", ".cc", ".c", ".cu", ".cuh"};
    return endings.count(file.extension().string()) > 0;
}

std::vector<Include> includes_of(const fs::path& file) {
    static const std::regex directive(R"(^\s*#\s*(?:include|import|include_next)\b\s*(?:"([^"]+)\"|<([^>]+)>)?.*)");
    std::vector<Include> includes;
    std::ifstream in(file);
    std::string text;
    for (std::size_t line = 1; std::getline(in, text); ++line) {
        std::smatch match;
        if (text.find('#') == std::string::npos || !std::regex_match(text, match, directive)) continue;
        includes.push_back({line, match[1].matched, match[1].matched ? match[1].str() : match[2].str()});
    }
    return includes;
}

bool is_torch(const std::string& name) {
    static const std::regex torch(R"((torch|ATen|c10|caffe2|torchgen)/.*)");
    return std::regex_match(name, torch);
}

bool is_qt(const std::string& name) {
    static const std::regex qt(R"(Q[A-Z]\w*|Qt\w*/.*|q[a-z]+\.h|qcustomplot.*|.*/qcustomplot.*)");
    return std::regex_match(name, qt);
}

/// Why `rule` forbids `include` of `file`; nothing where it does not.
std::optional<std::string> objection(const Rule& rule, const fs::path& core, const LayerTable& table, const fs::path& file,
                                     const Include& include) {
    const std::string& name = include.name;
    if (name.empty()) return "is computed by the preprocessor, so that it cannot be checked; name the file";
    if (name.find("..") != std::string::npos) return "climbs out of its folder; name it from core/";
    if (is_torch(name)) return rule.torch ? std::nullopt : std::optional<std::string>("is torch's, which may not be used here");
    if (is_qt(name)) return rule.qt ? std::nullopt : std::optional<std::string>("is Qt's, which may not be used here");
    const std::string first = *fs::path(name).begin();
    if (table.count(first) && fs::exists(core / name)) {
        if (rule.folders.count(first)) return std::nullopt;
        return "is in core/" + first + ", which core/layers.txt does not allow here";
    }
    if (!include.quoted) return std::nullopt;
    if (rule.qt && name == file.stem().string() + ".moc") return std::nullopt;  // what moc makes of this very file
    if (fs::exists(file.parent_path() / name) || fs::exists(rule.own / name)) return std::nullopt;
    if (first == rule.own.filename() && fs::exists(rule.own.parent_path() / name)) return std::nullopt;
    return "is neither in core/ nor in " + rule.who;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
    std::vector<fs::path> folders;
    if (!fs::is_directory(folder)) return folders;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.is_directory()) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    return folders;
}

std::set<std::string> folders_of(const LayerTable& table, bool with_learn) {
    std::set<std::string> names;
    for (const auto& [name, layer] : table)
        if (with_learn || layer.library == "base") names.insert(name);
    return names;
}

class Checker {
  public:
    explicit Checker(const fs::path& root) : root_(root), core_(root / "core"), table_(read_layers(core_ / "layers.txt")) {}

    std::vector<std::string> run() {
        for (const fs::path& folder : folders_in(core_)) check_core(folder);
        for (const fs::path& folder : folders_in(root_ / "plugins")) check_plugin(folder);
        for (const fs::path& folder : folders_in(root_ / "app")) check_program(folder);
        return std::move(found_);
    }

  private:
    void check_core(const fs::path& folder) {
        const std::string name = folder.filename();
        if (name == "pch") return check_folder({"core/pch", {}, true, false, folder});
        const auto layer = table_.find(name);
        if (layer == table_.end()) {
            if (!sources_in(folder).empty()) found_.push_back("core/" + name + ": the folder has no line in core/layers.txt");
            return;
        }
        check_folder({"core/" + name, layer->second.may_use, layer->second.library == "learn", false, folder});
    }

    void check_plugin(const fs::path& folder) {
        const std::string who = "plugins/" + folder.filename().string();
        const Rule whole{who, folders_of(table_, true), true, false, folder};
        const Rule settings{who + "/settings", folders_of(table_, false), false, false, folder};
        for (const fs::path& file : sources_in(folder)) check_file(file.stem() == "settings" ? settings : whole, file);
    }

    void check_program(const fs::path& folder) {
        const std::string name = folder.filename();
        const bool worker = name == "worker", has_qt = name == "desktop" || name == "pdf";
        check_folder({"app/" + name, folders_of(table_, worker), worker, has_qt, folder});
    }

    void check_folder(const Rule& rule) {
        for (const fs::path& file : sources_in(rule.own)) check_file(rule, file);
    }

    void check_file(const Rule& rule, const fs::path& file) {
        for (const Include& include : includes_of(file))
            if (const auto reason = objection(rule, core_, table_, file, include))
                found_.push_back(fs::relative(file, root_).string() + ":" + std::to_string(include.line) + ": " +
                                 (include.name.empty() ? "the include" : include.name) + " " + *reason);
    }

    fs::path root_, core_;
    LayerTable table_;
    std::vector<std::string> found_;
};

}  // namespace

std::vector<fs::path> sources_in(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file() && is_source(entry.path())) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

LayerTable read_layers(const fs::path& file) {
    LayerTable table;
    std::istringstream in(read_file(file));
    std::string text;
    for (std::size_t line = 1; std::getline(in, text); ++line) {
        if (text.empty() || text[0] == '#') continue;
        const auto wrong = [&](const std::string& what) { return data_error("{}:{}: {}", file.string(), line, what); };
        const auto colon = text.find(':');
        if (colon == std::string::npos) throw wrong("expected 'library folder: folders'");
        std::istringstream head(text.substr(0, colon)), tail(text.substr(colon + 1));
        std::string library, name, used;
        if (!(head >> library >> name) || (library != "base" && library != "learn")) throw wrong("expected 'base' or 'learn' and a folder");
        Layer layer{library, {name}};
        while (tail >> used) {
            const auto before = table.find(used);
            if (before == table.end()) throw wrong("'" + used + "' has no line above this one");
            if (library == "base" && before->second.library == "learn") throw wrong("base may not use '" + used + "', which is of learn");
            layer.may_use.insert(used);
        }
        if (!table.emplace(name, std::move(layer)).second) throw wrong("'" + name + "' has two lines");
    }
    return table;
}

std::vector<std::string> include_violations(const fs::path& root) { return Checker(root).run(); }

std::vector<std::string> raw_json_parsing(const fs::path& root) {
    static const std::regex raw(R"(.*\b(Json|json)::(parse|accept|sax_parse|from_\w+)\s*\(.*)");
    std::vector<std::string> found;
    for (const char* top : {"core", "plugins", "app"})
        for (const fs::path& file : sources_in(root / top)) {
            const std::string name = fs::relative(file, root).string();
            if (name.starts_with("core/common/")) continue;
            std::ifstream in(file);
            std::string text;
            for (std::size_t line = 1; std::getline(in, text); ++line)
                if (std::regex_match(text, raw))
                    found.push_back(name + ":" + std::to_string(line) +
                                    ": parses JSON without limits; use parse_json or parse_untrusted_json");
        }
    return found;
}

namespace {

/// The keys that a plugin's settings.cpp declares, and the seed, which every variant gets.
std::set<std::string> declared_in(const fs::path& settings) {
    static const std::regex field(R"re(\b(?:boolean|integer|real|text|choice|path|list|map|section|any)\(\s*"(\w+)")re");
    std::set<std::string> keys{"seed"};
    const std::string text = read_file(settings);
    for (std::sregex_iterator match(text.begin(), text.end(), field), end; match != end; ++match) keys.insert((*match)[1]);
    return keys;
}

void add_repeated_defaults(const fs::path& root, const fs::path& folder, std::vector<std::string>& found) {
    static const std::regex read(R"re((?:\bjson_or\s*<[^;()]+>\s*\(\s*[^,;]+,|\.value\s*\()\s*(?:"(\w+)"|\w+)\s*,)re");
    const std::set<std::string> declared = declared_in(folder / "settings.cpp");
    for (const fs::path& file : sources_in(folder)) {
        const std::string text = read_file(file);
        for (std::sregex_iterator match(text.begin(), text.end(), read), end; match != end; ++match) {
            const std::string key = (*match)[1];
            if ((*match)[1].matched && !declared.contains(key)) continue;
            const auto line = 1 + std::count(text.begin(), text.begin() + match->position(), '\n');
            found.push_back(
                fmt::format("{}:{}: reads {} with a default of its own; the schema in settings.cpp has it, demand it with json_at",
                            fs::relative(file, root).string(), line, (*match)[1].matched ? key : "a setting"));
        }
    }
}

}  // namespace

std::vector<std::string> repeated_defaults(const fs::path& root) {
    std::vector<std::string> found;
    for (const char* top : {"plugins", "resources/plugin_templates"})
        for (const fs::path& folder : folders_in(root / top))
            if (fs::exists(folder / "settings.cpp")) add_repeated_defaults(root, folder, found);
    return found;
}

namespace {

/// Whether null is a value of the setting, for each key that core declares: both where schemas differ.
std::map<std::string, std::set<bool>> declared_by_core(const fs::path& root) {
    static const std::regex field(R"re(\b(any|\w+_count|boolean|integer|real|text|choice|path|list|map|section)\(\s*"(\w+)")re");
    std::map<std::string, std::set<bool>> keys{{"seed", {false}}};
    for (const char* file : {"settings/core_settings.cpp", "data/settings.cpp", "experiment/builtin_extensions.cpp",
                             "experiment/catalogue.cpp", "experiment/experiment_schema.cpp"}) {
        const std::string text = fs::exists(root / "core" / file) ? read_file(root / "core" / file) : "";
        for (std::sregex_iterator match(text.begin(), text.end(), field), next = match, end; match != end; match = next) {
            const std::string kind = (*match)[1];
            const auto begin = static_cast<std::size_t>(match->position());
            const std::string declaration =
                text.substr(begin, ++next == end ? text.npos : static_cast<std::size_t>(next->position()) - begin);
            const bool may_be_null = kind == "any" || kind.ends_with("_count") || declaration.find(".optional()") != declaration.npos ||
                                     declaration.find(".must()") != declaration.npos;
            keys[(*match)[2]].insert(may_be_null);
        }
    }
    return keys;
}

bool is_no_value(const std::string& fallback) {
    return fallback == "{}" || fallback == "\"\"" || fallback == "nullptr" || fallback.starts_with("Json") || fallback == "std::string()";
}

}  // namespace

std::vector<std::string> repeated_core_defaults(const fs::path& root) {
    static const std::regex read(R"re((?:\bjson_or\s*(?:<[^;()]+>)?\s*\(\s*[^,;]+(?:\([^;()]*\))?,|\.value\s*\()\s*"(\w+)")re"
                                 R"re(\s*,\s*((?:[^,;()]|\([^;()]*\))+?)\s*(?:,([^;()]*))?\))re");
    const auto declared = declared_by_core(root);
    std::vector<std::string> found;
    for (const char* top : {"core", "app"})
        for (const fs::path& file : sources_in(root / top)) {
            if (file.parent_path().filename() == "settings") continue;  // whose functions give the schema's own
            const std::string text = read_file(file);
            for (std::sregex_iterator match(text.begin(), text.end(), read), end; match != end; ++match) {
                const std::string key = (*match)[1], where = (*match)[3];
                const auto known = declared.find(key);
                if (known == declared.end() || !known->second.contains(false) || is_no_value((*match)[2])) continue;
                const bool of_method = where.find("\"objective\"") != where.npos || where.find("\"curriculum\"") != where.npos;
                if (known->second.size() > 1 && !of_method) continue;
                const auto line = 1 + std::count(text.begin(), text.begin() + match->position(), '\n');
                found.push_back(
                    fmt::format("{}:{}: reads {} with a default of its own; core's schema has it, demand it of settings that "
                                "are filled in (settings/core_settings.h, experiment/builtin_settings.h)",
                                fs::relative(file, root).string(), line, key));
            }
        }
    return found;
}

std::vector<std::string> missing_readmes(const fs::path& root) {
    std::vector<std::string> missing;
    for (const char* top : {"core", "plugins", "app"})
        for (const fs::path& folder : folders_in(root / top))
            if (!sources_in(folder).empty() && !fs::exists(folder / "README.md"))
                missing.push_back(fs::relative(folder, root).string() +
                                  " has no README.md (what lives here, what must not, how to add one)");
    return missing;
}

std::vector<std::string> long_files(const fs::path& root, const std::vector<fs::path>& files, std::size_t limit) {
    std::vector<std::string> found;
    for (const fs::path& file : files) {
        if (!is_source(file)) continue;
        std::ifstream in(root / file);
        const std::size_t lines = std::count(std::istreambuf_iterator<char>(in), {}, '\n');
        if (lines > limit) found.push_back(file.string() + " has " + std::to_string(lines) + " lines, more than " + std::to_string(limit));
    }
    return found;
}

std::vector<std::string> large_files(const fs::path& root, const std::vector<fs::path>& files, std::uintmax_t limit) {
    std::vector<std::string> found;
    for (const fs::path& file : files) {
        std::error_code gone;
        const auto size = fs::file_size(root / file, gone);
        if (!gone && size > limit)
            found.push_back(file.string() + " has " + std::to_string(size) + " bytes, more than " + std::to_string(limit));
    }
    return found;
}

}  // namespace faceter::layers
