#include "figure/format.h"

#include <fmt/format.h>

#include <cmath>

#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::string_view thin_space = "\u2009";
constexpr double rounding_noise = 1e-12;  // means of equal scores differ by less

/// Groups of three digits from five digits on: 4096, 62 431.
std::string format_count(double value) {
    const std::string digits = fmt::format("{:.0f}", std::abs(value));
    std::string text = value <= -0.5 ? "-" : "";
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && digits.size() > 4 && (digits.size() - i) % 3 == 0) text += thin_space;
        text += digits[i];
    }
    return text;
}

/// "-0.00" is written "0.00", and "1e+308" without its 309 digits.
std::string format_fixed(double value, int decimals) {
    if (std::abs(value) >= 1e15) return fmt::format("{:.6g}", value);
    std::string text = fmt::format("{:.{}f}", value, decimals);
    if (text.front() == '-' && text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
    return text;
}

Column column_of(Column column, const Cell& cell) {
    if (cell.decimals >= 0) column.decimals = cell.decimals;
    return column;
}

}  // namespace

std::string format_delta(double value, int decimals) {
    const std::string text = format_fixed(value, decimals);
    if (text.find_first_of("123456789") == std::string::npos)
        return std::abs(value) > rounding_noise ? fmt::format("{:+.2g}", value) : text;
    return text.front() == '-' ? text : "+" + text;
}

std::string format_p(double p) {
    if (std::isnan(p)) return {};
    return p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", p);
}

std::string format_value(const Column& column, double value) {
    if (std::isnan(value)) return {};
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    switch (column.kind) {
        case ColumnKind::p_value:
            return format_p(value);
        case ColumnKind::count:
            return format_count(value);
        case ColumnKind::delta:
            return format_delta(value, column.decimals);
        case ColumnKind::duration:
            return format_duration(value);
        case ColumnKind::bytes:
            return value < 0 ? format_fixed(value, 0) : format_bytes(static_cast<std::uint64_t>(std::min(value, 1.8e19)));
        default:
            return format_fixed(value, column.decimals);
    }
}

std::string format_value(const Column& column, const Cell& cell) { return format_value(column_of(column, cell), cell.value); }

std::string format_spread(const Column& column, const Cell& cell) {
    Column plain = column_of(column, cell);
    if (plain.kind == ColumnKind::delta || plain.kind == ColumnKind::p_value) plain.kind = ColumnKind::number;
    return format_value(plain, cell.spread);
}

std::string column_heading(const Column& column) {
    return column.unit.empty() ? column.name : fmt::format("{} ({})", column.name, column.unit);
}

std::vector<std::string> table_notes(const Table& table, std::string_view plus_minus) {
    std::vector<std::string> notes;
    bool has_spread = false;
    for (const Row& row : table.rows)
        for (const Cell& cell : row.cells) has_spread |= cell.kind == Cell::Kind::number && !std::isnan(cell.spread);
    const auto n = table.common_n();
    if (has_spread) notes.push_back(fmt::format("mean {} standard deviation{}", plus_minus, n > 0 ? fmt::format(", n = {}", n) : ""));
    if (table.has_stars()) notes.push_back("* p < 0.05, ** p < 0.01, *** p < 0.001");
    notes.insert(notes.end(), table.footnotes.begin(), table.footnotes.end());
    return notes;
}

}  // namespace faceter
