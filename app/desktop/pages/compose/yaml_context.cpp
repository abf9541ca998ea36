#include "pages/compose/yaml_context.h"

#include <algorithm>
#include <vector>

#include "common/strings.h"

namespace faceter::desktop {
namespace {

/// One open map or list: what was read of it so far.
struct Level {
    int indent = -1;  // of a block's keys or dashes; -1 in brackets
    bool flow = false, list = false;
    std::size_t items = 0;   // list: commas or dashes so far
    std::string key;         // map: the last key
    bool valueOpen = false;  // map: behind the colon of `key`
    std::map<std::string, std::string> seen;
};

class Scanner {
  public:
    Scanner(std::string_view text, std::size_t end) : m_text(text.substr(0, end)) {}

    YamlContext scan() {
        m_levels.push_back({0, false, false, 0, "", false, {}});
        while (m_at < m_text.size()) line();
        return result();
    }

  private:
    Level& top() { return m_levels.back(); }
    bool inFlow() { return top().flow; }

    void line() {
        const std::size_t begin = m_at;
        m_comment = m_quotes = false;
        m_tokenBegin = std::string_view::npos;
        if (!inFlow()) {
            while (m_at < m_text.size() && m_text[m_at] == ' ') ++m_at;
            if (m_at >= m_text.size()) return openAt(static_cast<int>(m_at - begin));
            if (m_text[m_at] != '\n' && m_text[m_at] != '\r' && m_text[m_at] != '#') startBlockLine(begin);
        }
        while (m_at < m_text.size() && m_text[m_at] != '\n') step();
        endToken(m_at);
        if (m_at < m_text.size()) ++m_at, m_tokenBegin = std::string_view::npos;
    }

    /// Closes the levels that end before a line at this column, and opens one where it stands deeper.
    void openAt(int column) {
        while (m_levels.size() > 1 && !top().flow && (top().indent > column || (top().indent == column && top().list))) m_levels.pop_back();
        if (top().indent == column && !top().list) {
            top().valueOpen = false;
            return;
        }
        if (top().indent < column && (top().valueOpen || top().list)) m_levels.push_back({column, false, false, 0, "", false, {}});
    }

    void startBlockLine(std::size_t begin) {
        int column = static_cast<int>(m_at - begin);
        while (isDash()) {
            while (m_levels.size() > 1 && top().indent > column) m_levels.pop_back();
            // "key:" with its list's dashes at the same column.
            if (!(top().list && top().indent == column))
                m_levels.push_back({column, false, true, 0, "", false, {}});
            else
                ++top().items;
            ++m_at;
            while (m_at < m_text.size() && m_text[m_at] == ' ') ++m_at;
            column = static_cast<int>(m_at - begin);
            if (!isDash() && looksLikeKey()) m_levels.push_back({column, false, false, 0, "", false, {}});
            if (!isDash()) return;
        }
        openAt(column);
    }

    bool isDash() const {
        return m_at < m_text.size() && m_text[m_at] == '-' &&
               (m_at + 1 >= m_text.size() || m_text[m_at + 1] == ' ' || m_text[m_at + 1] == '\n');
    }

    bool looksLikeKey() const {
        const std::string_view rest = m_text.substr(m_at, m_text.find('\n', m_at) - m_at);
        return !rest.empty() && rest.front() != '{' && rest.front() != '[' && rest.front() != '"' && rest.front() != '\'';
    }

    void step() {
        const char c = m_text[m_at];
        if (m_tokenBegin == std::string_view::npos && c != ' ' && c != '\r') {
            m_tokenBegin = m_at;
            if (c == '"' || c == '\'') return skipQuoted();
        }
        const bool blank_before = m_at == 0 || m_text[m_at - 1] == ' ' || m_text[m_at - 1] == '\n';
        if (c == '#' && blank_before) return skipComment();
        if (c == ':' && (m_at + 1 >= m_text.size() || m_text[m_at + 1] == ' ' || m_text[m_at + 1] == '\n' || m_text[m_at + 1] == '\r'))
            return takeKey();
        if (m_tokenBegin == m_at && (c == '{' || c == '[')) return open(c == '[');
        if (inFlow() && (c == ',' || c == '}' || c == ']')) return separate(c);
        ++m_at;
    }

    void skipQuoted() {
        const char quote = m_text[m_at++];
        while (m_at < m_text.size() && m_text[m_at] != quote && m_text[m_at] != '\n') m_at += quote == '"' && m_text[m_at] == '\\' ? 2 : 1;
        m_at = std::min(m_at, m_text.size());
        if (m_at >= m_text.size()) m_quotes = true;
        if (m_at < m_text.size() && m_text[m_at] == quote) ++m_at;
    }

    void skipComment() {
        endToken(m_at);
        m_comment = true;
        while (m_at < m_text.size() && m_text[m_at] != '\n') ++m_at;
        m_tokenBegin = std::string_view::npos;
    }

    std::string token(std::size_t end) const {
        if (m_tokenBegin == std::string_view::npos || m_tokenBegin >= end) return {};
        std::string_view text = trim(m_text.substr(m_tokenBegin, end - m_tokenBegin));
        if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
            text = text.substr(1, text.size() - 2);
        return std::string(text);
    }

    void endToken(std::size_t end) {
        const bool known = !top().list && top().valueOpen && m_tokenBegin != std::string_view::npos && end < m_text.size();
        if (known) top().seen[top().key] = token(end);
    }

    void takeKey() {
        if (!top().list) {
            top().key = token(m_at);
            top().valueOpen = true;
            top().seen.emplace(top().key, "");
        }
        ++m_at;
        m_tokenBegin = std::string_view::npos;
    }

    void open(bool list) {
        m_levels.push_back({-1, true, list, 0, "", false, {}});
        ++m_at;
        m_tokenBegin = std::string_view::npos;
    }

    void separate(char c) {
        endToken(m_at);
        if (c != ',') {
            m_levels.pop_back();
        } else if (top().list) {
            ++top().items;
        } else {
            top().valueOpen = false;
        }
        ++m_at;
        m_tokenBegin = std::string_view::npos;
    }

    YamlContext result() {
        YamlContext context;
        for (std::size_t i = 0; i < m_levels.size(); ++i) {
            const Level& level = m_levels[i];
            const bool last = i + 1 == m_levels.size();
            if (level.list)
                context.path.push_back(YamlStep::item(level.items));
            else if (!last || level.valueOpen)
                context.path.emplace_back(level.key);
        }
        context.inValue = top().list || top().valueOpen;
        context.inComment = m_comment;
        context.inQuotes = m_quotes;
        context.prefixBegin = m_tokenBegin == std::string_view::npos ? m_text.size() : m_tokenBegin;
        context.prefix = std::string(m_text.substr(context.prefixBegin));
        context.seen = top().seen;
        return context;
    }

    std::string_view m_text;
    std::size_t m_at = 0, m_tokenBegin = std::string_view::npos;
    std::vector<Level> m_levels;
    bool m_comment = false, m_quotes = false;
};

}  // namespace

YamlContext yamlContext(std::string_view text, std::size_t byte) { return Scanner(text, std::min(byte, text.size())).scan(); }

}  // namespace faceter::desktop
