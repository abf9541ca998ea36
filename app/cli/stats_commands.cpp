#include <cmath>

#include "cli/checks.h"
#include "cli/commands.h"
#include "common/error.h"
#include "common/strings.h"
#include "data/line_reader.h"
#include "stats/equivalence.h"
#include "stats/number.h"
#include "stats/paired.h"
#include "stats/power.h"
#include "stats/welch.h"

namespace faceter::cli {
namespace {

struct StatsOptions {
    std::string a, b, alternative = "two-sided";
    bool json = false;
};

enum class BlankLines { pass, refuse };

/// A number a line. Blank lines are passed over; `refuse` takes them at the end alone, since a line of a pair must not move up.
std::vector<double> read_numbers(const std::string& path, BlankLines blank_lines) {
    std::vector<double> numbers;
    std::optional<SourcePosition> blank;
    LineReader reader(path == "-" ? "/dev/stdin" : path);
    while (const auto line = reader.next()) {
        const std::string_view text = trim(*line);
        if (text.empty()) {
            if (!blank) blank = reader.position();
            continue;
        }
        if (blank && blank_lines == BlankLines::refuse)
            throw data_error(
                "{}: is blank, and numbers follow; what is paired needs a number in each line of both files: take the pair "
                "that lacks one out of both, or the blank line where none is lacking",
                blank->text());
        const auto number = parse_double(text);
        if (!number)
            throw data_error("{}: {} is not a number; a number a line is expected", reader.position().text(), faceter::quoted(text));
        numbers.push_back(*number);
    }
    if (numbers.empty()) throw data_error("{}: holds no numbers; a number a line is expected", path);
    return numbers;
}

struct Samples {
    std::vector<double> a, b;
};

Samples read_samples(const std::string& a, const std::string& b, BlankLines blank_lines) {
    if (a == "-" && b == "-") throw usage_error("--a and --b cannot both be standard input; name a file for one of them");
    return {read_numbers(a, blank_lines), read_numbers(b, blank_lines)};
}

/// NaN has a sign that says nothing.
std::string digits(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value); }

int welch_command(const StatsOptions& options) {
    const auto [a, b] = read_samples(options.a, options.b, BlankLines::pass);
    const WelchResult result = welch(a, b, parse_alternative(options.alternative));
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
    fmt::print("t = {}, df = {}, p = {}\nmean(a) = {} (n = {}), mean(b) = {} (n = {})\n", digits(result.t), digits(result.df),
               digits(result.p), digits(result.mean_a), result.n_a, digits(result.mean_b), result.n_b);
    if (!result.note.empty()) fmt::print("{}\n", result.note);
    return 0;
}

int paired_command(const StatsOptions& options) {
    const auto [a, b] = read_samples(options.a, options.b, BlankLines::refuse);
    const Alternative alternative = parse_alternative(options.alternative);
    const PairedTResult t = paired_t(a, b, alternative);
    WilcoxonOptions wilcoxon_options;
    wilcoxon_options.alternative = alternative;
    const WilcoxonResult signed_rank = wilcoxon(paired_differences(a, b), wilcoxon_options);
    if (options.json) {
        print_json({{"paired_t", t.to_json()}, {"wilcoxon", signed_rank.to_json()}});
        return 0;
    }
    fmt::print("paired t:  t = {}, df = {}, p = {}, mean difference {} (n = {})\n", digits(t.t), digits(t.df), digits(t.p),
               digits(t.mean_difference), t.n);
    if (!t.note.empty()) fmt::print("           {}\n", t.note);
    if (!signed_rank.note.empty())
        fmt::print("Wilcoxon:  {}\n", signed_rank.note);
    else
        fmt::print("Wilcoxon:  W = {}, p = {} ({})\n", digits(signed_rank.statistic), digits(signed_rank.p),
                   signed_rank.exact ? "exact" : "normal approximation");
    return 0;
}

struct TostOptions {
    std::string a, b;
    double margin = 0;
    bool paired = false, json = false;
};

int tost_command(const TostOptions& options) {
    const auto [a, b] = read_samples(options.a, options.b, options.paired ? BlankLines::refuse : BlankLines::pass);
    const EquivalenceResult result = options.paired ? paired_equivalence(a, b, options.margin) : equivalence(a, b, options.margin);
    if (options.json) {
        print_json(result.to_json());
        return 0;
    }
    fmt::print("Two one-sided t-tests{}, margin {:g}: is the difference between -{:g} and {:g}?\n", options.paired ? " of pairs" : "",
               options.margin, options.margin, options.margin);
    fmt::print("mean(a) - mean(b) = {}, 90 % interval {} to {} (n = {}, {})\n", digits(result.difference), digits(result.interval.low),
               digits(result.interval.high), result.n_a, result.n_b);
    fmt::print("p = {} (above -margin: {}, below +margin: {}), df = {}\n", digits(result.p), digits(result.p_lower), digits(result.p_upper),
               digits(result.df));
    if (!result.note.empty()) fmt::print("{}\n", result.note);
    return 0;
}

struct PowerOptions {
    std::string test = "paired_t", alternative = "two-sided";
    double effect = 0, alpha = 0.05, power = 0;
    std::int64_t n = 0;
    bool json = false;
};

int power_command(const PowerOptions& options) {
    if ((options.n > 0) == (options.power > 0)) throw usage_error("give either --n or --power; the other one is computed");
    const bool groups = options.test == "welch";
    const PowerPlan plan{groups ? PowerDesign::welch : PowerDesign::paired_t, options.effect, options.alpha,
                         parse_alternative(options.alternative)};
    const std::int64_t n = options.n > 0 ? options.n : sample_size_for(plan, options.power);
    const double power = power_of(plan, n);
    if (options.json) {
        print_json({{"test", options.test},
                    {"n", n},
                    {"power", number_to_json(power)},
                    {"effect", options.effect},
                    {"alpha", options.alpha},
                    {"alternative", options.alternative},
                    {"df", plan.df(n)},
                    {"noncentrality", plan.noncentrality(n)}});
        return 0;
    }
    fmt::print("{}, effect {:g}, alpha {:g}, {}\nn = {} {}, power = {:.4f}\n", groups ? "t-test of two groups" : "paired t-test",
               options.effect, options.alpha, options.alternative, n, groups ? "a group" : "pairs", power);
    return 0;
}

void add_power_command(Cli& cli, CLI::App& stats) {
    auto options = std::make_shared<PowerOptions>();
    CLI::App* command = add_command(cli, stats, "power", "How many seeds or data sets a planned t-test needs, or what it would find",
                                    "  faceter stats power --test paired_t --effect 0.8 --power 0.8\n"
                                    "  faceter stats power --test welch --effect 1.5 --n 5 --json",
                                    [options] { return power_command(*options); });
    command->add_option("--test", options->test, "paired_t: n pairs; welch: two groups of n")
        ->check(CLI::IsMember({"paired_t", "welch"}))
        ->type_name("NAME")
        ->capture_default_str();
    command->add_option("--effect", options->effect, "mean difference over the standard deviation: of the differences, or within a group")
        ->required()
        ->type_name("D");
    command->add_option("--n", options->n, "observations (a group); the power is computed")
        ->check(CLI::Range(2, 1'000'000'000))
        ->type_name("N");
    command->add_option("--power", options->power, "wanted power; the smallest n is computed")
        ->check(finite_number(1e-6, 1 - 1e-9))
        ->type_name("P");
    command->add_option("--alpha", options->alpha, "error of the first kind")
        ->check(finite_number(1e-12, 1 - 1e-12))
        ->type_name("A")
        ->capture_default_str();
    command->add_option("--alternative", options->alternative, "less: the effect is expected below zero")
        ->check(CLI::IsMember({"less", "greater", "two-sided"}))
        ->type_name("NAME")
        ->capture_default_str();
    command->add_flag("--json", options->json, "print as JSON");
}

void add_tost_command(Cli& cli, CLI::App& stats) {
    auto options = std::make_shared<TostOptions>();
    CLI::App* command = add_command(cli, stats, "tost", "Test that two means are equivalent: two one-sided t-tests",
                                    "  faceter stats tost --a mote.txt --b ic.txt --margin 0.5 --paired --json",
                                    [options] { return tost_command(*options); });
    command->add_option("--a", options->a, "first sample, a number a line ('-': standard input)")->required()->type_name("FILE");
    command->add_option("--b", options->b, "second sample")->required()->type_name("FILE");
    command->add_option("--margin", options->margin, "the smallest difference that would matter")->required()->type_name("M");
    command->add_flag("--paired", options->paired, "the numbers of a line belong together");
    command->add_flag("--json", options->json, "print as JSON");
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
    add_tost_command(cli, *stats);
    add_power_command(cli, *stats);
}

}  // namespace faceter::cli
