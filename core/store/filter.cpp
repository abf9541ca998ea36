#include "store/filter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "common/strings.h"
#include "store/filter_node.h"
#include "store/series_value.h"

namespace faceter {
namespace {

constexpr std::pair<const char*, FilterColumn> columns[] = {
    {"run", FilterColumn::run},           {"name", FilterColumn::run},      {"experiment", FilterColumn::experiment},
    {"variant", FilterColumn::variant},   {"method", FilterColumn::method}, {"plugin", FilterColumn::plugin},
    {"point", FilterColumn::point},       {"seed", FilterColumn::seed},     {"state", FilterColumn::state},
    {"created", FilterColumn::created},   {"tag", FilterColumn::tag},       {"note", FilterColumn::note},
    {"archived", FilterColumn::archived}, {"pinned", FilterColumn::pinned}, {"smoke", FilterColumn::smoke},
    {"step", FilterColumn::step},         {"steps", FilterColumn::steps},   {"loss", FilterColumn::loss},
    {"score", FilterColumn::score},       {"time", FilterColumn::time},     {"attempts", FilterColumn::attempts}};

template <typename T>
bool ordered(FilterOperator op, const T& a, const T& b) {
    switch (op) {
        case FilterOperator::equal:
            return a == b;
        case FilterOperator::unequal:
            return a != b;
        case FilterOperator::less:
            return a < b;
        case FilterOperator::less_equal:
            return a <= b;
        case FilterOperator::greater:
            return a > b;
        case FilterOperator::greater_equal:
            return a >= b;
        default:
            return false;
    }
}

bool is_negative(FilterOperator op) { return op == FilterOperator::unequal || op == FilterOperator::contains_not; }

/// Of a comparison with several values: any of them, or for != none.
template <typename Test>
bool any_or_none(const FilterNode& node, std::size_t count, const Test& test) {
    for (std::size_t i = 0; i < count; ++i)
        if (test(i) != is_negative(node.op)) return !is_negative(node.op);
    return is_negative(node.op);
}

bool text_matches(const FilterNode& node, std::string_view text) {
    const std::string lower = lowercase_ascii(text);
    return any_or_none(node, node.texts.size(), [&](std::size_t i) {
        if (node.op == FilterOperator::contains || node.op == FilterOperator::contains_not)
            return (lower.find(node.texts[i]) != std::string::npos) == (node.op == FilterOperator::contains);
        return ordered(node.op, lower, node.texts[i]);
    });
}

bool number_matches(const FilterNode& node, double number) {
    if (std::isnan(number)) return is_negative(node.op);
    return any_or_none(node, node.numbers.size(), [&](std::size_t i) { return ordered(node.op, number, node.numbers[i]); });
}

bool time_matches(const FilterNode& node, std::string_view created) {
    return any_or_none(node, node.texts.size(), [&](std::size_t i) {
        return ordered(node.op, lowercase_ascii(created.substr(0, node.texts[i].size())), node.texts[i]);
    });
}

/// Some of several texts: a run's tags, its two names.
bool texts_match(FilterNode node, const std::vector<std::string>& texts) {
    const bool negative = is_negative(node.op);
    if (negative) node.op = node.op == FilterOperator::unequal ? FilterOperator::equal : FilterOperator::contains;
    return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) { return text_matches(node, text); }) != negative;
}

/// As numbers where both are; else as texts, which are equal or not but neither less nor greater.
bool setting_matches(const FilterNode& node, const std::string* value) {
    if (!value) return is_negative(node.op);
    const bool by_text = node.op == FilterOperator::contains || node.op == FilterOperator::contains_not;
    const std::optional<double> number = parse_double(*value);
    if (by_text || !number || std::any_of(node.numbers.begin(), node.numbers.end(), [](double one) { return std::isnan(one); }))
        return (by_text || node.op == FilterOperator::equal || node.op == FilterOperator::unequal) && text_matches(node, *value);
    return number_matches(node, *number);
}

}  // namespace

double number_of_column(FilterColumn column, const RunRow& row) {
    switch (column) {
        case FilterColumn::seed:
            return static_cast<double>(row.info.seed);
        case FilterColumn::step:
            return static_cast<double>(row.state.step);
        case FilterColumn::steps:
            return static_cast<double>(row.state.total_steps);
        case FilterColumn::loss:
            return row.state.loss;
        case FilterColumn::score:
            return row.mean_score;
        case FilterColumn::time:
            return row.state.active_s;
        case FilterColumn::attempts:
            return row.state.attempts;
        case FilterColumn::archived:
            return row.archived;
        case FilterColumn::pinned:
            return row.pinned;
        case FilterColumn::smoke:
            return row.info.smoke;
        default:
            return std::numeric_limits<double>::quiet_NaN();
    }
}

std::string text_of_column(FilterColumn column, const RunRow& row) {
    switch (column) {
        case FilterColumn::run:
            return row.info.shown_name();
        case FilterColumn::experiment:
            return row.info.experiment;
        case FilterColumn::variant:
            return row.info.variant;
        case FilterColumn::method:
            return row.info.method;
        case FilterColumn::plugin:
            return row.info.plugin;
        case FilterColumn::point:
            return row.info.point;
        case FilterColumn::note:
            return row.note;
        case FilterColumn::state:
            return std::string(run_phase_name(row.state.phase));
        case FilterColumn::created:
            return row.info.created;
        case FilterColumn::tag:
            return join(row.tags, ", ");
        default:
            return {};
    }
}

