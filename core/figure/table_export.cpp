#include "figure/table_export.h"

#include <array>

#include "common/error.h"
#include "common/json_text.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::array<std::string_view, 6> format_names{"text", "csv", "tsv", "md", "latex", "json"};

}  // namespace

std::span<const std::string_view> table_format_names() { return format_names; }

TableFormat parse_table_format(std::string_view name) {
    for (std::size_t i = 0; i < format_names.size(); ++i)
        if (format_names[i] == name) return static_cast<TableFormat>(i);
    const std::vector<std::string> known(format_names.begin(), format_names.end());
    throw usage_error("unknown table format {}{}", faceter::quoted(name), suggestion(name, known));
}

std::string export_table(const Table& table, TableFormat format, const TextTableOptions& options) {
    switch (format) {
        case TableFormat::csv:
            return table_to_csv(table);
        case TableFormat::tsv:
            return table_to_tsv(table);
        case TableFormat::md:
            return table_to_markdown(table);
        case TableFormat::latex:
            return table_to_latex(table);
        case TableFormat::json:
            return json_text(table.to_json(), 2) + "\n";
        default:
            return table_to_text(table, options);
    }
}

}  // namespace faceter
