#include <algorithm>

#include "common/strings.h"
#include "store/filter.h"
#include "store/filter_tokens.h"

namespace faceter {
namespace {

enum class Expected { name, comparator, value, list, list_value, list_end, connective };

struct Place {
    Expected expected = Expected::name;
    std::string column;
};

/// One token further; words that cannot stand where they are change nothing.
void advance(Place& place, const FilterToken& token) {
    switch (place.expected) {
        case Expected::name:
            if (token.kind == FilterToken::Kind::symbol || token.is_keyword("not")) return;
            place = {Expected::comparator, token.text};
            return;
        case Expected::comparator:
            if (token.is_keyword("not")) return;
            if (token.is_keyword("and") || token.is_keyword("or"))
                place.expected = Expected::name;  // after a flag
            else
                place.expected = token.is_keyword("in") ? Expected::list : Expected::value;
            return;
        case Expected::value:
            place.expected = Expected::connective;
            return;
        case Expected::list:
            place.expected = Expected::list_value;
            return;
        case Expected::list_value:
            place.expected = token.is(")") ? Expected::connective : Expected::list_end;
            return;
        case Expected::list_end:
            place.expected = token.is(")") ? Expected::connective : Expected::list_value;
            return;
        case Expected::connective:
            if (token.is_keyword("and") || token.is_keyword("or")) place = {};
            return;
    }
}

std::vector<std::string> candidates(const Place& place, const FilterNames& names) {
    switch (place.expected) {
        case Expected::name: {
            std::vector<std::string> all = filter_columns();
            for (const auto* more : {&names.sets, &names.task_types, &names.settings}) all.insert(all.end(), more->begin(), more->end());
            all.emplace_back("not");
            return all;
        }
        case Expected::comparator:
            return {"=", "!=", "<", "<=", ">", ">=", "~", "in", "not in"};
        case Expected::value:
        case Expected::list_value: {
            const std::string column = lowercase_ascii(place.column);
            if (column == "state") return {"queued", "running", "silent", "stopped", "failed", "dead", "done"};
            if (column == "archived" || column == "pinned" || column == "smoke") return {"true", "false"};
            const auto values = names.values.find(column);
            return values == names.values.end() ? std::vector<std::string>() : values->second;
        }
        case Expected::list:
            return {"("};
        case Expected::list_end:
            return {",", ")"};
        case Expected::connective:
            return {"and", "or"};
    }
    return {};
}

/// As it must be written: in quotes where it would not be one word.
std::string written(const std::string& word, bool value) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n\r(),=!<>~\"'") == std::string::npos;
    return !value || plain ? word : in_quotes(word);
}

}  // namespace

Completions completions(std::string_view text, std::size_t cursor, const FilterNames& names) {
    cursor = std::min(cursor, text.size());
    std::vector<FilterToken> tokens = filter_tokens(text.substr(0, cursor));
    tokens.pop_back();
    std::string typed;
    Completions found{cursor, cursor, {}};
    if (!tokens.empty() && tokens.back().end == cursor && tokens.back().kind != FilterToken::Kind::symbol &&
        (tokens.back().kind == FilterToken::Kind::word || tokens.back().open)) {
        typed = lowercase_ascii(tokens.back().text);
        found.begin = tokens.back().begin;
        tokens.pop_back();
    }
    Place place;
    for (const FilterToken& token : tokens) advance(place, token);
    const bool value = place.expected == Expected::value || place.expected == Expected::list_value;
    const bool name = place.expected == Expected::name;
    std::vector<std::string> inside;
    for (const std::string& word : candidates(place, names)) {
        const std::string lower = lowercase_ascii(word);
        if (lower.starts_with(typed))
            found.words.push_back(written(word, value || name));
        else if (lower.find(typed) != std::string::npos)
            inside.push_back(written(word, value || name));
    }
    found.words.insert(found.words.end(), inside.begin(), inside.end());
    return found;
}

}  // namespace faceter
