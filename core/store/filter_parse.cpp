#include <algorithm>
#include <cmath>
#include <limits>

#include "common/error.h"
#include "common/strings.h"
#include "store/filter_node.h"
#include "store/filter_tokens.h"
#include "store/series_value.h"

namespace faceter {
namespace {

constexpr int max_depth = 64;
constexpr std::size_t max_bytes = 10'000;

const std::vector<std::string>& state_names() {
    static const std::vector<std::string> names = {"queued", "running", "silent", "stopped", "failed", "dead", "done"};
    return names;
}

/// The expression on one line, and a caret below its byte `at`.
std::string shown(std::string_view text, std::size_t at) {
    constexpr std::size_t around = 60;
    const std::size_t begin = at > around ? at - around : 0;
    std::string line, caret;
    for (std::size_t i = begin; i < std::min(text.size(), at + around); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        line += c < 0x20 || c == 0x7F ? ' ' : text[i];
        if (i < at && (c & 0xC0) != 0x80) caret += ' ';
    }
    return "\n  " + line + "\n  " + caret + "^";
}

std::string unknown_name(const std::string& text, const FilterNames& names) {
    if (text.ends_with(":best"))
        return fmt::format("{} has no best: of this series less is neither better nor worse; write :min or :max", faceter::quoted(text));
    std::vector<std::string> known = filter_columns();
    for (const auto* more : {&names.sets, &names.task_types, &names.settings}) known.insert(known.end(), more->begin(), more->end());
    const auto near = nearest(text, known);
    return fmt::format("unknown name {}{} (known: columns as {}; data sets, task types and dotted settings of the project's runs)",
                       faceter::quoted(text), near ? fmt::format("; did you mean '{}'?", *near) : "", "variant, seed, state, tag, created");
}

/// A dotted key, or its last parts where only one key has them.
NamedColumn named_setting(const std::string& text, const FilterNames& names) {
    std::vector<std::string> ending;
    for (const std::string& key : names.settings) {
        if (key == text) return {FilterColumn::setting, text, {}};
        if (key.ends_with("." + text)) ending.push_back(key);
    }
    if (ending.size() == 1) return {FilterColumn::setting, ending.front(), {}};
    return {FilterColumn::setting, text,
            ending.empty()
                ? unknown_name(text, names)
                : fmt::format("{} stands for several settings: {}, {}; write more of it", faceter::quoted(text), ending[0], ending[1])};
}

class Parser {
  public:
    Parser(std::string_view text, const FilterNames& names) : text_(text), names_(names), tokens_(filter_tokens(text)) {}

    FilterNode whole() {
        FilterNode node = any();
        if (now().kind != FilterToken::Kind::end)
            fail(now(), fmt::format("{} is not expected here; join comparisons with 'and' or 'or'", faceter::quoted(now().text)));
        return node;
    }

  private:
    const FilterToken& now() const { return tokens_[at_]; }
    const FilterToken& next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
    [[noreturn]] void fail(const FilterToken& token, const std::string& what) const {
        std::string message = fmt::format("filter, column {}: {}{}", token.begin + 1, what, shown(text_, token.begin));
        if (!is_valid_utf8(message))
            for (char& c : message)
                if (static_cast<unsigned char>(c) >= 0x80) c = '?';
        throw Error(ExitCode::settings, message);
    }

    FilterNode joined(FilterNode::Kind kind, std::string_view word, FilterNode (Parser::*part)()) {
        FilterNode first = (this->*part)();
        if (!now().is_keyword(word)) return first;
        FilterNode node;
        node.kind = kind;
        node.parts.push_back(std::move(first));
        while (now().is_keyword(word)) {
            next();
            node.parts.push_back((this->*part)());
        }
        return node;
    }
    FilterNode any() { return joined(FilterNode::Kind::any, "or", &Parser::all); }
    FilterNode all() { return joined(FilterNode::Kind::all, "and", &Parser::unary); }

    FilterNode unary() {
        if (++depth_ > max_depth) fail(now(), fmt::format("nested more than {} deep", max_depth));
        FilterNode node;
        if (now().is_keyword("not")) {
            next();
            node.kind = FilterNode::Kind::negation;
            node.parts.push_back(unary());
        } else if (now().is("(")) {
            const FilterToken open = next();
            node = any();
            if (!now().is(")")) fail(open, "this parenthesis is not closed");
            next();
        } else {
            node = comparison();
        }
        --depth_;
        return node;
    }

    FilterNode comparison() {
        const FilterToken name = next();
        if (name.kind == FilterToken::Kind::end) fail(name, "a comparison is expected, as in variant = mote");
        if (name.kind == FilterToken::Kind::symbol) fail(name, fmt::format("a name is expected, not '{}'", name.text));
        FilterNode node = named(name);
        const bool flag =
            node.column == FilterColumn::archived || node.column == FilterColumn::pinned || node.column == FilterColumn::smoke;
        if (flag && (now().kind == FilterToken::Kind::end || now().is(")") || now().is_keyword("and") || now().is_keyword("or"))) {
            node.texts = {"true"};
            node.numbers = {1};
            return node;
        }
        if (now().is_keyword("in") || now().is_keyword("not")) {
            list(node);
        } else {
            node.op = comparator(name, node);
            value(node);
        }
        return node;
    }

