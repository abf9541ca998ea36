#include <chrono>
#include <cmath>

#include "cli/cluster.h"
#include "cli/named_runs.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "figure/format.h"
#include "record/final_model.h"
#include "record/launch.h"
#include "settings/yaml.h"
#include "stats/number.h"
#include "store/filter.h"
#include "store/list_columns.h"
#include "store/store.h"
#include "store/store_events.h"

namespace faceter::cli {
namespace {

struct ListOptions {
    std::string project, format, state, tag, run, where;
    ColumnOptions columns;
    bool all = false, json = false, settings = false, log = false;
};

Json state_json(const RunState& state) {
    return {{"state", run_phase_name(state.phase)},
            {"cause", state.cause},
            {"exit_code", state.exit_code},
            {"attempts", state.attempts},
            {"phase", state.doing},
            {"step", state.step},
            {"total_steps", state.total_steps},
            {"loss", number_to_json(state.loss)},
            {"steps_per_s", state.steps_per_s},
            {"active_s", state.active_s}};
}

Json row_json(const RunRow& row) {
    Json json = {{"id", row.info.id},           {"name", row.info.name},       {"experiment", row.info.experiment},
                 {"variant", row.info.variant}, {"method", row.info.method},   {"point", row.info.point},
                 {"seed", row.info.seed},       {"created", row.info.created}, {"smoke", row.info.smoke}};
    json.update(state_json(row.state));
    json["mean_score"] = number_to_json(row.mean_score);
    json["datasets"] = row.num_scores;
    json["tags"] = row.tags;
    json["note"] = row.note;
    json["archived"] = row.archived;
    json["pinned"] = row.pinned;
    return json;
}

std::string progress_of(const RunState& state) {
    if (state.total_steps <= 0) return is_over(state.phase) ? "" : state.doing;
    return fmt::format("{}/{}", state.step, state.total_steps);
}

/// Means of runs that are partly scored are NaN.
Table list_table(const std::vector<RunRow>& rows) {
    Table table;
    table.name = "runs";
    table.add_column("run", ColumnKind::text);
    table.add_column("variant", ColumnKind::text);
    table.add_column("seed", ColumnKind::text);
    table.add_column("state", ColumnKind::text);
    table.add_column("steps", ColumnKind::text);
    table.add_column("loss", ColumnKind::number, 4);
    table.add_column("mean score", ColumnKind::number, 2);
    table.add_column("time", ColumnKind::duration);
    const bool tagged = std::any_of(rows.begin(), rows.end(), [](const RunRow& row) { return !row.tags.empty(); });
    if (tagged) table.add_column("tags", ColumnKind::text);  // an empty column is not worth a wider table
    for (const RunRow& row : rows) {
        const std::string variant = row.info.point.empty() ? row.info.variant : row.info.variant + " " + row.info.point;
        Row& line = table.add_row({Cell::of(row.info.shown_name()), Cell::of(variant), Cell::of(std::to_string(row.info.seed)),
                                   Cell::of(std::string(run_phase_name(row.state.phase))), Cell::of(progress_of(row.state)),
                                   Cell::of(row.state.loss), Cell::of(row.mean_score), Cell::of(row.state.active_s)});
        if (tagged) line.cells.push_back(Cell::of(join(row.tags, ", ")));
    }
    return table;
}

/// The run and the columns that were asked for.
Table chosen_table(const std::vector<RunRow>& rows, const std::vector<ListColumn>& columns) {
    Table table;
    table.name = "runs";
    table.add_column("run", ColumnKind::text);
    for (const ListColumn& one : columns) table.columns.push_back(one.column);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        std::vector<Cell> cells{Cell::of(rows[row].info.shown_name())};
        for (const ListColumn& one : columns) cells.push_back(one.cells[row]);
        table.add_row(std::move(cells));
    }
    table.mark_best();
    return table;
}

Json chosen_json(const std::vector<ListColumn>& columns, std::size_t row) {
    Json json = Json::object();
    for (const ListColumn& one : columns) {
        const Cell& cell = one.cells[row];
        json[one.column.name] = cell.kind == Cell::Kind::empty  ? Json()
                                : cell.kind == Cell::Kind::text ? Json(cell.text)
                                                                : Json(cell.value);
    }
    return json;
}

/// How many these are.
std::size_t leave_out_partial_means(Store& store, std::vector<RunRow>& rows) {
    const std::vector<bool> partly = partly_scored(store, rows);
    for (std::size_t row = 0; row < rows.size(); ++row)
        if (partly[row]) rows[row].mean_score = not_a_number;
    return static_cast<std::size_t>(std::count(partly.begin(), partly.end(), true));
}

std::string partial_note(std::size_t runs) {
    return fmt::format("{} run{} data sets of {} experiment: no mean of {} is shown (faceter show has the scores).", runs,
                       runs == 1 ? " lacks" : "s lack", runs == 1 ? "its" : "their", runs == 1 ? "it" : "them");
}

int list_runs(const ListOptions& options) {
    const Project project = open_project(options.project);
    refresh_jobs(project);
    Store store(project.folder());
    take_in(store);
    std::vector<RunRow> rows = store.runs();
    const bool archived_too = options.all || asks_for_archived(store, options.where);
    std::erase_if(rows, [&](const RunRow& row) {
        return (row.archived && !archived_too) || (!options.state.empty() && run_phase_name(row.state.phase) != options.state) ||
               (!options.tag.empty() && std::find(row.tags.begin(), row.tags.end(), options.tag) == row.tags.end());
    });
    if (!options.where.empty()) filter_rows(store, options.where, rows);
    const auto& [names, sort, descending] = options.columns;
    if (!sort.empty()) sort_rows(store, sort, descending, rows);
    const std::vector<ListColumn> columns = names.empty() ? std::vector<ListColumn>() : list_columns(store, names, rows);
    const std::size_t without = leave_out_partial_means(store, rows);
    if (options.format == "json") {
        Json runs = Json::array();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            runs.push_back(row_json(rows[i]));
            if (!columns.empty()) runs.back()["columns"] = chosen_json(columns, i);
        }
        print_json({{"project", project.folder().string()}, {"runs", runs}});
    } else if (rows.empty() && options.format == "text") {  // the others are read by programs, which find their columns
        say(stderr, "no runs{}\n", options.state.empty() && options.tag.empty() && options.where.empty() ? "" : " of that kind");
    } else {
        Table table = columns.empty() ? list_table(rows) : chosen_table(rows, columns);
        const bool means =
            columns.empty() || std::any_of(columns.begin(), columns.end(), [](const ListColumn& one) { return one.is_mean; });
        if (without > 0 && means) table.footnotes.push_back(partial_note(without));
        print_table(table, options.format);
    }
    return 0;
}

