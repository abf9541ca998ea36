#include <utility>

#include "cli/checks.h"
#include "cli/comparison.h"
#include "cli/named_runs.h"
#include "common/abandoned.h"
#include "common/cancel.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "compare/bundle.h"
#include "compare/study_report.h"
#include "figure/svg.h"

namespace faceter::cli {
namespace {

struct BundleArguments : ComparisonOptions {
    std::string output, title;
    bool json = false;
};

bool is_study(const std::string& name) { return name.ends_with(".yaml") || name.ends_with(".yml"); }

/// Its runs in place of its name; the plan, the file and what came of it become files of the bundle.
std::vector<BundleFile> take_study(const Catalogue& catalogue, const std::string& file, BundleArguments& arguments) {
    const Study study = read_study(file);
    const fs::path project = open_project(arguments.project).folder();
    each_study_run(study, catalogue, project, false, [&](const StudyRun& run) {
        if (run.done) arguments.run_names.push_back(run.record.filename().string());
    });
    if (arguments.run_names.empty()) throw usage_error("{}: none of its runs is done in {}", file, project.string());
    const StudyReport report = report_study(study, catalogue, project, false);
    std::vector<BundleFile> files{{"study/study.yaml", read_file(file)},
                                  {"study/report.md", report.to_markdown()},
                                  {"study/report.json", report.to_json().dump(1, ' ', false, Json::error_handler_t::replace) + "\n"}};
    for (const Figure& figure : report.figures) files.emplace_back("study/" + safe_file_name(figure.name) + ".svg", figure_to_svg(figure));
    const fs::path decided = study_record_file(project, study.name);
    if (fs::exists(decided)) files.emplace_back("study/record.json", read_file(decided));
    return files;
}

int bundle(const Cli& cli, BundleArguments arguments) {
    if (!arguments.output.ends_with(".tar.gz") && !arguments.output.ends_with(".tgz"))
        throw usage_error("--output {}: a name that ends in .tar.gz is expected", printable(arguments.output));
    const fs::path output = absolute_path(arguments.output);
    if (fs::exists(output)) throw usage_error("{}: it is there already; give another name with --output", output.string());
    make_directories(output.parent_path());
    check_can_write(arguments.output);
    remove_abandoned(output);
    const Catalogue catalogue = load_catalogue(cli);
    std::vector<BundleFile> more;
    if (arguments.run_names.size() == 1 && is_study(arguments.run_names.front())) {
        const std::string file = std::exchange(arguments.run_names, {}).front();
        more = take_study(catalogue, file, arguments);
    }
    const Project project = open_project(arguments.project);
    Store store(project.folder());
    MadeComparison compared = make_comparison(project, store, arguments, "bundle");
    std::vector<RunDirectory> runs;
    for (const RunRow& row : compared.rows) runs.emplace_back(project.runs_folder() / row.info.id);
    const std::string title = arguments.title.empty() ? "Runs of " + project.folder().filename().string() : arguments.title;
    auto tests = similarity_tests(project, compared.comparison);
    Report report = gather_report(project, store, compared.rows, std::move(compared.comparison), std::move(compared.view), title);
    report.similarity = std::move(tests);
    install_stop_handlers();
    write_bundle(output, report, runs, catalogue, more);
    if (arguments.json)
        print_json({{"file", output.string()}, {"runs", runs.size()}, {"bytes", fs::file_size(output)}});
    else
        say(stdout, "{}\n", output.string());
    say(stderr, "{}, {}; elsewhere: faceter open {} --project DIR\n", counted_runs(runs.size()), format_bytes(fs::file_size(output)),
        typed(output.filename().string()));
    return 0;
}

struct OpenArguments {
    std::string file, project;
    bool json = false;
};

/// Folders that are made for it stay only where something was taken.
OpenedBundle open_into(const fs::path& folder, const std::string& file) {
    if (!fs::is_regular_file(file)) throw data_error("{}: no such file; 'faceter bundle' makes one", file);
    std::error_code ignored;
    std::vector<fs::path> made;
    for (const fs::path& part : {folder / "bundles", folder / "runs", folder})
        if (!fs::exists(part, ignored)) made.push_back(part);
    try {
        return open_bundle(file, Project(folder, true));
    } catch (const Error&) {
        for (const fs::path& part : made) fs::remove(part, ignored);  // only where it is empty
        throw;
    }
}

int open(const OpenArguments& arguments) {
    const OpenedBundle opened = open_into(arguments.project, arguments.file);
    const Project project(arguments.project, false);
    Store store(project.folder());
    take_in(store);
    if (arguments.json) {
        print_json({{"folder", opened.folder.string()}, {"runs", opened.runs}, {"known", opened.known}, {"differing", opened.differing}});
        return 0;
    }
    for (const std::string& id : opened.runs) say(stdout, "{}\n", project.find_run(id).info().shown_name());
    if (const std::size_t known = opened.known.size(); known > 0)
        say(stderr, "{} {} here already\n", counted_runs(known), known == 1 ? "was" : "were");
    for (const std::string& id : opened.differing)
        say(stderr, "warning: {} was here with other results than the bundle's, and stays as it was\n",
            project.find_run(id).info().shown_name());
    say(stderr, "report, figures and data cards: {}\nnext: faceter compare --project {}\n", opened.folder.string(),
        typed(project.folder().string()));
    return 0;
}

}  // namespace

void add_bundle_commands(Cli& cli) {
    auto bundled = std::make_shared<BundleArguments>();
    CLI::App* command = add_command(cli, cli.app, "bundle", "Pack runs or a study as a supplement to a paper",
                                    "  faceter bundle --project p --output supplement.tar.gz\n"
                                    "  faceter bundle MoTE-1 IC-1 --project p --output two.tar.gz --title 'Two encoders'\n"
                                    "  faceter bundle experiments/studies/mote.yaml --project p --output study.tar.gz\n"
                                    "Models, checkpoints and training data are not inside; of data there are counts, licences and hashes.",
                                    [&cli, bundled] { return bundle(cli, *bundled); });
    add_comparison_options(*command, *bundled, "bundle, or one study file");
    command->add_option("--output", bundled->output, "file to write, NAME.tar.gz")->required()->check(not_empty())->type_name("FILE");
    command->add_option("--title", bundled->title, "heading")->type_name("TEXT");
    command->add_flag("--json", bundled->json, "print as JSON");
    add_plugin_option(cli, *command);

    auto opened = std::make_shared<OpenArguments>();
    command = add_command(cli, cli.app, "open", "Take the runs of a bundle into a project",
                          "  faceter open supplement.tar.gz --project theirs\n  faceter compare --project theirs\n"
                          "Every file is held against its hash; links, and names that leave the folder, are refused.",
                          [opened] { return open(*opened); });
    command->add_option("BUNDLE", opened->file, "what faceter bundle wrote")->required()->check(not_empty())->type_name("FILE.tar.gz");
    add_new_project_option(*command, opened->project);
    command->add_flag("--json", opened->json, "print as JSON");
}

}  // namespace faceter::cli
