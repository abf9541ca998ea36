#include "cli/commands.h"
#include "experiment/machine.h"

namespace faceter::cli {
namespace {

struct SetupOptions {
    bool cuda = false, parquet = false;
    std::string from, download;
};

/// The script that a checkout's set-up is as well; it does not return here.
int set_up(const SetupOptions& options) {
    std::vector<std::string> words{"bash", shared_resource("packaging/setup.sh").string(), "--user"};
    if (options.cuda) words.push_back("--cuda");
    if (options.parquet) words.push_back("--parquet");
    if (!options.from.empty()) words.insert(words.end(), {"--from", options.from});
    if (!options.download.empty()) words.insert(words.end(), {"--download", options.download});
    become_program("bash", std::move(words));
}

}  // namespace

void add_setup_command(Cli& cli) {
    const auto options = std::make_shared<SetupOptions>();
    CLI::App* command = add_command(cli, cli.app, "setup", "Fetch libtorch and all-MiniLM-L6-v2 into the user's cache",
                                    "  faceter setup\n  faceter setup --download /media/wheels  # for a machine without network\n"
                                    "  faceter setup --from /media/wheels      # there",
                                    [options] { return set_up(*options); });
    command->add_flag("--cuda", options->cuda, "the NVIDIA libraries for training on GPUs as well (2.5 GB)");
    command->add_flag("--parquet", options->parquet, "the Arrow libraries for reading Parquet files (55 MB)");
    CLI::Option* from = command->add_option("--from", options->from, "take wheels from this folder instead of the Python package index");
    from->type_name("DIR");
    command->add_option("--download", options->download, "only fetch the wheels into this folder, for --from on another machine")
        ->type_name("DIR")
        ->excludes(from);
}

}  // namespace faceter::cli
