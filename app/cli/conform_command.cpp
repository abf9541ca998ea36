#include <fmt/format.h>

#include <cstdlib>

#include "checkpoint/model_folder.h"
#include "cli/commands.h"
#include "common/error.h"
#include "common/strings.h"
#include "conform/capabilities.h"
#include "experiment/machine.h"
#include "launch/supervisor.h"

// faceter conform: the laws that every start model and every variant keep, on those that somebody else made.

namespace faceter::cli {
namespace {

struct ConformOptions {
    std::string model = "minilm", keep;
    std::vector<std::string> methods, laws;
};

void print_result(const conform::CellResult& result) {
    fmt::print("{:8} {}\n", !result.wrong.empty() ? "wrong" : !result.refused.empty() ? "refused" : "holds", result.column);
    if (!result.refused.empty()) fmt::print("    {}\n", trim(result.refused));
    for (const conform::Finding& finding : result.wrong)
        fmt::print("    {}: {}\n{}", finding.law, trim(finding.what), finding.command.empty() ? "" : "        " + finding.command + "\n");
    std::fflush(stdout);
}

int conform_to_laws(const Cli& cli, const ConformOptions& options) {
    ::setenv("OMP_NUM_THREADS", "1", 1);  // of every process that is started: results are compared in bits
    const Catalogue catalogue = load_catalogue(cli);
    const std::vector<conform::Column> columns = conform::columns_of(catalogue, options.methods);
    const fs::path model = resolve_model(options.model);
    const conform::StartModel start{model.filename().empty() ? options.model : model.filename().string(), model};
    const TemporaryDirectory own;
    const fs::path folder = options.keep.empty() ? own.path() : absolute_path(options.keep);
    const conform::Laboratory laboratory{folder, conform::write_texts(folder / "texts"),
                                         conform::Programs(fs::read_symlink("/proc/self/exe"), worker_program()), catalogue};
    std::vector<conform::CellResult> results;
    for (const conform::Column& column : columns) {
        results.push_back(conform::Cell(laboratory, start, column, {options.laws.begin(), options.laws.end()}).run());
        print_result(results.back());
    }
    const conform::Totals totals = conform::totals_of(results);
    fmt::print("\n{}\n{} cells: {} hold, {} refused, {} wrong\n", conform::capabilities(results), results.size(), totals.hold,
               totals.refused, totals.wrong);
    return totals.wrong == 0 ? 0 : static_cast<int>(ExitCode::failed);
}

}  // namespace

void add_conform_command(Cli& cli) {
    auto options = std::make_shared<ConformOptions>();
    CLI::App* command = add_command(cli, cli.app, "conform", "Put a checkpoint or a plugin to the laws that ours keep",
                                    "  faceter conform --model ~/my-encoder\n"
                                    "  faceter conform --plugin-dir ~/my-plugin/build --method my_method\n"
                                    "Trains a few steps on made texts under every variant, again, killed and resumed, in two\n"
                                    "processes, in chunks, in bf16; embeds, scores, exports; and compares.",
                                    [&cli, options] { return conform_to_laws(cli, *options); });
    command->add_option("--model", options->model, "start model, as an experiment names it; default: minilm");
    command->add_option("--method", options->methods, "only these variants; default: all that plugins offer")
        ->type_name("NAME")
        ->allow_extra_args(false);
    command->add_option("--laws", options->laws, "only these laws, as in --laws embed,export")
        ->delimiter(',')
        ->check(CLI::IsMember(conform::all_laws).description(""));
    command->add_option("--keep", options->keep, "work in this folder and leave it, so that each printed command can be repeated")
        ->type_name("DIR");
    add_plugin_option(cli, *command);
}

}  // namespace faceter::cli
