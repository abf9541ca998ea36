#include "layers/type_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <regex>

#include "layers/layer_rules.h"

namespace faceter::layers {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Whether the quote at `at` only groups the digits of a number.
bool groups_digits(const std::string& text, std::size_t at) {
    std::size_t begin = at;
    while (begin > 0 && (in_word(text[begin - 1]) || text[begin - 1] == '\'')) --begin;
    return begin < at && std::isdigit(static_cast<unsigned char>(text[begin]));
}

std::size_t behind(const std::string& text, const std::string& end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == text.npos ? text.size() : found + end.size();
}

std::size_t behind_literal(const std::string& text, std::size_t at) {
    const char quote = text[at++];
    while (at < text.size() && text[at] != quote) at += text[at] == '\\' ? 2 : 1;
    return std::min(at + 1, text.size());
}

std::size_t behind_directive(const std::string& text, std::size_t at) {
    do at = behind(text, "\n", at);
    while (at < text.size() && at >= 2 && text[at - 2] == '\\');
    return at;
}

/// Where the comment, literal or directive of the preprocessor that begins at `at` ends; `at` where none does.
std::size_t behind_unread(const std::string& text, std::size_t at) {
    if (text.compare(at, 2, "//") == 0) return behind(text, "\n", at);
    if (text.compare(at, 2, "/*") == 0) return behind(text, "*/", at + 2);
    if (text[at] == '#') return behind_directive(text, at);
    if (text.compare(at, 2, "R\"") == 0) {
        const std::size_t open = std::min(text.find('(', at), text.size());
        return behind(text, ")" + text.substr(at + 2, open - at - 2) + "\"", open);
    }
    return text[at] == '"' || (text[at] == '\'' && !groups_digits(text, at)) ? behind_literal(text, at) : at;
}

/// The types that one file defines in named namespaces: full name -> line.
class TypeReader {
  public:
    explicit TypeReader(const std::string& text) : text_(text) {}

    std::map<std::string, std::size_t> read() {
        std::size_t line = 1;
        for (std::size_t at = 0; at < text_.size();) {
            const std::size_t end = std::max(behind_unread(text_, at), at + 1);
            line += static_cast<std::size_t>(std::count(text_.begin() + at, text_.begin() + end, '\n'));
            if (end > at + 1)
                head_ += ' ';
            else
                take(text_[at], line);
            at = end;
        }
        return std::move(found_);
    }

  private:
    void take(char c, std::size_t line) {
        if (c == '{') return open(line);
        if (c == '}' && !scopes_.empty()) scopes_.pop_back();
        c == '}' || c == ';' ? head_.clear() : head_.push_back(c);
    }
    void open(std::size_t line) {
        static const std::regex space(R"(\s*(?:inline\s+)?namespace\s+(\w+(?:::\w+)*)\s*)");
        static const std::regex type(R"(\s*(?:template\s*<[\s\S]*>\s*)?(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+)"
                                     R"((?:alignas\s*\([^)]*\)\s*|[A-Z_0-9]+\s+)*(\w+)\s*(?:\bfinal\s*)?(?::[^:][\s\S]*)?)");
        const bool named = std::all_of(scopes_.begin(), scopes_.end(), [](const auto& scope) { return scope.has_value(); });
        std::smatch match;
        std::optional<std::string> scope;
        if (named && std::regex_match(head_, match, space))
            scope = full_name(match[1]);
        else if (named && std::regex_match(head_, match, type))
            found_.emplace(full_name(match[1]), line);
        scopes_.push_back(std::move(scope));
        head_.clear();
    }
    std::string full_name(const std::string& name) const { return scopes_.empty() ? name : *scopes_.back() + "::" + name; }

    const std::string& text_;
    std::string head_;                                ///< what stands between the last brace or semicolon and here
    std::vector<std::optional<std::string>> scopes_;  ///< of each open brace: the full name of its namespace, nothing for what is none
    std::map<std::string, std::size_t> found_;
};

}  // namespace

std::vector<std::string> repeated_types(const fs::path& root) {
    std::map<std::string, std::string> first;
    std::vector<std::string> found;
    for (const char* top : {"core", "plugins", "app"})
        for (const fs::path& file : sources_in(root / top)) {
            const std::string text = read_file(file);
            for (const auto& [name, line] : TypeReader(text).read()) {
                const std::string place = fmt::format("{}:{}", fs::relative(file, root).string(), line);
                const auto [before, is_new] = first.emplace(name, place);
                if (!is_new)
                    found.push_back(
                        fmt::format("{}: {} is the name of another type, of {}; say in both what they are", place, name, before->second));
            }
        }
    return found;
}

}  // namespace faceter::layers
