#include <fnmatch.h>

#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/named_runs.h"
#include "common/error.h"
#include "common/json_text.h"
#include "common/strings.h"
#include "figure/escape.h"
#include "stats/number.h"
#include "store/store.h"

namespace faceter::cli {
namespace {

struct SeriesOptions {
    std::string project, output;
    std::vector<std::string> runs, patterns;
    bool list = false, json = false;
};

/// What of a run is printed.
struct ChosenSeries {
    RunInfo run;
    std::vector<std::string> names;
};

std::vector<std::string> matching(const std::vector<std::string>& names, const std::vector<std::string>& patterns) {
    if (patterns.empty()) return names;
    std::vector<std::string> found;
    for (const std::string& name : names)
        if (std::any_of(patterns.begin(), patterns.end(),
                        [&](const std::string& one) { return one == name || ::fnmatch(one.c_str(), name.c_str(), 0) == 0; }))
            found.push_back(name);
    return found;
}

/// A pattern that none of the runs has a series of is a word mistyped.
void refuse_unknown(const std::vector<std::string>& patterns, const std::vector<std::string>& known) {
    for (const std::string& pattern : patterns)
        if (matching(known, {pattern}).empty())
            throw usage_error("--name {}: none of the runs has a series of that name{}; --list shows those that there are",
                              faceter::quoted(pattern), suggestion(pattern, known));
}

std::vector<ChosenSeries> choose(Store& store, const Project& project, const SeriesOptions& options) {
    std::vector<ChosenSeries> chosen;
    std::vector<std::string> known;
    for (const RunDirectory& run : find_runs(project, options.runs)) {
        const std::vector<std::string> names = store.series_names(run.info().id);
        known.insert(known.end(), names.begin(), names.end());
        chosen.push_back({run.info(), matching(names, options.patterns)});
    }
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    refuse_unknown(options.patterns, known);
    return chosen;
}

std::string csv_of(Store& store, const std::vector<ChosenSeries>& chosen) {
    std::string text = "run,series,step,time,value\n";
    for (const ChosenSeries& one : chosen)
        for (const std::string& name : one.names) {
            const std::string head = escape_csv(one.run.shown_name()) + "," + escape_csv(name);
            for (const SeriesPoint& point : store.series(one.run.id, name))
                text += fmt::format("{},{},{:.3f},{}\n", head, point.step, point.time, point.value);
        }
    return text;
}

Json points_json(const std::vector<SeriesPoint>& points) {
    Json json = {{"steps", Json::array()}, {"times", Json::array()}, {"values", Json::array()}};
    for (const SeriesPoint& point : points) {
        json["steps"].push_back(point.step);
        json["times"].push_back(point.time);
        json["values"].push_back(number_to_json(point.value));
    }
    return json;
}

Json range_json(const SeriesRange& range) {
    return {{"points", range.count},
            {"first_step", static_cast<std::int64_t>(range.from)},
            {"last_step", static_cast<std::int64_t>(range.to)},
            {"min", number_to_json(range.min)},
            {"max", number_to_json(range.max)}};
}

Json json_of(Store& store, const std::vector<ChosenSeries>& chosen, bool list) {
    Json json = {{"runs", Json::array()}};
    for (const ChosenSeries& one : chosen) {
        Json run = {{"id", one.run.id}, {"name", one.run.shown_name()}, {"series", Json::array()}};
        for (const std::string& name : one.names) {
            Json series =
                list ? range_json(store.series_range(one.run.id, name, SeriesX::step)) : points_json(store.series(one.run.id, name));
            series["name"] = name;
            run["series"].push_back(std::move(series));
        }
        json["runs"].push_back(std::move(run));
    }
    return json;
}

Table table_of(Store& store, const std::vector<ChosenSeries>& chosen) {
    Table table;
    table.name = "series";
    table.caption = "Series of runs";
    for (const char* name : {"run", "series"}) table.add_column(name, ColumnKind::text);
    for (const char* name : {"points", "first step", "last step"}) table.add_column(name, ColumnKind::count);
    for (const char* name : {"least", "greatest"}) table.add_column(name, ColumnKind::text);  // rates need more decimals than tokens
    for (const ChosenSeries& one : chosen)
        for (const std::string& name : one.names) {
            const SeriesRange range = store.series_range(one.run.id, name, SeriesX::step);
            table.add_row({Cell::of(one.run.shown_name()), Cell::of(name), Cell::of(static_cast<double>(range.count)), Cell::of(range.from),
                           Cell::of(range.to), Cell::of(fmt::format("{:.5g}", range.min)), Cell::of(fmt::format("{:.5g}", range.max))});
        }
    return table;
}

void put_out(const std::string& text, const std::string& output) {
    if (output.empty())
        print_document(text);
    else
        write_file_atomic(output, text);
}

int series(const SeriesOptions& options) {
    const Project project = open_project(options.project);
    Store store(project.folder());
    take_in(store);
    const std::vector<ChosenSeries> chosen = choose(store, project, options);
    if (options.json)
        put_out(json_text(json_of(store, chosen, options.list), 1) + "\n", options.output);
    else if (options.list)
        print_table(table_of(store, chosen), "text");
    else
        put_out(csv_of(store, chosen), options.output);
    return 0;
}

}  // namespace

void add_series_command(Cli& cli) {
    auto options = std::make_shared<SeriesOptions>();
    CLI::App* command = add_command(cli, cli.app, "series", "The curves of runs, every point: loss, learning rate, scores, speed",
                                    "  faceter series IC-1 MoTE-1 --project ~/quickstart --output curves.csv\n"
                                    "  faceter series MoTE-1 --name loss --name 'score/*' > losses.csv\n"
                                    "  faceter series MoTE-1 --list\n"
                                    "A line a point: run, series, step, time (seconds since 1970), value. Of a run that was resumed the\n"
                                    "last value of each step counts; stages after the first are series of their own, NAME@STAGE.",
                                    [options] { return series(*options); });
    command->add_option("RUN", options->runs, "names of runs, beginnings of ids, or variants (the newest run of each)")->required();
    add_project_option(*command, options->project);
    command->add_option("--name", options->patterns, "only these: a name, or a pattern in which * stands for anything; may be given again")
        ->allow_extra_args(false)
        ->type_name("PATTERN");
    CLI::Option* list =
        command->add_flag("--list", options->list, "which series there are, with their steps and their least and greatest values");
    command->add_flag("--json", options->json, "print as JSON: steps, times and values of each series");
    command->add_option("--output", options->output, "write there (default: standard output)")
        ->check(not_empty())
        ->excludes(list)
        ->type_name("FILE");
}

}  // namespace faceter::cli