    FilterNode named(const FilterToken& token) {
        const NamedColumn found = find_named_column(token.text, names_);
        if (!found.problem.empty()) fail(token, found.problem);
        FilterNode node;
        node.column = found.column;
        node.name = found.name;
        return node;
    }

    FilterOperator comparator(const FilterToken& name, const FilterNode& node) {
        static const std::pair<const char*, FilterOperator> operators[] = {
            {"=", FilterOperator::equal},          {"==", FilterOperator::equal},      {"!=", FilterOperator::unequal},
            {"<", FilterOperator::less},           {"<=", FilterOperator::less_equal}, {">", FilterOperator::greater},
            {">=", FilterOperator::greater_equal}, {"~", FilterOperator::contains},    {"!~", FilterOperator::contains_not}};
        const FilterToken token = next();
        for (const auto& [text, op] : operators) {
            if (!token.is(text)) continue;
            const bool by_text = op == FilterOperator::contains || op == FilterOperator::contains_not;
            if (by_text && is_number(node)) fail(token, fmt::format("'{}' is a number; compare it with = != < <= > >=", name.text));
            return op;
        }
        fail(token, fmt::format("after {} one of = != < <= > >= ~ (contains) or 'in (...)' is expected", faceter::quoted(name.text)));
    }

    /// "in (a, b)" or "not in (a, b)".
    void list(FilterNode& node) {
        node.op = now().is_keyword("not") ? FilterOperator::unequal : FilterOperator::equal;
        if (next().is_keyword("not") && !next().is_keyword("in")) fail(tokens_[at_ - 1], "'in' is expected after 'not'");
        const FilterToken open = next();
        if (!open.is("(")) fail(open, "a list in parentheses is expected, as in variant in (em, ic)");
        for (;;) {
            value(node);
            const FilterToken after = next();
            if (after.is(")")) return;
            if (!after.is(",")) fail(after.kind == FilterToken::Kind::end ? open : after, "',' or ')' is expected in a list");
        }
    }

    static bool is_score(const FilterNode& node) {
        return node.column == FilterColumn::set || node.column == FilterColumn::task_type || node.column == FilterColumn::score;
    }
    static bool is_number(const FilterNode& node) {
        return is_score(node) || (node.column >= FilterColumn::seed && node.column <= FilterColumn::smoke);
    }

    void value(FilterNode& node) {
        const FilterToken token = next();
        if (token.kind == FilterToken::Kind::end || token.kind == FilterToken::Kind::symbol) fail(token, "a value is expected here");
        if (token.open) fail(token, "this quote is not closed");
        const std::string lower = lowercase_ascii(token.text);
        double number = parse_double(lower).value_or(std::numeric_limits<double>::quiet_NaN());
        if (node.column >= FilterColumn::archived && node.column <= FilterColumn::smoke && (lower == "true" || lower == "false"))
            number = lower == "true";
        if (is_score(node)) {
            const auto percent = lower.ends_with('%') ? parse_double(std::string_view(lower).substr(0, lower.size() - 1)) : std::nullopt;
            number = percent ? *percent : std::abs(number) <= 1 ? number * 100 : number;
        }
        if (is_number(node) && std::isnan(number))
            fail(token, fmt::format("{} is not a number, which is expected here", faceter::quoted(token.text)));
        if (node.column == FilterColumn::state && (node.op == FilterOperator::equal || node.op == FilterOperator::unequal) &&
            std::find(state_names().begin(), state_names().end(), lower) == state_names().end())
            fail(token, fmt::format("unknown state {}{}", faceter::quoted(token.text), suggestion(lower, state_names())));
        if (node.column == FilterColumn::created && (lower.size() < 4 || lower.find_first_not_of("0123456789-:.tz") != std::string::npos))
            fail(token, fmt::format("{} is not a time; write 2026, 2026-11, 2026-11-01 or 2026-11-01T09:30", faceter::quoted(token.text)));
        node.texts.push_back(lower);
        node.numbers.push_back(number);
    }

    std::string_view text_;
    const FilterNames& names_;
    std::vector<FilterToken> tokens_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

NamedColumn find_named_column(const std::string& text, const FilterNames& names) {
    const auto has = [&](const std::vector<std::string>& list) { return std::find(list.begin(), list.end(), text) != list.end(); };
    if (const FilterColumn* column = find_filter_column(lowercase_ascii(text))) return {*column, text, {}};
    if (has(names.sets)) return {FilterColumn::set, text, {}};
    if (has(names.task_types)) return {FilterColumn::task_type, text, {}};
    if (SeriesValue::parse(text)) return {FilterColumn::series, text, {}};
    return named_setting(text, names);
}

Filter Filter::parse(std::string_view text, const FilterNames& names) {
    if (text.size() > max_bytes) throw settings_error("filter: {} bytes long; at most {} are read", text.size(), max_bytes);
    Filter filter;
    if (trim(text).empty()) return filter;
    filter.root_ = std::make_shared<const FilterNode>(Parser(text, names).whole());
    return filter;
}

}  // namespace faceter