RunRow stored_row(Store& store, const std::string& id) {
    for (RunRow& row : store.runs())
        if (row.info.id == id) return row;
    throw failure("{}: the store does not have run {}", store.file().string(), id);
}

Json results_json(Store& store, const std::string& id) {
    Json list = Json::array();
    for (const ResultRow& result : store.results(id))
        list.push_back({{"name", result.name},
                        {"task", result.task},
                        {"task_type", result.task_type},
                        {"metric", result.metric},
                        {"score", number_to_json(result.score)},
                        {"n", result.n},
                        {"metrics", result.metrics}});
    return list;
}

Json names_json(const std::vector<std::pair<std::string, Json>>& documents) {
    Json names = Json::array();
    for (const auto& [name, json] : documents) names.push_back(name);
    return names;
}

void print_run(const RunDirectory& run, const RunRow& row, Store& store) {
    const RunState& state = row.state;
    say(stdout, "{}\n", run.info().shown_name());
    say(stdout, "  id        {}\n  folder    {}\n  variant   {} (method {}{})\n  seed      {}\n", run.info().id, run.folder().string(),
        run.info().variant, run.info().method, run.info().plugin == "core" ? "" : " of plugin " + run.info().plugin, run.info().seed);
    if (!run.info().point.empty()) say(stdout, "  point     {}\n", run.info().point);
    say(stdout, "  created   {}\n  state     {}{}\n", run.info().created, run_phase_name(state.phase),
        state.cause.empty() ? "" : ": " + state.cause);
    if (const auto launch = read_launch(run))
        say(stdout, "  started   through profile {}{}\n", launch->profile, launch->job.empty() ? "" : ", SLURM job " + launch->job);
    if (state.total_steps > 0) say(stdout, "  steps     {} of {}\n", state.step, state.total_steps);
    if (std::isfinite(state.loss)) say(stdout, "  loss      {}\n", format_value({"loss", "", "", ColumnKind::number, 4}, state.loss));
    say(stdout, "  time      {} in {} attempt{}\n", format_duration(state.active_s), state.attempts, state.attempts == 1 ? "" : "s");
    if (!row.tags.empty()) say(stdout, "  tags      {}\n", printable(join(row.tags, ", ")));
    if (!row.note.empty()) say(stdout, "  note      {}\n", row.note);
    for (const ResultRow& result : store.results(run.info().id))
        say(stdout, "  {:<24} {} {:.2f}  ({}, n = {})\n", result.name, result.metric, result.score, result.task_type, result.n);
    for (const char* kind : {"figure", "table"})
        for (const auto& [name, json] : store.documents(run.info().id, kind)) say(stdout, "  {:<9} {}s/{}.json\n", kind, kind, name);
}

