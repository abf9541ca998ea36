#include "common/error.h"
#include "compare/report.h"
#include "figure/escape.h"
#include "figure/svg.h"
#include "settings/yaml.h"

namespace faceter {
namespace {

constexpr std::string_view style = R"(
body { font-family: system-ui, "Noto Sans", "DejaVu Sans", sans-serif; color: #1b1f24; margin: 2em auto; max-width: 74em; padding: 0 1.5em; line-height: 1.45; }
h1 { font-size: 1.7em; margin-bottom: 0.2em; } h2 { font-size: 1.25em; margin-top: 2.2em; border-bottom: 1px solid #d0d4da; padding-bottom: 0.2em; }
h3 { font-size: 1.05em; margin-top: 1.6em; }
table { border-collapse: collapse; margin: 1em 0 0.4em 0; font-size: 0.9em; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.4em; }
thead { border-top: 2px solid #1b1f24; border-bottom: 1px solid #1b1f24; } tbody { border-bottom: 2px solid #1b1f24; }
th, td { padding: 0.2em 0.7em; vertical-align: top; } tr.rule td { border-top: 1px solid #9aa1ab; }
small { color: #59636e; } .note { color: #414a54; font-size: 0.85em; margin: 0.15em 0; } .wide { overflow-x: auto; }
img { max-width: 100%; margin: 0.6em 0; } pre { background: #f4f5f7; padding: 0.8em; font-size: 0.85em; overflow-x: auto; } summary { cursor: pointer; }
@media print { body { max-width: none; margin: 0; } h2 { break-after: avoid; } table, img { break-inside: avoid; } }
)";

std::string base64(std::string_view bytes) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const auto byte = [&](std::size_t at) {
            return at < bytes.size() ? static_cast<unsigned>(static_cast<unsigned char>(bytes[at])) : 0u;
        };
        const unsigned three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
        text += letters[three >> 18];
        text += letters[three >> 12 & 63];
        text += i + 1 < bytes.size() ? letters[three >> 6 & 63] : '=';
        text += i + 2 < bytes.size() ? letters[three & 63] : '=';
    }
    return text;
}

/// An image, not inline elements: ids inside one figure cannot meet another's.
std::string figure_html(const Figure& figure) {
    const SvgOptions size{figure.x.categories.size() > 8 ? 960.0 : 720.0, 420.0, false, true};
    return fmt::format("<p><img alt=\"{}\" width=\"{:.0f}\" height=\"{:.0f}\" src=\"data:image/svg+xml;base64,{}\"></p>\n",
                       escape_xml(figure.title.empty() ? figure.name : figure.title), size.width, svg_height(figure, size),
                       base64(figure_to_svg(figure, size)));
}

std::string table_html(const Table& table) { return "<div class=\"wide\">\n" + table_to_html(table) + "</div>\n"; }

std::string heading(int level, std::string_view text) { return fmt::format("<h{0}>{1}</h{0}>\n", level, escape_xml(text)); }

std::string list(const std::vector<std::string>& lines) {
    std::string out = "<ul>\n";
    for (const std::string& line : lines) out += "<li>" + escape_xml(line) + "</li>\n";
    return out + "</ul>\n";
}

std::string figures_html(const Report& report) {
    std::string out = heading(2, "Figures");
    for (const Figure& figure : report.figures) out += figure_html(figure);
    return out;
}

/// What analyses stored with the runs, by run.
std::string analyses_html(const Report& report) {
    std::string out;
    for (const ReportRun& run : report.runs) {
        if (run.figures.empty() && run.tables.empty()) continue;
        out += heading(3, run.info.shown_name());
        for (const Figure& figure : run.figures) out += figure_html(figure);
        for (const Table& table : run.tables) out += table_html(table);
    }
    return out.empty() ? out : heading(2, "Analyses") + out;
}

std::string settings_html(const Report& report) {
    std::string out;
    for (const ReportRun& run : report.runs)
        out += fmt::format("<details><summary>{}</summary>\n<pre>{}</pre>\n</details>\n", escape_xml(run.info.shown_name()),
                           escape_xml(to_yaml(run.info.settings)));
    return heading(2, "All settings") + out;
}

std::string warnings_html(const Report& report) {
    std::vector<std::string> lines = report.comparison.notes;
    for (const std::string& broken : report.broken) lines.push_back("could not be read: " + broken);
    for (const ReportRun& run : report.runs)
        for (const std::string& warning : run.warnings) lines.push_back(run.info.shown_name() + ": " + warning);
    return lines.empty() ? std::string() : heading(2, "Warnings") + list(lines);
}

std::string head(const Report& report) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri "
        "'none'; form-action 'none'\">\n"
        "<meta name=\"generator\" content=\"Faceter {}\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
        FACETER_VERSION, escape_xml(report.title), style);
}

std::string_view section_of(const Table& table) {
    if (table.name == "comparison") return "Scores";
    if (table.name == "significance") return "Tests";
    if (table.name == "runs") return "Runs";
    if (table.name == "settings") return "Settings";
    if (table.name == "machines") return "Machines";
    if (table.name == "data") return "Data";
    return "Inter-task similarity";
}

}  // namespace

std::string report_to_html(const Report& report) {
    std::string out = head(report) + heading(1, report.title);
    out += fmt::format("<p class=\"note\">Project {}, {} run{} in {} group{}; written {} by Faceter {}.</p>\n", escape_xml(report.project),
                       report.runs.size(), report.runs.size() == 1 ? "" : "s", report.comparison.groups.size(),
                       report.comparison.groups.size() == 1 ? "" : "s", escape_xml(report.created), FACETER_VERSION);
    if (!report.summary.sentences.empty()) out += heading(2, "Answers") + list(report.summary.sentences) + table_html(report.summary.table);
    std::string_view section;
    for (const Table& table : report_tables(report)) {
        if (section_of(table) == "Runs") out += figures_html(report) + analyses_html(report);
        if (section_of(table) != section) out += heading(2, section_of(table));
        section = section_of(table);
        out += table_html(table);
    }
    return out + settings_html(report) + warnings_html(report) + "</body>\n</html>\n";
}

}  // namespace faceter
