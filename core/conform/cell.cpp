#include "conform/cell.h"

#include <fmt/format.h>

#include <algorithm>

#include "checkpoint/model_folder.h"
#include "common/cancel.h"
#include "common/error.h"
#include "common/hash.h"
#include "conform/broken.h"

namespace faceter::conform {

const std::vector<std::string> all_laws = {"check", "train", "rerun",    "resume",  "ranks",  "cache",
                                           "bf16",  "embed", "evaluate", "company", "export", "peers"};

std::set<std::string> with_needed(std::set<std::string> laws) {
    if (laws.contains("peers")) laws.insert("export");
    if (laws.contains("export") || laws.contains("company")) laws.insert("embed");
    return laws;
}

Json CellResult::to_json() const {
    Json json = {{"start", start},   {"column", column}, {"refused", refused},    {"held", held},
                 {"limits", limits}, {"apart", apart},   {"wrong", Json::array()}};
    for (const Finding& finding : wrong)
        json["wrong"].push_back({{"law", finding.law}, {"what", finding.what}, {"command", finding.command}});
    return json;
}

CellResult CellResult::from_json(const Json& json) {
    CellResult result{json.at("start"), json.at("column"), json.at("refused"), json.at("held"), json.at("limits"), {}};
    result.apart = json_or<std::map<std::string, double>>(json, "apart", {}, "result");
    for (const Json& finding : json.at("wrong")) result.wrong.push_back({finding.at("law"), finding.at("what"), finding.at("command")});
    return result;
}

namespace {

/// A cell that is stopped says nothing of the laws: what its programs did not finish is no finding.
void stop_where_wanted() {
    if (stop_requested() != StopRequest::none) throw Error(ExitCode::stopped, "stopped");
}

/// What a run asks for, or what a start model with few positions takes; one that cannot be opened is for `faceter check` to refuse.
std::size_t longest_text(const fs::path& start_model) {
    constexpr std::size_t wanted = 20;
    try {
        return std::min(wanted, ModelFolder::open(start_model).max_seq_length);
    } catch (const Error&) {
        return wanted;
    }
}

}  // namespace

Cell::Cell(const Laboratory& laboratory, const StartModel& start, const Column& column, std::set<std::string> laws)
    : laboratory_(laboratory),
      start_(start),
      column_(column),
      laws_(with_needed(std::move(laws))),
      folder_(laboratory.folder / safe_file_name(start.name + " x " + column.name)),
      project_(folder_ / "project") {
    result_.start = start.name;
    result_.column = column.name;
    std::error_code none;
    fs::remove_all(folder_, none);
    make_directories(folder_);
}

const std::vector<Cell::Route>& Cell::routes() {
    static const std::vector<Route> all = {
        {"retrieval.query", "retrieval.query"}, {"retrieval.document", "retrieval.document"}, {"classification", "classification.query"}};
    return all;
}

const Cell::Route& Cell::drawn_route() const { return routes()[hash64(result_.name()) % routes().size()]; }

bool Cell::wanted(const std::string& law) const { return laws_.empty() || laws_.contains(law); }

CellResult Cell::run() {
    try {
        if (!check() || !train_first()) {
            stop_where_wanted();  // what was stopped with this program has found nothing
            return result_;
        }
    } catch (const std::exception& error) {  // what a command printed is none of what it should
        stop_where_wanted();
        result_.wrong.push_back({"train", error.what(), ""});
        return result_;
    }
    attempt("rerun", [this] { rerun(); });
    attempt("resume", [this] { resume(); });
    attempt("ranks", [this] { ranks(); });
    attempt("cache", [this] { cache(); });
    attempt("bf16", [this] { half_precision(); });
    attempt("embed", [this] { embed_routes(); });
    attempt("evaluate", [this] { evaluate(); });
    if (!embeddings_.empty()) {
        attempt("company", [this] { company(); });
        attempt("export", [this] { export_folders(); });
        if (laboratory_.peer && !exported_.empty()) attempt("peers", [this] { compare_with_peer(); });
    }
    return result_;
}

void Cell::attempt(const std::string& law, const std::function<void()>& what) {
    if (!wanted(law)) return;
    stop_where_wanted();
    try {
        what();
        if (!result_.limits.contains(law)) result_.held.push_back(law);
    } catch (const Broken& broken) {
        stop_where_wanted();
        result_.wrong.push_back({law, broken.what, broken.command});
    } catch (const std::exception& error) {
        stop_where_wanted();
        result_.wrong.push_back({law, error.what(), ""});
    }
}

/// As an experiment names it.
Json Cell::objective() const {
    if (column_.objective.empty()) return {{"method", "infonce"}};
    Json objective = column_.objective;
    if (objective.contains("teacher")) objective["teacher"] = start_.folder.string();
    return objective;
}

fs::path Cell::write_experiment(const std::string& name, const Json& changes) const {
    Json variant = column_.settings;
    variant["method"] = column_.method;
    Json experiment = {
        {"name", name},
        {"model", start_.folder.string()},
        {"max_length", longest_text(start_.folder)},
        {"threads", 1},
        {"tasks",
         {{"retrieval",
           {{"instructions", {{"query", words()[20] + " "}, {"document", words()[21] + " "}}},
            {"train", {{{"name", "pairs"}, {"source", "file"}, {"path", laboratory_.texts.pairs.string()}}}}}},
          {"classification",
           {{"instructions", {{"text", words()[22] + " " + words()[23] + " "}}},
            {"train", {{{"name", "topics"}, {"source", "file"}, {"path", laboratory_.texts.topics.string()}, {"format", "labelled"}}}}}}}},
        {"variants", {{"V", variant}}},
        {"training",
         {{"batch_size", 8}, {"steps", 6}, {"learning_rate", 1e-3}, {"dropout", laboratory_.dropout}, {"checkpoint_every_steps", 2}}},
        {"evaluation",
         {{"baseline", false},
          {"datasets",
           {{{"name", "similar"}, {"source", "folder"}, {"path", laboratory_.texts.similar.string()}},
            {{"name", "classes"}, {"source", "folder"}, {"path", laboratory_.texts.classes.string()}},
            {{"name", "found"}, {"source", "folder"}, {"path", laboratory_.texts.found.string()}}}}}}};
    if (!column_.objective.empty()) {
        experiment["objective"] = objective();
        const Texts& texts = laboratory_.texts;
        experiment["tasks"]["retrieval"]["train"][0]["path"] = (column_.unscored ? texts.unscored : texts.triplets).string();
        experiment["stages"] = {{{"name", "scored"}, {"tasks", {"retrieval"}}},
                                {{"name", "labelled"}, {"tasks", {"classification"}}, {"objective", {{"method", "infonce"}}}}};
    }
    experiment.update(changes);
    const fs::path file = folder_ / (name + ".yaml");
    write_file_atomic(file, experiment.dump(1) + "\n");
    return file;
}

RunDirectory Cell::train(const std::string& name, const Json& changes, const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"run", write_experiment(name, changes).string(), "--project", project_.string(), "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome run = laboratory_.programs.faceter(arguments);
    if (run.code != 0) throw Broken{run.said(), run.command};
    return RunDirectory(fs::path(parse_json(run.out, "faceter run").at("runs").at(0).at("folder").get<std::string>()));
}

bool Cell::check() {
    const Outcome outcome = laboratory_.programs.faceter({"check", write_experiment("first").string()});
    if (outcome.code == 0) return true;
    if ((outcome.code == 3 || outcome.code == 4) && !outcome.err.empty())
        result_.refused = outcome.err;
    else
        result_.wrong.push_back({"check", outcome.said(), outcome.command});
    return false;
}

/// A run that ends before its first step for a reason that its settings and start model gave should have been refused.
bool Cell::train_first() {
    try {
        first_ = std::make_unique<RunDirectory>(train("first", Json::object(), {}));
        for (const char* set : {"similar", "classes", "found"})
            if (!fs::exists(first_->results() / (std::string(set) + ".json")))
                throw Broken{std::string("the run is done without a score of ") + set, ""};
        result_.held.insert(result_.held.end(), {"check", "train"});
        return true;
    } catch (const Broken& broken) {
        stop_where_wanted();
        const bool settings = broken.what.starts_with("exit code 3") || broken.what.starts_with("exit code 4");
        result_.wrong.push_back({settings ? "check" : "train",
                                 (settings ? "'faceter check' lets it pass, and it fails after the launch; " : "") + broken.what,
                                 broken.command});
        return false;
    }
}

EmbedSource Cell::of_run(const std::string& task) const { return {first_->info().id, project_.string(), task}; }

Embeddings Cell::embed(const EmbedSource& source, const std::vector<std::string>& texts) const {
    Embeddings embeddings = laboratory_.programs.embed(source, texts);
    if (embeddings.rows != texts.size()) throw Broken{fmt::format("{} rows for {} texts", embeddings.rows, texts.size()), source.command()};
    if (!embeddings.finite()) throw Broken{"an embedding is not finite", source.command()};
    return embeddings;
}

Embeddings Cell::embed_by_command(const EmbedSource& source) const {
    std::string lines;
    for (const std::string& text : laboratory_.texts.to_embed) lines += Json{{"text", text}}.dump() + "\n";
    const fs::path input = folder_ / "texts.jsonl", output = folder_ / "vectors.npy";
    write_file_atomic(input, lines);
    std::vector<std::string> arguments = {"embed", "--threads", "1", "--output", output.string(), input.string()};
    const std::vector<std::string> options = source.options();
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = laboratory_.programs.faceter(arguments);
    if (outcome.code != 0) throw Broken{outcome.said(), outcome.command};
    return Embeddings::read_npy(output);
}

}  // namespace faceter::conform
