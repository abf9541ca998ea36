#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "cli/commands.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "experiment/experiment.h"
#include "experiment/starter.h"
#include "figure/text_width.h"

namespace faceter::cli {
namespace {

constexpr std::size_t most_columns = 20;  // that are told of

struct InitOptions {
    std::string source, output, columns, model = "minilm";
    int seeds = 1;
    bool yes = false, json = false;
};

/// The answer, or `usual` for an empty line and where nobody can be asked.
std::string ask(const InitOptions& options, const std::string& question, const std::string& usual) {
    if (options.yes || !::isatty(STDIN_FILENO)) return usual;
    say(stderr, "{} [{}] ", question, usual);
    std::string answer;
    std::getline(std::cin, answer);
    const std::string said(trim(answer));
    return said.empty() ? usual : said;
}

void tell(const Survey& survey) {
    const std::size_t repeated = survey.repeated_rows;
    say(stderr, "{}: {} rows{}\n", survey.file.string(), survey.rows.size(),
        repeated == 0   ? ""
        : repeated == 1 ? ", 1 of them repeats another"
                        : fmt::format(", {} of them repeat another", repeated));
    for (std::size_t i = 0; i < std::min(survey.columns.size(), most_columns); ++i) {
        const SurveyedColumn& column = survey.columns[i];
        const int room = std::max(0, 20 - display_width(column.name));
        say(stderr, "  {}{:{}} {:>7} values, {:>7} of them different, {:.1f} words on average\n", column.name, "", room, column.filled,
            column.distinct, column.mean_words);
    }
    if (survey.columns.size() > most_columns) say(stderr, "  and {} more columns\n", survey.columns.size() - most_columns);
    std::vector<std::string> languages;
    for (const auto& [language, share] : survey.languages)
        if (share >= 0.02) languages.push_back(fmt::format("{} {:.0f} %", language, 100 * share));
    if (!languages.empty()) say(stderr, "  languages, as far as common words and letters tell: {}\n", join(languages, ", "));
}

fs::path output_of(const InitOptions& options) {
    return absolute_path(options.output.empty() ? starter_name(options.source) + ".yaml" : options.output);
}

void ask_the_rest(const InitOptions& options, StarterOptions& choices) {
    choices.model = ask(options, "Start model (minilm, a folder, or org/name of the hub)", options.model);
    const std::string seeds = ask(options, "How many seeds", std::to_string(options.seeds));
    const auto number = parse_int(seeds);
    if (!number || *number < 1 || *number > 100) throw usage_error("{}: seeds are a number from 1 to 100", faceter::quoted(seeds));
    choices.seeds = static_cast<int>(*number);
}

Starter starter_of(const InitOptions& options, StarterOptions& choices) {
    if (fs::is_directory(options.source)) {
        if (!options.columns.empty())
            throw usage_error("{}: is a folder, whose files say what is what; --columns is for a table: leave it out", options.source);
        ask_the_rest(options, choices);
        return start_from_folder(options.source, choices);
    }
    const Survey survey = survey_file(options.source);
    tell(survey);
    ColumnRoles roles = options.columns.empty() ? guess_roles(survey) : parse_roles(survey, options.columns);
    if (const std::string guessed = roles.words(); options.columns.empty())
        if (const std::string said = ask(options, "What the columns are", guessed); said != guessed) roles = parse_roles(survey, said);
    say(stderr, "columns: {}{}\n", roles.words(), options.columns.empty() ? " (--columns says it otherwise)" : "");
    ask_the_rest(options, choices);
    return start_from_table(survey, roles, choices);
}

int init(const InitOptions& options) {
    StarterOptions choices{output_of(options), options.model, options.seeds};
    if (fs::exists(choices.output)) throw usage_error("{}: it is there already; give another name with --output", choices.output.string());
    if (!fs::exists(options.source)) throw data_error("{}: no such file or folder", options.source);
    const Starter starter = starter_of(options, choices);
    write_starter(starter, choices.output);
    for (const std::string& remark : starter.remarks) say(stderr, "{}\n", remark);
    if (options.json)
        print_json(
            {{"experiment", choices.output.string()}, {"model", choices.model}, {"seeds", choices.seeds}, {"remarks", starter.remarks}});
    else
        say(stdout, "{}\n", choices.output.string());
    const std::string next = typed(options.output.empty() ? choices.output.filename().string() : options.output);
    say(stderr, "next: faceter check {0}\n      faceter run {0} --project DIR --smoke\n", next);
    return 0;
}

}  // namespace

void add_init_command(Cli& cli) {
    auto options = std::make_shared<InitOptions>();
    CLI::App* command = add_command(cli, cli.app, "init", "Write an experiment for texts of your own",
                                    "  faceter init tickets.csv\n  faceter init faq.tsv --columns 'query=question, document=answer' --yes\n"
                                    "  faceter init ~/beir/scifact --output scifact.yaml --yes\n"
                                    "Rows to train on and rows held out for the scores go to a folder beside the experiment.",
                                    [options] { return init(*options); });
    command->add_option("SOURCE", options->source, "CSV, TSV, JSON lines or Parquet file (also .gz, .zst), or a BEIR or MTEB folder")
        ->required();
    command->add_option("--output", options->output, "the experiment file (default: the source's name with .yaml, here)")
        ->type_name("FILE");
    command
        ->add_option("--columns", options->columns,
                     "what the columns are: 'query=COLUMN, document=COLUMN' (and score=COLUMN), 'text=COLUMN, label=COLUMN'")
        ->type_name("ROLES");
    command->add_option("--model", options->model, "start model")->type_name("NAME")->capture_default_str();
    command->add_option("--seeds", options->seeds, "how many")
        ->check(CLI::Range(1, 100).description(""))
        ->type_name("N")
        ->capture_default_str();
    command->add_flag("--yes", options->yes, "ask nothing");
    command->add_flag("--json", options->json, "print as JSON");
}

}  // namespace faceter::cli
