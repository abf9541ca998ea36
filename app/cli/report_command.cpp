#include <set>

#include "cli/checks.h"
#include "cli/comparison.h"
#include "cli/named_runs.h"
#include "common/abandoned.h"
#include "common/error.h"
#include "common/json_text.h"
#include "common/printable.h"
#include "common/strings.h"
#include "compare/report.h"
#include "data/child_process.h"
#include "experiment/manifest.h"

namespace faceter::cli {
namespace {

struct ReportOptions : ComparisonOptions {
    std::string title, output, pdf;
    bool json = false;
};

/// Beside this program; FACETER_PDF names another.
fs::path pdf_program() {
    if (const char* named = std::getenv("FACETER_PDF"); named && *named) return named;
    const fs::path beside = program_folder() / "faceter-pdf";
    if (!fs::exists(beside))
        throw failure(
            "{}: no such program; it makes the PDF and comes with the workbench. Without it, print the HTML report from a browser",
            beside.string());
    return beside;
}

void write_pdf(const fs::path& html, const std::string& pdf, const std::string& title) {
    const ChildResult result =
        run_child({pdf_program().string(), html.string(), absolute_path(pdf).string(), title}, std::chrono::seconds(300), 1 << 20);
    if (result.exit_code != 0)
        throw failure("{}: no PDF was made: {}", pdf, result.last_lines.empty() ? "faceter-pdf did not say why" : result.last_lines);
}

std::string joined_json(const std::vector<Table>& tables) {
    Json json = Json::object();
    for (const Table& table : tables)
        json[json.contains(table.name) ? fmt::format("{}-{}", table.name, json.size()) : table.name] = table.to_json();
    return json_text(json, 1) + "\n";
}

/// In small letters: "R.CSV" is a table as "r.csv" is.
std::string ending_of(const fs::path& file) { return lowercase_ascii(file.extension().string()); }

/// What can be known to fail is said before the work, not after.
void check_outputs(const ReportOptions& options) {
    static const std::set<std::string> endings{".html", ".htm", ".tex", ".md", ".csv", ".json"};
    if (!options.output.empty() && !endings.contains(ending_of(options.output)))
        throw usage_error("--output {}: a name that ends in .html, .tex, .md, .csv or .json is expected{}", options.output,
                          ending_of(options.output) == ".pdf" ? "; --pdf FILE writes a PDF" : "");
    if (!options.output.empty()) check_can_write(options.output);
    if (options.pdf.empty()) return;
    check_can_write(options.pdf);
    pdf_program();
}

/// By the name's ending.
std::string report_as(const Report& report, const fs::path& output) {
    const std::string ending = ending_of(output);
    if (ending == ".html" || ending == ".htm") return report_to_html(report);
    const std::vector<Table> tables = report_tables(report);
    if (ending == ".tex") return latex_document(tables);
    if (ending == ".json") return joined_json(tables);
    if (ending == ".csv") {  // programs read one table of it
        say(stderr, "note: {} has the scores; tests, settings, machines and data are in a report as .html, .md, .tex or .json\n",
            output.string());
        return table_to_csv(tables.front());
    }
    std::string out = "# " + report.title + "\n";
    for (const Table& table : tables) out += "\n" + table_to_markdown(table);
    return out;
}

/// Runs of the project that a report on all of it has nothing of: they are named, for "all" would be taken at its word.
std::vector<std::string> without_results(Store& store) {
    constexpr std::size_t most_named = 10;
    std::vector<std::string> notes;
    std::size_t more = 0;
    for (const RunRow& row : store.runs()) {
        if (row.archived || row.info.smoke || row.num_scores > 0) continue;
        if (notes.size() < most_named)
            notes.push_back(fmt::format("{} has no results yet ({})", row.info.shown_name(), run_phase_name(row.state.phase)));
        else
            ++more;
    }
    if (more > 0) notes.push_back(fmt::format("{} further runs have no results yet", more));
    return notes;
}

/// null: was not asked for.
Json written_json(const ReportOptions& options, const Project& project, const std::vector<RunRow>& rows) {
    const auto path = [](const std::string& file) { return file.empty() ? Json() : Json(absolute_path(file).string()); };
    std::vector<RunDirectory> runs;
    for (const RunRow& row : rows) runs.push_back(project.find_run(row.info.id));
    Json json = runs_json(runs);
    json["output"] = path(options.output);
    json["pdf"] = path(options.pdf);
    return json;
}

int report(const ReportOptions& options) {
    const Project project = open_project(options.project);
    check_outputs(options);
    Store store(project.folder());
    MadeComparison compared = make_comparison(project, store, options, "report");
    if (options.run_names.empty() && options.where.empty())
        for (std::string& note : without_results(store)) compared.comparison.notes.push_back(std::move(note));
    auto tests = similarity_tests(project, compared.comparison);
    const std::string title = options.title.empty() ? "Report on " + project.folder().filename().string() : options.title;
    Report made = gather_report(project, store, compared.rows, std::move(compared.comparison), std::move(compared.view), title);
    made.similarity = std::move(tests);
    if (!options.output.empty()) {
        remove_abandoned(options.output);
        write_file_atomic(options.output, report_as(made, options.output));
        if (!options.json) fmt::print("{}\n", options.output);
    }
    if (!options.pdf.empty()) {
        const TemporaryDirectory folder;
        write_file_atomic(folder.path() / "report.html", report_to_html(made));
        write_pdf(folder.path() / "report.html", options.pdf, title);
        if (!options.json) fmt::print("{}\n", options.pdf);
    }
    if (options.json) print_json(written_json(options, project, compared.rows));
    return 0;
}

}  // namespace

void add_report_command(Cli& cli) {
    auto options = std::make_shared<ReportOptions>();
    CLI::App* command = add_command(cli, cli.app, "report", "Write a report on runs: tables, tests, figures, settings, data",
                                    "  faceter report --project p --output report.html --pdf report.pdf\n  faceter report IC MoTE "
                                    "--baseline IC --output supplement.tex",
                                    [options] {
                                        if (options->output.empty() && options->pdf.empty())
                                            throw usage_error("give --output FILE, or --pdf FILE, or both");
                                        return report(*options);
                                    });
    add_comparison_options(*command, *options, "report on");
    command
        ->add_option("--output", options->output,
                     "file to write; its ending says what: .html, .tex (booktabs), .md, .csv (the scores alone), .json")
        ->type_name("FILE");
    command->add_option("--pdf", options->pdf, "the same as the HTML page, as a PDF")->type_name("FILE");
    command->add_option("--title", options->title, "heading")->type_name("TEXT");
    command->add_flag("--json", options->json, "print as JSON what was written");
}

}  // namespace faceter::cli
