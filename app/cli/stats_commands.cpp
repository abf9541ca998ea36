#include "cli/commands.h"
#include "common/error.h"
#include "common/strings.h"
#include "data/line_reader.h"
#include "stats/number.h"
#include "stats/paired.h"
#include "stats/welch.h"

namespace faceter::cli {
namespace {

struct StatsOptions {
    std::string a, b, alternative = "two-sided";
    bool json = false;
};

/// A number a line; blank lines are passed over.
std::vector<double> read_numbers(const std::string& path) {
    std::vector<double> numbers;
    LineReader reader(path == "-" ? "/dev/stdin" : path);
    while (const auto line = reader.next()) {
        const std::string_view text = trim(*line);
        if (text.empty()) continue;
        const auto number = parse_double(text);
        if (!number)
            throw data_error("{}: {} is not a number; a number a line is expected", reader.position().text(), faceter::quoted(text));
        numbers.push_back(*number);
    }
    if (numbers.empty()) throw data_error("{}: holds no numbers; a number a line is expected", path);
    return numbers;
}

int welch_command(const StatsOptions& options) {
    const WelchResult result = welch(read_numbers(options.a), read_numbers(options.b), parse_alternative(options.alternative));
    if (options.json) {
        Json json = {{"t", number_to_json(result.t)},
                     {"df", number_to_json(result.df)},
                     {"p", number_to_json(result.p)},
                     {"mean_a", number_to_json(result.mean_a)},
                     {"mean_b", number_to_json(result.mean_b)},
                     {"n_a", result.n_a},
                     {"n_b", result.n_b}};
        if (!result.note.empty()) json["note"] = result.note;
        print_json(json);
        return 0;
    }
    fmt::print("Welch's t-test, alternative: mean(a) {} mean(b)\n", options.alternative == "less"      ? "<"
                                                                    : options.alternative == "greater" ? ">"
                                                                                                       : "is not");
    fmt::print("t = {:.6g}, df = {:.6g}, p = {:.6g}\nmean(a) = {:.6g} (n = {}), mean(b) = {:.6g} (n = {})\n", result.t, result.df, result.p,
               result.mean_a, result.n_a, result.mean_b, result.n_b);
    if (!result.note.empty()) fmt::print("{}\n", result.note);
    return 0;
}

int paired_command(const StatsOptions& options) {
    const std::vector<double> a = read_numbers(options.a), b = read_numbers(options.b);
    const Alternative alternative = parse_alternative(options.alternative);
    const PairedTResult t = paired_t(a, b, alternative);
    WilcoxonOptions wilcoxon_options;
    wilcoxon_options.alternative = alternative;
    const WilcoxonResult signed_rank = wilcoxon(paired_differences(a, b), wilcoxon_options);
    if (options.json) {
        print_json({{"paired_t", t.to_json()}, {"wilcoxon", signed_rank.to_json()}});
        return 0;
    }
    fmt::print("paired t:  t = {:.6g}, df = {:.6g}, p = {:.6g}, mean difference {:.6g} (n = {})\n", t.t, t.df, t.p, t.mean_difference, t.n);
    fmt::print("Wilcoxon:  W = {:.6g}, p = {:.6g} ({})\n", signed_rank.statistic, signed_rank.p,
               signed_rank.exact ? "exact" : "normal approximation");
    return 0;
}

void add_samples(CLI::App& command, StatsOptions& options) {
    command.add_option("--a", options.a, "first sample, a number a line ('-': standard input)")->required()->type_name("FILE");
    command.add_option("--b", options.b, "second sample")->required()->type_name("FILE");
    command.add_option("--alternative", options.alternative, "less: mean(a) < mean(b)")
        ->check(CLI::IsMember({"less", "greater", "two-sided"}))
        ->type_name("NAME")
        ->capture_default_str();
    command.add_flag("--json", options.json, "print as JSON");
}

}  // namespace

void add_stats_commands(Cli& cli) {
    auto options = std::make_shared<StatsOptions>();
    CLI::App* stats = add_command_group(cli, "stats", "Tests on files of numbers");
    add_samples(*add_command(cli, *stats, "welch", "Welch's unequal-variances t-test",
                             "  faceter stats welch --a mote.txt --b ic.txt --alternative less --json",
                             [options] { return welch_command(*options); }),
                *options);
    add_samples(*add_command(cli, *stats, "paired", "Paired t-test and Wilcoxon's signed-rank test",
                             "  faceter stats paired --a mote.txt --b ic.txt", [options] { return paired_command(*options); }),
                *options);
}

}  // namespace faceter::cli
