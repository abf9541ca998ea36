#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "checkpoint/model_folder.h"
#include "cli/commands.h"
#include "common/cancel.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "conform/capabilities.h"
#include "experiment/machine.h"
#include "experiment/run_models.h"
#include "launch/supervisor.h"

// faceter conform: the laws that every start model and every variant keep, on those that somebody else made.

namespace faceter::cli {
namespace {

struct ConformOptions {
    std::string model = "minilm", keep;
    std::vector<std::string> methods, laws;
    bool json = false;
};

/// Without the one that wants another library: `faceter export` compares with it by itself where FACETER_PEERS names one.
std::vector<std::string> laws_to_choose() {
    std::vector<std::string> laws = conform::all_laws;
    std::erase(laws, "peers");
    return laws;
}

/// Where the JSON document goes to standard output, what a person reads while it is made goes to the other.
void print_result(std::FILE* file, std::size_t number, std::size_t count, const conform::CellResult& result) {
    const char* word = !result.wrong.empty() ? "wrong" : !result.refused.empty() ? "refused" : "holds";
    say(file, "[{}/{}] {:8} {}\n", number, count, word, result.column);
    if (!result.refused.empty()) say(file, "    {}\n", trim(result.refused));
    for (const conform::Finding& finding : result.wrong)
        say(file, "    {}: {}\n{}", finding.law, trim(finding.what), finding.command.empty() ? "" : "        " + finding.command + "\n");
    std::fflush(file);
}

/// Variants and objectives of the plugins in the folders of --plugin-dir.
std::vector<std::string> offered_by(const Catalogue& catalogue, const std::vector<std::string>& folders) {
    std::vector<std::string> names;
    for (const Manifest& manifest : catalogue.plugins().manifests)
        for (const std::string& folder : folders) {
            std::error_code none;
            if (!fs::equivalent(manifest.file.parent_path(), folder, none)) continue;
            for (const Extension& variant : manifest.variants) names.push_back(variant.name);
            for (const Extension& objective : manifest.objectives) names.push_back(objective.name);
        }
    if (!names.empty() || folders.empty()) return names;
    std::string why;
    for (const RejectedPlugin& plugin : catalogue.plugins().rejected) why += fmt::format("\n{}: {}", plugin.file.string(), plugin.reason);
    throw usage_error("--plugin-dir {}: no plugin there offers a variant or an objective{}", join(folders, " --plugin-dir "), why);
}

void print_all(const ConformOptions& options, const std::string& model, const std::vector<conform::CellResult>& results) {
    const conform::Totals totals = conform::totals_of(results);
    if (!options.json)
        return say(stdout, "\n{}\n{} cells: {} hold, {} refused, {} wrong\n", conform::capabilities(results), results.size(), totals.hold,
                   totals.refused, totals.wrong);
    Json cells = Json::array();
    for (const conform::CellResult& result : results) cells.push_back(result.to_json());
    print_json({{"model", model}, {"hold", totals.hold}, {"refused", totals.refused}, {"wrong", totals.wrong}, {"cells", cells}});
}

/// What the cells so far have left, 4 to 11 GB each of MiniLM. A run that is stopped writes its checkpoint first, and a folder that
/// something is written into cannot be removed: try again for a while.
void remove_cells(const fs::path& folder) {
    for (int i = 0; i < 100; ++i) {
        bool all = true;
        std::error_code error;
        for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
            std::error_code failed;
            if (it->path().filename() != "texts") fs::remove_all(it->path(), failed);
            all = all && !failed;
        }
        if (all) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

int conform_to_laws(const Cli& cli, const ConformOptions& options) {
    ::setenv("OMP_NUM_THREADS", "1", 1);  // of every process that is started: results are compared in bits
    const Catalogue catalogue = load_catalogue(cli);
    const std::vector<conform::Column> columns =
        conform::columns_of(catalogue, options.methods.empty() ? offered_by(catalogue, cli.plugin_folders) : options.methods);
    const fs::path model = resolve_named_model(options.model);
    const conform::StartModel start{model.filename().empty() ? options.model : model.filename().string(), model};
    const TemporaryDirectory own;
    const fs::path folder = options.keep.empty() ? own.path() : absolute_path(options.keep);
    const conform::Laboratory laboratory{folder, conform::write_texts(folder / "texts"),
                                         conform::Programs(fs::read_symlink("/proc/self/exe"), worker_program()), catalogue};
    std::vector<conform::CellResult> results;
    install_stop_handlers();  // programs that it started would go on, and their files would stay
    for (const conform::Column& column : columns) {
        try {
            results.push_back(conform::Cell(laboratory, start, column, {options.laws.begin(), options.laws.end()}).run());
        } catch (...) {
            if (options.keep.empty()) remove_cells(folder);
            if (stop_requested() == StopRequest::none) throw;
            throw Error(ExitCode::stopped, fmt::format("stopped after {} of {} cells", results.size(), columns.size()));
        }
        if (options.keep.empty()) remove_cells(folder);
        print_result(options.json ? stderr : stdout, results.size(), columns.size(), results.back());
    }
    print_all(options, options.model, results);
    return conform::totals_of(results).wrong == 0 ? 0 : static_cast<int>(ExitCode::failed);
}

}  // namespace

void add_conform_command(Cli& cli) {
    auto options = std::make_shared<ConformOptions>();
    CLI::App* command = add_command(cli, cli.app, "conform", "Put a checkpoint or a plugin to the laws that ours keep",
                                    "  faceter conform --model ~/my-encoder\n"
                                    "  faceter conform --plugin-dir ~/my-plugin/build\n"
                                    "  faceter conform --model ~/my-encoder --method instruction --json > cells.json\n"
                                    "Trains a few steps on made texts under every variant, again, killed and resumed, in two\n"
                                    "processes, in chunks, in bf16; embeds, scores, exports; and compares.",
                                    [&cli, options] { return conform_to_laws(cli, *options); });
    command->add_option("--model", options->model,
                        "start model, as an experiment names it (a folder, a run, org/name of the hub); default: minilm");
    command
        ->add_option("--method", options->methods,
                     "only these variants or objectives; default: what the plugins of --plugin-dir offer, else every variant")
        ->type_name("NAME")
        ->allow_extra_args(false);
    command->add_option("--laws", options->laws, "only these laws, as in --laws embed,export (" + join(laws_to_choose(), ", ") + ")")
        ->delimiter(',')
        ->check(CLI::IsMember(laws_to_choose()).description(""));
    command->add_option("--keep", options->keep, "work in this folder and leave it, so that each printed command can be repeated")
        ->type_name("DIR");
    command->add_flag("--json", options->json, "print one JSON document: each cell's laws, refusal and findings");
    add_plugin_option(cli, *command);
}

}  // namespace faceter::cli
