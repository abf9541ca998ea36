#include "cli/commands.h"
#include "common/error.h"
#include "common/printable.h"
#include "compare/mteb_results.h"

namespace faceter::cli {
namespace {

struct ImportOptions {
    std::string project, folder;
    bool json = false;
};

int import_mteb(const ImportOptions& options) {
    const std::vector<ImportedModel> models = read_mteb_results(options.folder);  // all is read and checked before anything is written
    const Project project(options.project, true);
    for (const ImportedModel& model : models)
        for (const std::string& note : model.notes) say(stderr, "warning: {}\n", note);
    const std::vector<ImportedRun> runs = import_models(project, options.folder, models);
    take_in(project);
    if (options.json) {
        Json list = Json::array();
        for (const ImportedRun& run : runs)
            list.push_back({{"id", run.id}, {"model", run.model}, {"results", run.num_results}, {"new", run.is_new}});
        print_json({{"runs", list}});
        return 0;
    }
    for (const ImportedRun& run : runs)
        say(stdout, "{}  {}, {} data set{}{}\n", RunDirectory(project.runs_folder() / run.id).info().shown_name(), run.model,
            run.num_results, run.num_results == 1 ? "" : "s", run.is_new ? "" : " (was there already)");
    return 0;
}

}  // namespace

void add_import_commands(Cli& cli) {
    auto options = std::make_shared<ImportOptions>();
    CLI::App* group = add_command_group(cli, "import", "Take results from elsewhere into a project, as read-only runs");
    CLI::App* mteb = add_command(cli, *group, "mteb", "Result files of the mteb package: a run for each model",
                                 "  faceter import mteb results/ --project p && faceter compare --project p",
                                 [options] { return import_mteb(*options); });
    mteb->add_option("DIR", options->folder, "folder with <model>/<revision>/<task>.json, or one model's")->required()->type_name("DIR");
    add_new_project_option(*mteb, options->project);
    mteb->add_flag("--json", options->json, "print as JSON");
}

}  // namespace faceter::cli
