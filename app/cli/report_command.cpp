#include <set>

#include "cli/commands.h"
#include "common/error.h"
#include "data/child_process.h"
#include "run/filter.h"
#include "run/manifest.h"
#include "run/report.h"

namespace faceter::cli {
namespace {

struct ReportOptions {
    std::string project, title, baseline, test = "paired-sets", correction = "holm", output, pdf, where;
    std::vector<std::string> run_names;
};

/// Beside this program; FACETER_PDF names another.
fs::path pdf_program() {
    if (const char* named = std::getenv("FACETER_PDF"); named && *named) return named;
    const fs::path beside = program_folder() / "faceter-pdf";
    if (!fs::exists(beside))
        throw failure("{}: no such program; it makes the PDF and comes with the workbench. Without it, print the HTML report from a browser", beside.string());
    return beside;
}

void write_pdf(const fs::path& html, const std::string& pdf, const std::string& title) {
    const ChildResult result = run_child({pdf_program().string(), html.string(), absolute_path(pdf).string(), title}, std::chrono::seconds(300), 1 << 20);
    if (result.exit_code != 0) throw failure("{}: no PDF was made: {}", pdf, result.last_lines.empty() ? "faceter-pdf did not say why" : result.last_lines);
    fmt::print("{}\n", pdf);
}

std::string joined_json(const std::vector<Table>& tables) {
    Json json = Json::object();
    for (const Table& table : tables) json[json.contains(table.name) ? fmt::format("{}-{}", table.name, json.size()) : table.name] = table.to_json();
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// By the name's ending: .html, .tex, .md, .csv, .json.
std::string report_as(const Report& report, const fs::path& output) {
    const std::string ending = output.extension().string();
    if (ending == ".html" || ending == ".htm") return report_to_html(report);
    const std::vector<Table> tables = report_tables(report);
    if (ending == ".tex") return latex_document(tables);
    if (ending == ".json") return joined_json(tables);
    if (ending != ".md" && ending != ".csv")
        throw usage_error("--output {}: a name that ends in .html, .tex, .md, .csv or .json is expected", output.string());
    std::string out = ending == ".md" ? "# " + report.title + "\n" : "";
    for (const Table& table : tables) out += (out.empty() ? "" : "\n") + (ending == ".md" ? table_to_markdown(table) : table_to_csv(table));
    return out;
}

std::vector<RunRow> rows_of(Store& store, const Project& project, const ReportOptions& options) {
    std::vector<RunRow> rows;
    std::set<std::string> wanted;
    for (const std::string& name : options.run_names) wanted.insert(project.find_run(name).info().id);
    for (RunRow& row : store.runs())
        if (wanted.empty() ? !row.archived && row.num_scores > 0 : wanted.contains(row.info.id)) rows.push_back(std::move(row));
    if (!options.where.empty()) filter_rows(store, options.where, rows);
    return rows;
}

std::vector<SimilarityComparison> similarities(const Project& project, const Comparison& comparison) {
    std::vector<SimilarityComparison> tests;
    const RunGroup* first = nullptr;
    for (const RunGroup& group : comparison.groups) {
        const RunDirectory run(project.runs_folder() / group.runs.front().info.id);
        if (group.method == "start" || !fs::exists(run.results() / "inter_task_similarity.json")) continue;
        if (first)
            tests.push_back(compare_similarity(group.name, read_similarity(run), first->name,
                                               read_similarity(RunDirectory(project.runs_folder() / first->runs.front().info.id)), Alternative::less));
        else
            first = &group;
    }
    return tests;
}

int report(const ReportOptions& options) {
    const Project project = open_project(options.project);
    if (!options.pdf.empty()) pdf_program();   // said before the work, not after
    Store store(project.folder());
    for (const std::string& warning : store.ingest_all()) fmt::print(stderr, "warning: {}\n", warning);
    const std::vector<RunRow> rows = rows_of(store, project, options);
    Comparison comparison = compare_runs(store, rows, options.baseline.empty() ? "" : project.find_run(options.baseline).info().id);
    if (comparison.groups.empty()) throw usage_error("{}: no run with results to report; see faceter list", project.folder().string());
    CompareChoice choice;
    choice.test = parse_compare_test(options.test);
    choice.correction = parse_correction(options.correction);
    const ExampleScores examples = compare_test_info(choice.test).needs_examples ? read_examples(store, comparison) : ExampleScores{};
    ComparisonView view = view_comparison(comparison, examples, choice);
    auto tests = similarities(project, comparison);
    const std::string title = options.title.empty() ? "Report on " + project.folder().filename().string() : options.title;
    Report made = gather_report(project, store, rows, std::move(comparison), std::move(view), title);
    made.similarity = std::move(tests);
    if (!options.output.empty()) {
        write_file_atomic(options.output, report_as(made, options.output));
        fmt::print("{}\n", options.output);
    }
    if (options.pdf.empty()) return 0;
    const TemporaryDirectory folder;
    write_file_atomic(folder.path() / "report.html", report_to_html(made));
    write_pdf(folder.path() / "report.html", options.pdf, title);
    return 0;
}

}  // namespace

void add_report_command(Cli& cli) {
    auto options = std::make_shared<ReportOptions>();
    CLI::App* command = add_command(cli, cli.app, "report", "Write a report on runs: tables, tests, figures, settings, data",
                                    "  faceter report --project p --output report.html --pdf report.pdf\n  faceter report IC MoTE --baseline IC --output supplement.tex",
                                    [options] {
                                        if (options->output.empty() && options->pdf.empty()) throw usage_error("give --output FILE, or --pdf FILE, or both");
                                        return report(*options);
                                    });
    command->add_option("RUN", options->run_names, "runs to report on; default: all of the project");
    add_project_option(*command, options->project);
    command->add_option("--output", options->output, "file to write; its ending says what: .html, .tex (booktabs), .md, .csv, .json")->type_name("FILE");
    command->add_option("--pdf", options->pdf, "the same as the HTML page, as a PDF")->type_name("FILE");
    command->add_option("--title", options->title, "heading")->type_name("TEXT");
    command->add_option("--baseline", options->baseline, "the run that the others are tested against; default: the untrained start model")->type_name("RUN");
    std::vector<std::string> tests;
    for (const CompareTestInfo& info : compare_tests()) tests.emplace_back(info.name);
    command->add_option("--test", options->test, "what the stars rest on")->check(CLI::IsMember(tests).description(""))->type_name("NAME")->capture_default_str();
    command->add_option("--correction", options->correction, "holm or bh")->check(CLI::IsMember({"holm", "bh"}))->type_name("NAME")->capture_default_str();
    add_where_option(*command, options->where);
}

}  // namespace faceter::cli