namespace {

bool column_matches(const FilterNode& node, const RunRow& row) {
    switch (node.column) {
        case FilterColumn::run:
            return texts_match(node, {row.info.id, row.info.name});
        case FilterColumn::created:
            return time_matches(node, row.info.created);
        case FilterColumn::tag:
            return texts_match(node, row.tags);
        default:
            return is_text_column(node.column) ? text_matches(node, text_of_column(node.column, row))
                                               : number_matches(node, number_of_column(node.column, row));
    }
}

void collect_names(const FilterNode& node, FilterColumn column, std::set<std::string>& found) {
    if (node.kind == FilterNode::Kind::comparison && node.column == column) found.insert(node.name);
    for (const FilterNode& part : node.parts) collect_names(part, column, found);
}

}  // namespace

const std::vector<std::string>& filter_columns() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const auto& [name, column] : columns) all.emplace_back(name);
        return all;
    }();
    return names;
}

const FilterColumn* find_filter_column(std::string_view name) {
    for (const auto& [known, column] : columns)
        if (name == known) return &column;
    return nullptr;
}

bool FilterNode::matches(const FilterData& data, std::size_t row) const {
    const auto does = [&](const FilterNode& part) { return part.matches(data, row); };
    switch (kind) {
        case Kind::all:
            return std::all_of(parts.begin(), parts.end(), does);
        case Kind::any:
            return std::any_of(parts.begin(), parts.end(), does);
        case Kind::negation:
            return !does(parts.front());
        case Kind::comparison:
            break;
    }
    switch (column) {
        case FilterColumn::set:
            return number_matches(*this, data.score(row, name));
        case FilterColumn::task_type:
            return number_matches(*this, data.type_mean(row, name));
        case FilterColumn::setting:
            return setting_matches(*this, data.setting(row, name));
        case FilterColumn::series:
            return number_matches(*this, data.series(row, name));
        default:
            return column_matches(*this, data.rows()[row]);
    }
}

std::vector<bool> Filter::matches(const FilterData& data) const {
    std::vector<bool> flags(data.rows().size(), true);
    if (root_)
        for (std::size_t row = 0; row < flags.size(); ++row) flags[row] = root_->matches(data, row);
    return flags;
}

std::vector<std::string> Filter::settings() const {
    std::set<std::string> keys;
    if (root_) collect_names(*root_, FilterColumn::setting, keys);
    return {keys.begin(), keys.end()};
}

std::vector<std::string> Filter::series() const {
    std::set<std::string> values;
    if (root_) collect_names(*root_, FilterColumn::series, values);
    return {values.begin(), values.end()};
}

bool Filter::asks_for_archived() const {
    std::set<std::string> names;
    if (root_) collect_names(*root_, FilterColumn::archived, names);
    return !names.empty();
}

FilterData::FilterData(Store& store, const std::vector<std::string>& settings, const std::vector<std::string>& series,
                       const std::vector<RunRow>& rows)
    : rows_(rows), scores_(store.run_scores()) {
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < scores_.runs.size(); ++i) places.emplace(scores_.runs[i], i);
    for (const RunRow& row : rows) {
        const auto place = places.find(row.info.id);
        score_rows_.push_back(place == places.end() ? nowhere : place->second);
    }
    for (const std::string& key : settings) settings_[key] = store.setting(key);
    for (const std::string& name : series) series_[name] = SeriesValue::parse(name).value().of(store, rows);
}

double FilterData::score(std::size_t row, const std::string& set) const {
    if (score_rows_[row] == nowhere) return std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i < scores_.sets.size(); ++i)
        if (scores_.sets[i].name == set && !std::isnan(scores_.at(score_rows_[row], i))) return scores_.at(score_rows_[row], i);
    return std::numeric_limits<double>::quiet_NaN();
}

double FilterData::type_mean(std::size_t row, const std::string& task_type) const {
    return score_rows_[row] == nowhere ? std::numeric_limits<double>::quiet_NaN() : scores_.type_mean(score_rows_[row], task_type);
}

double FilterData::series(std::size_t row, const std::string& value) const { return series_.at(value)[row]; }

const std::string* FilterData::setting(std::size_t row, const std::string& key) const {
    const auto values = settings_.find(key);
    if (values == settings_.end()) return nullptr;
    const auto value = values->second.find(rows_[row].info.id);
    return value == values->second.end() ? nullptr : &value->second;
}

FilterNames filter_names(Store& store) {
    FilterNames names;
    const RunScores scores = store.run_scores();
    std::set<std::string> sets;
    for (const RunScores::Set& set : scores.sets) sets.insert(set.name);
    names.sets.assign(sets.begin(), sets.end());
    names.task_types = scores.task_types;
    names.settings = store.setting_keys();
    std::map<std::string, std::set<std::string>> values;
    for (const RunRow& row : store.runs()) {
        values["variant"].insert(row.info.variant);
        values["experiment"].insert(row.info.experiment);
        values["method"].insert(row.info.method);
        values["point"].insert(row.info.point);
        values["tag"].insert(row.tags.begin(), row.tags.end());
    }
    for (auto& [column, found] : values) names.values[column].assign(found.begin(), found.end());
    return names;
}

bool asks_for_archived(Store& store, std::string_view expression) {
    return !expression.empty() && Filter::parse(expression, filter_names(store)).asks_for_archived();
}

void filter_rows(Store& store, std::string_view expression, std::vector<RunRow>& rows) {
    const Filter filter = Filter::parse(expression, filter_names(store));
    const std::vector<bool> kept = filter.matches(FilterData(store, filter, rows));
    std::size_t next = 0;
    std::erase_if(rows, [&](const RunRow&) { return !kept[next++]; });
}

}  // namespace faceter