/// What of its model is not what it wrote, and its scores are of.
std::vector<std::string> model_changes(const RunDirectory& run, const Store& store) {
    const std::vector<StoredEvent> noted = StoredEvents(store).of(run.folder(), "final_model");
    return noted.empty() ? std::vector<std::string>() : changes_of_final_model(run, noted.back().fields, ModelLook::quick);
}

/// Of the newest attempt; what its job printed where it has not come to one; empty: none.
fs::path log_of(const RunDirectory& run) {
    const std::vector<int> attempts = run.attempts();
    if (!attempts.empty() && fs::exists(run.attempt_log(attempts.back()))) return run.attempt_log(attempts.back());
    const auto launch = read_launch(run);
    const fs::path printed = launch && launch->launcher == "slurm" ? launch->folder / ("slurm-" + launch->job + ".out") : fs::path();
    return !printed.empty() && fs::exists(printed) ? printed : fs::path();
}

int show_run(const ListOptions& options) {
    const Project project = open_project(options.project);
    const RunDirectory run = find_run(project, options.run);
    if (options.log) {
        const fs::path log = log_of(run);
        print_document(log.empty() ? "" : read_file(log, std::uint64_t(1) << 30));
        return 0;
    }
    if (options.settings) {
        if (options.json)
            print_json(run.settings());
        else
            print_document(to_yaml(run.settings()));
        return 0;
    }
    refresh_jobs(project);
    Store store(project.folder());
    store.ingest(run);
    const RunRow row = stored_row(store, run.info().id);
    if (!options.json) {
        print_run(run, row, store);
        for (const std::string& change : model_changes(run, store))
            say(stderr, "warning: {}/{}; the scores are of the model that the run wrote\n", run.folder().string(), change);
        return 0;
    }
    Json json = row_json(row);
    json["folder"] = run.folder().string();
    if (const auto launch = read_launch(run))
        json["launch"] = {
            {"launcher", launch->launcher}, {"profile", launch->profile}, {"job", launch->job}, {"folder", launch->folder.string()}};
    json["results"] = results_json(store, run.info().id);
    json["figures"] = names_json(store.documents(run.info().id, "figure"));
    json["tables"] = names_json(store.documents(run.info().id, "table"));
    json["model_changes"] = model_changes(run, store);
    json["series"] = store.series_names(run.info().id);
    json["settings"] = run.settings();
    print_json(json);
    return 0;
}

}  // namespace

void add_list_commands(Cli& cli) {
    auto options = std::make_shared<ListOptions>();
    CLI::App* list = add_command(cli, cli.app, "list", "List the runs of a project",
                                 "  faceter list --project ~/quickstart\n  faceter list --state failed --json\n"
                                 "  faceter list --where 'variant in (mote, ic) and retrieval > 0.4'\n"
                                 "  faceter list --where 'training.learning_rate < 1e-4 and not tag = paper'\n"
                                 "  faceter list --columns variant,loss:best,loss:100,retrieval --sort loss:best",
                                 [options] { return list_runs(*options); });
    add_project_option(*list, options->project);
    add_format_option(*list, options->format);
    list->add_flag("--all", options->all, "archived runs too");
    list->add_option("--state", options->state, "only runs in this state")
        ->check(CLI::IsMember({"queued", "running", "silent", "stopped", "failed", "dead", "done"}))
        ->type_name("STATE");
    list->add_option("--tag", options->tag, "only runs with this tag");
    add_where_option(*list, options->where);
    add_column_options(*list, options->columns,
                       "these beside the run instead of the usual ones, by the names of --where: variant, retrieval, "
                       "training.learning_rate, loss:last, loss:best, loss:100",
                       "by such a column, the least first; runs without a value last");

    CLI::App* show = add_command(cli, cli.app, "show", "Show one run: state, scores, settings",
                                 "  faceter show MoTE-1 --project ~/quickstart\n  faceter show quickstart-ic-s1 --settings",
                                 [options] { return show_run(*options); });
    show->add_option("RUN", options->run,
                     "name of a run (MoTE-1), the beginning of its id, or a variant (its newest run, those of --smoke last)")
        ->required();
    add_project_option(*show, options->project);
    CLI::Option* settings = show->add_flag("--settings", options->settings, "only its resolved settings, as YAML (or JSON)");
    CLI::Option* log = show->add_flag("--log", options->log, "only the worker's log of its last attempt");
    log->excludes(settings, show->add_flag("--json", options->json, "print as JSON"));
}

}  // namespace faceter::cli
