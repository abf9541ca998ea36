#include "pages/runs/facet_expression.h"

#include <optional>
#include <span>

#include "common/strings.h"
#include "store/filter_tokens.h"

namespace faceter::desktop {
namespace {

using Tokens = std::span<const FilterToken>;

struct Clause {
    std::string text, column;  // column empty: no list of values
    std::vector<std::string> values;
};

bool isValue(const FilterToken& token) { return token.kind == FilterToken::Kind::word || token.kind == FilterToken::Kind::quoted; }

/// `( a , b )`
std::optional<std::vector<std::string>> listOf(Tokens tokens) {
    if (tokens.size() < 3 || !tokens.front().is("(") || !tokens.back().is(")")) return std::nullopt;
    std::vector<std::string> values;
    for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
        if ((i % 2 == 1) != isValue(tokens[i])) return std::nullopt;
        if (i % 2 == 1) values.push_back(tokens[i].text);
    }
    return values;
}

Clause clauseOf(std::string_view expression, Tokens tokens) {
    Clause clause;
    if (tokens.empty()) return clause;
    clause.text = expression.substr(tokens.front().begin, tokens.back().end - tokens.front().begin);
    if (tokens.size() < 3 || tokens[0].kind != FilterToken::Kind::word) return clause;
    if (tokens.size() == 3 && (tokens[1].is("=") || tokens[1].is("==")) && isValue(tokens[2]))
        clause.values = {tokens[2].text};
    else if (tokens[1].is_keyword("in"))
        clause.values = listOf(tokens.subspan(2)).value_or(std::vector<std::string>());
    if (!clause.values.empty()) clause.column = lowercase_ascii(tokens[0].text);
    return clause;
}

/// What stands between top-level `and`s; an expression with a top-level `or` is one clause in parentheses.
std::vector<Clause> clausesOf(std::string_view expression) {
    std::vector<FilterToken> tokens = filter_tokens(expression);
    tokens.pop_back();
    std::vector<Clause> clauses;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= tokens.size(); ++i) {
        if (i < tokens.size()) {
            depth += tokens[i].is("(") ? 1 : tokens[i].is(")") ? -1 : 0;
            if (depth == 0 && tokens[i].is_keyword("or")) return {{"(" + std::string(trim(expression)) + ")", {}, {}}};
            if (depth != 0 || !tokens[i].is_keyword("and")) continue;
        }
        if (i > begin) clauses.push_back(clauseOf(expression, Tokens(tokens).subspan(begin, i - begin)));
        begin = i + 1;
    }
    return clauses;
}

/// A word of the language itself is a value in quotes alone.
bool isKeyword(const std::string& value) {
    const std::string word = lowercase_ascii(value);
    return word == "and" || word == "or" || word == "not" || word == "in";
}

std::string written(const std::string& value) {
    if (!value.empty() && !isKeyword(value) && value.find_first_of(" \t\n\r(),=!<>~\"'") == std::string::npos) return value;
    std::string text = "\"";
    for (const char c : value) text += c == '"' ? "\"\"" : std::string(1, c);
    return text + "\"";
}

std::string clauseText(std::string_view column, const std::vector<std::string>& values) {
    if (values.size() == 1) return std::string(column) + " = " + written(values.front());
    std::vector<std::string> all;
    for (const std::string& value : values) all.push_back(written(value));
    return std::string(column) + " in (" + join(all, ", ") + ")";
}

}  // namespace

std::vector<std::string> facetValues(std::string_view expression, std::string_view column) {
    for (const Clause& clause : clausesOf(expression))
        if (clause.column == column) return clause.values;
    return {};
}

std::string withFacet(std::string_view expression, std::string_view column, const std::vector<std::string>& values) {
    std::vector<std::string> parts;
    bool placed = values.empty();
    for (const Clause& clause : clausesOf(expression)) {
        if (clause.column != column) {
            parts.push_back(clause.text);
        } else if (!placed) {
            parts.push_back(clauseText(column, values));
            placed = true;
        }
    }
    if (!placed) parts.push_back(clauseText(column, values));
    // One clause in parentheses alone needs none.
    if (parts.size() == 1 && values.empty() && clausesOf(expression).size() == 1) return std::string(trim(expression));
    return join(parts, " and ");
}

}  // namespace faceter::desktop
