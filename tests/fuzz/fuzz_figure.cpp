#include "figure/svg.h"
#include "figure/table_export.h"
#include "fuzz.h"

using namespace faceter;

/// A figure or a table of a run's folder, which may come from elsewhere: drawn and exported, with nothing in it taken for markup.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(data, size, [](std::string_view text) {
        const Json json = parse_json(text, "input.json");
        if (json.is_object() && json.contains("columns")) {
            const Table table = Table::from_json(json, "input.json");
            for (const TableFormat format : {TableFormat::text, TableFormat::csv, TableFormat::tsv, TableFormat::md, TableFormat::latex})
                FUZZ_CHECK(export_table(table, format).find('\x1b') == std::string::npos);
            table_to_html(table);
            return;
        }
        FUZZ_CHECK(figure_to_svg(Figure::from_json(json, "input.json")).find("<script") == std::string::npos);
    });
}
