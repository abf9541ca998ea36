#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "checkpoint/hub.h"
#include "commands.h"
#include "common/cancel.h"
#include "common/error.h"
#include "common/json_text.h"
#include "common/printable.h"
#include "common/progress.h"
#include "common/strings.h"
#include "compare/mteb_results.h"
#include "cut_texts.h"
#include "data/record.h"
#include "data/sources.h"
#include "eval/form_scores.h"
#include "eval/tasks.h"
#include "evaluation_names.h"
#include "example_values.h"
#include "experiment/suite.h"
#include "figure/table_export.h"
#include "named_model.h"
#include "release_prompts.h"
#include "start_folder.h"
#include "stats/descriptive.h"

namespace faceter::worker {
namespace {

struct EvaluateCommand {
    ModelOptions model;
    std::vector<std::string> data;
    std::string split = "test", suite, data_root, mteb_results, model_name;
    std::vector<std::int64_t> prefixes;
    std::vector<std::string> precisions;
    std::size_t max_examples = 0, max_documents = 0, max_queries = 0;
    std::int64_t cache_mib = 0;
    bool split_named = false, json = false, per_example = false, present = false;
};

/// `examples`: what example_values says of it; null where it was not asked for.
Json summary_of(const EvaluationResult& result, const Json& examples) {
    Json json = result.to_json();
    if (result.task.empty()) json["task"] = result.task_type;  // no task of an experiment: the kind is what a script asks for
    json.erase("per_example");
    if (examples.is_null()) return json;
    if (!examples.contains("subsets")) {
        json.update(examples);
        return json;
    }
    for (std::size_t i = 0; i < result.subsets.size(); ++i) json["subsets"][i].update(examples.at("subsets").at(i));
    return json;
}

Table table_of(const std::vector<EvaluationResult>& results) {
    Table table;
    table.name = "evaluation";
    table.caption = "Scores in percent";
    table.add_column("data set", ColumnKind::text);
    table.add_column("task type", ColumnKind::text);
    table.add_column("metric", ColumnKind::text);
    table.add_column("score", ColumnKind::number, 2);
    table.add_column("n", ColumnKind::count);
    double sum = 0;
    for (const EvaluationResult& r : results) {
        table.add_row({Cell::of(r.name), Cell::of(r.task_type), Cell::of(r.metric), Cell::of(r.score), Cell::of(static_cast<double>(r.n))});
        sum += r.score;
    }
    if (results.size() < 2) return table;
    table.add_row({Cell::of("mean over data sets"), Cell(), Cell(), Cell::of(sum / static_cast<double>(results.size())), Cell()});
    table.rows.back().rule_above = true;
    std::map<std::string, std::vector<double>> types;
    for (const EvaluationResult& r : results) types[r.task_type].push_back(r.score);
    if (types.size() < 2) return table;
    std::vector<double> means;
    for (const auto& [type, scores] : types) means.push_back(mean(scores));
    table.add_row({Cell::of("mean over task types"), Cell(), Cell(), Cell::of(mean(means)), Cell()});
    return table;
}

/// What a suite lacks is listed before a model is opened.
void say_missing(const EvaluateCommand& options) {
    const Suite suite = find_suite(options.suite);
    const SuitePlan plan = plan_suite(suite, options.data_root, true);
    const std::string missing = describe_missing(suite, plan, options.data_root);
    if (missing.empty()) return;
    if (plan.entries.empty()) throw data_error("{}", missing);
    if (!options.present) throw data_error("{}\n--present scores those that are there", missing);
    say(stderr, "{}\n", missing);
}

/// Of the texts that the set has.
Json limits_of(const Json& entry) {
    Json limits = Json::object();
    for (const char* key : {"max_examples", "max_documents", "max_queries"})
        if (entry.contains(key) && entry[key].is_number() && entry[key] > 0) limits[key] = entry[key];
    return limits;
}

/// Retrieval is limited by its queries and documents, all else by its examples: what does not reach a set leaves it whole.
void leave_out_limits_of_others(Json& entry, std::string_view task_type) {
    const bool searches = task_type == "retrieval", limited = !limits_of(entry).empty();
    for (const char* key : searches ? std::vector{"max_examples"} : std::vector{"max_documents", "max_queries"}) entry.erase(key);
    if (searches && limited && limits_of(entry).empty())
        say(stderr, "warning: {} is a retrieval set, and scored whole: --max-queries and --max-documents limit it\n",
            faceter::quoted(entry.at("name").get<std::string>()));
}

/// The entries of --data and --suite.
std::vector<Json> entries_of(const EvaluateCommand& options, bool has_tasks) {
    std::vector<Json> entries;
    for (const std::string& folder : options.data) {
        fs::path plain = absolute_path(folder);
        if (plain.filename().empty()) plain = plain.parent_path();
        entries.push_back({{"source", "folder"}, {"path", plain.string()}, {"split", options.split}});
    }
    if (!options.suite.empty()) {
        SuitePlan plan = plan_suite(find_suite(options.suite), options.data_root, !has_tasks);
        std::move(plan.entries.begin(), plan.entries.end(), std::back_inserter(entries));
    }
    for (Json& entry : entries)
        for (const auto& [key, limit] : {std::pair<const char*, std::size_t>{"max_examples", options.max_examples},
                                         {"max_documents", options.max_documents},
                                         {"max_queries", options.max_queries}})
            if (limit > 0) entry[key] = limit;
    name_apart(entries);
    for (Json& entry : entries)
        if (entry.contains("task")) leave_out_limits_of_others(entry, entry["task"].get<std::string>());  // a suite's
    return entries;
}

EvaluationSet read_set(const Json& entry) {
    DataRequest request;
    request.settings = entry;
    try {
        EvaluationSet set = load_evaluation_set(request);
        for (const std::string& warning : warnings_of(set.card)) say(stderr, "warning: {}\n", warning);
        return set;
    } catch (const Error& error) {
        throw with_advice(error, "or take it out of the file");
    }
}

/// What is to be scored. Folders named one by one are all read before anything is computed: a broken one is found now, not after an hour. A
/// suite may be larger than memory, so its data sets are read one after another.
class SetsToScore {
  public:
    SetsToScore(std::vector<Json> entries, bool all_at_once) : entries_(std::move(entries)) {
        for (std::size_t i = 0; all_at_once && i < entries_.size(); ++i) read_.push_back(read(i));
    }
    std::size_t size() const { return entries_.size(); }
    /// Those that are read without limits that do not reach them.
    const std::vector<Json>& entries() const { return entries_; }
    EvaluationSet take(std::size_t i) { return read_.empty() ? read(i) : std::move(read_[i]); }

  private:
    EvaluationSet read(std::size_t i) {
        EvaluationSet set = read_set(entries_[i]);
        leave_out_limits_of_others(entries_[i], set.task_type);
        return set;
    }
    std::vector<Json> entries_;
    std::vector<EvaluationSet> read_;
};

/// A model whose task or instruction the command line gives has one route for all texts. Else the run's tasks count; without tasks, what
/// the set or the suite says stands in front, and where that says nothing the prompts that the model's own folder has for such a set.
EvaluationRoutes chosen_routes(const EvaluateCommand& options, const OpenedModel& opened, const EvaluationSet& set) {
    const EvaluationRoutes routes = routes_for(*opened.model, set, ""), one{options.model.task, opened.route, opened.route};
    if (!options.model.task.empty() || options.model.instruction) return one;
    const bool instructed = set.routing.query_instruction || set.routing.document_instruction;
    if (!routes.task.empty() || opened.model->router || instructed || opened.run) return routes;  // a run: as it scores itself
    return release_routes(*opened.model, set).value_or(one);
}

/// What stood in front of its texts.
Json instructions_json(const EvaluationRoutes& routes) {
    return {{"query", routes.query.instruction}, {"document", routes.document.instruction}};
}

/// The model's name to MTEB: org/name of the hub, without a revision; a run or a folder as it is called.
std::string default_model_name(const std::string& model) {
    std::error_code ignored;
    return fs::is_directory(model, ignored) ? short_model_name(model) : model.substr(0, model.find('@'));
}

/// The package knows one result of a model, a revision and a data set: another one in its place is said.
void warn_of_other_scores(const fs::path& file, const Json& fresh) {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return;
    try {
        if (const Json before = read_json(file); before.contains("scores") && before["scores"] == fresh["scores"]) return;
    } catch (const Error&) {  // torn, or no result
    }
    say(stderr, "warning: {} held other scores, which were replaced; --model-name keeps results apart, as those of another --task\n",
        file.string());
}

/// Whether the model has an instruction for any text.
bool uses_instructions(const EmbeddingModel& model) {
    const auto has_instruction = [](const auto& route) { return !route.second.instruction.empty(); };
    const auto is_prompt = [](const auto& prompt) { return !prompt.second.empty(); };
    return std::any_of(model.routes.begin(), model.routes.end(), has_instruction) ||
           std::any_of(model.folder.prompts.begin(), model.folder.prompts.end(), is_prompt);
}

/// What embeds otherwise is a revision of its own. A folder's fingerprint has its length and how its products are computed, a run's name
/// neither.
std::string revision_of(const EvaluateCommand& options, const OpenedModel& opened) {
    if (!opened.run) return opened.model->fingerprint();
    std::string revision = opened.run->info().id;
    if (const std::string compute = compute_name_of(*opened.model); compute != compute_name(Compute::float32)) revision += "-" + compute;
    if (options.model.max_length > 0) revision += fmt::format("-{}-tokens", options.model.max_length);
    return revision;
}

/// MTEB's layout: DIR/<model>/<revision>/<task>.json and model_meta.json.
void write_mteb_file(const EvaluateCommand& options, const OpenedModel& opened, const EvaluationResult& result, double seconds) {
    const EmbeddingModel& own = *opened.model;
    const std::string model = mteb_model_name(options.model_name.empty() ? default_model_name(options.model.model) : options.model_name);
    const std::string revision = revision_of(options, opened);
    const fs::path folder = fs::path(options.mteb_results) / mteb_model_folder(model) / safe_file_name(revision);
    make_directories(folder);
    const MtebModel described{model,
                              revision,
                              own.encoders.front()->total_parameters(),
                              own.dim(),
                              static_cast<std::int64_t>(own.max_length),
                              std::string(similarity_name(own.folder.similarity)),
                              uses_instructions(own),
                              opened.run ? HubModel::name_of(first_start(opened.run->folder())) : ""};
    write_file_atomic(folder / "model_meta.json", mteb_model_meta(described).dump(2) + "\n");
    const Json json = result.to_json(), fresh = mteb_result(json, seconds);
    const fs::path file = folder / mteb_file_name(json);
    warn_of_other_scores(file, fresh);
    write_file_atomic(file, fresh.dump(2) + "\n");
}

/// A file of the package cannot say that its score is of a part.
void refuse_parts_for_mteb(const std::vector<Json>& entries) {
    for (const Json& entry : entries)
        if (const Json limits = limits_of(entry); !limits.empty())
            throw usage_error(
                "{} is limited by {}, and the mteb package would take the part's score for the whole task's; leave the limit "
                "out, or --mteb-results",
                faceter::quoted(entry.at("name").get<std::string>()), limits.begin().key());
}

/// The package tells data sets apart by its own names: "STS-B" and "stsb" are one to it.
void refuse_one_mteb_file(const std::vector<Json>& entries) {
    std::map<std::string, std::string> name_of;
    for (const Json& entry : entries) {
        const auto [at, fresh] = name_of.emplace(mteb_file_name(entry), entry.at("name").get<std::string>());
        if (!fresh)
            throw usage_error("{} and {} are one data set to the mteb package, {}; score one of them with --mteb-results",
                              faceter::quoted(at->second), faceter::quoted(entry.at("name").get<std::string>()), at->first);
    }
}

/// Files of other tasks are no harm to us; the package's loader stops at the first of them, and gives no model's results then.
void note_tasks_unknown_to_mteb(const std::vector<Json>& entries) {
    std::vector<std::string> unknown;
    for (const Json& entry : entries) {
        const auto name = entry.at("name").get<std::string>();
        const SuiteSet* set = set_by_name(name);
        if (!set || set->mteb.empty()) unknown.push_back(faceter::quoted(name));
    }
    if (!unknown.empty())
        say(stderr,
            "note: no suite knows {} as a task of the mteb package; where that has no task of the name either, its "
            "ResultCache.load_results(validate_and_filter=True) stops with a KeyError: leave that out there, or write such results to "
            "another --mteb-results\n",
            join(unknown, ", "));
}

/// Such files are read as scores of the task all the same.
void note_other_protocols(const std::vector<Json>& entries) {
    std::map<std::string, std::vector<std::string>> names_by_difference;
    for (const Json& entry : entries)
        if (const SuiteSet* set = set_by_name(entry.at("name").get<std::string>()); set && !set->differs.empty())
            names_by_difference[set->differs].push_back(set->mteb);
    for (const auto& [difference, names] : names_by_difference)
        say(stderr,
            "note: {} {} scored otherwise than version 2 of the mteb package does it: {}; hold such scores against those made here alone\n",
            join(names, ", "), names.size() == 1 ? "is" : "are", difference);
}

/// What was measured, and how its products were computed.
Json model_json(const EvaluateCommand& options, const OpenedModel& opened) {
    Json json = {{"model", options.model.model},
                 {"version", FACETER_VERSION},
                 {"max_length", opened.model->max_length},
                 {"compute", compute_name_of(*opened.model)}};
    if (opened.run) json["run"] = opened.run->info().id;
    return json;
}

/// Those of `entries` that were scored, in their order. Where a later one failed or was stopped, what was computed before is printed all
/// the same, and JSON names the others. `examples`: by result, where --per-example asks for them; the last may lack them then.
void print_scores(const EvaluateCommand& options, Json model, const std::vector<EvaluationResult>& results,
                  const std::vector<Json>& examples, const FormScores& forms, const std::vector<Json>& entries) {
    if (results.empty()) return;
    const bool whole = results.size() == entries.size();
    if (!options.json) {
        fmt::print("{}", table_to_text(table_of(results)));
        if (forms.forms.size() > 1 && whole) fmt::print("\n{}", table_to_text(forms.table(options.model.model)));
        return;
    }
    Json json = std::move(model);
    json["datasets"] = Json::array();
    for (std::size_t i = 0; i < results.size(); ++i)
        json["datasets"].push_back(summary_of(results[i], i < examples.size() ? examples[i] : Json()));
    if (forms.forms.size() > 1 && whole) json["forms"] = forms.to_json();
    for (std::size_t i = results.size(); i < entries.size(); ++i) json["not_scored"].push_back(entries[i].at("name"));
    fmt::print("{}\n", json_text(json, 1));
}

int evaluate(const EvaluateCommand& options) {
    if (options.data.empty() && options.suite.empty()) throw usage_error("give --data FOLDER, or --suite NAME with --data-root DIR");
    if (!options.suite.empty() && options.data_root.empty())
        throw usage_error("--suite needs --data-root DIR, the folder whose sub-folders are its data sets");
    if (options.split_named && options.data.empty())
        throw usage_error("--split is of the folders of --data; a suite names the split of each of its data sets: leave --split out");
    if (!options.suite.empty()) say_missing(options);
    OpenedModel opened = open_model(options.model, true);
    prepare_to_embed(opened, options.model, options.cache_mib == 0 && options.mteb_results.empty());  // both ask for its fingerprint
    const std::vector<Json> asked = entries_of(options, !opened.model->tasks.empty());
    if (!options.mteb_results.empty()) {
        refuse_one_mteb_file(asked);
        note_tasks_unknown_to_mteb(asked);
        note_other_protocols(asked);
        make_directories(options.mteb_results);  // where it cannot be is said now, not after an hour
    }
    SetsToScore sets(asked, options.suite.empty());
    const std::vector<Json>& entries = sets.entries();
    if (!options.mteb_results.empty()) refuse_parts_for_mteb(entries);
    CachedEmbedder embedder(*opened.model);
    if (options.cache_mib > 0)
        embedder.use_file(
            std::make_shared<EmbeddingFile>(EmbeddingFile::default_file(), static_cast<std::uint64_t>(options.cache_mib) << 20));
    const std::int64_t dim = opened.model->dim();
    FormScores forms{dim, embedding_forms(options.prefixes, options.precisions, dim), {}};
    const Json model = model_json(options, opened);
    std::vector<EvaluationResult> results;
    std::vector<Json> examples;
    ProgressLine progress("evaluate", sets.size(), "data sets");
    const auto stop_where_wanted = [&](std::size_t) {
        if (stop_requested() != StopRequest::none)
            throw Error(ExitCode::stopped, fmt::format("stopped after {} of {} data sets", results.size(), sets.size()));
    };
    embedder.set_progress(stop_where_wanted);
    const auto score_one = [&](std::size_t i) {
        const EvaluationSet set = sets.take(i);
        stop_where_wanted(0);
        progress.update(results.size(), set.name);
        const auto start = std::chrono::steady_clock::now();
        const EvaluationRoutes routes = chosen_routes(options, opened, set);
        if (const std::string cut = cut_warning(*opened.model, set, routes); !cut.empty()) say(stderr, "warning: {}\n", cut);
        add_form_scores(forms, embedder, set, routes);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        results.push_back(forms.results.front().back());
        results.back().settings["instructions"] = instructions_json(routes);
        if (set.card.contains("split")) results.back().settings["split"] = set.card["split"];
        results.back().settings.update(limits_of(entries[i]));
        if (!options.mteb_results.empty()) write_mteb_file(options, opened, results.back(), seconds);
        if (options.per_example) examples.push_back(example_values(embedder, set, routes, results.back()));
    };
    try {
        for (std::size_t i = 0; i < sets.size(); ++i) score_one(i);
    } catch (...) {
        print_scores(options, model, results, examples, forms, entries);
        throw;
    }
    progress.update(results.size());
    if (is_terminal(stderr)) progress.finish();
    print_scores(options, model, results, examples, forms, entries);
    return 0;
}

}  // namespace

void add_evaluate(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<EvaluateCommand>();
    auto* command = app.add_subcommand(
        "evaluate", "Score a model by MTEB's protocols on BEIR and MTEB folders, under the prompts that its release has for them.");
    command->footer(
        "Example:\n  faceter evaluate --model minilm --data data/scifact --data data/banking77 --json\n"
        "  faceter evaluate --model minilm --suite beir-15 --data-root data --present --mteb-results results\n"
        "  faceter evaluate --model minilm --data data/scifact --prefix 192,96 --precision int8,binary");
    add_model_options(*command, options->model, true);
    add_compute_option(*command, options->model);
    command->add_option("--data", options->data, "Folder of one data set (BEIR, or MTEB's JSON lines); may be given again");
    command->add_option("--suite", options->suite,
                        "A suite of data sets (mteb-english-56, beir-15, mote ...), or a YAML file; needs --data-root");
    command->add_option("--data-root", options->data_root, "Folder whose sub-folders are the suite's data sets")->needs("--suite");
    command->add_flag("--present", options->present, "Score those of a suite that are there; without it a missing one is an error")
        ->needs("--suite");
    command->add_option("--split", options->split, "Split to score")
        ->each([options = options.get()](const std::string&) { options->split_named = true; })
        ->capture_default_str();
    command
        ->add_option("--max-examples", options->max_examples,
                     "At most so many test texts, pairs or sentences of a set, chosen by hash; 0: all")
        ->check(CLI::Range(0, 1 << 30))
        ->capture_default_str();
    command->add_option("--max-documents", options->max_documents, "Retrieval: at most so many documents; 0: all")
        ->check(CLI::Range(0, 1 << 30))
        ->capture_default_str();
    command->add_option("--max-queries", options->max_queries, "Retrieval: at most so many queries; 0: all")
        ->check(CLI::Range(0, 1 << 30))
        ->capture_default_str();
    command
        ->add_option("--prefix", options->prefixes, "Score the first so many elements of the embeddings as well, as in --prefix 256,128,64")
        ->delimiter(',')
        ->check(CLI::Range(1, 1 << 30));
    command
        ->add_option("--precision", options->precisions, "Score embeddings as stored in int8 or binary as well, alone and of each prefix")
        ->delimiter(',')
        ->check(CLI::IsMember({"int8", "binary"}));
    command
        ->add_option("--cache", options->cache_mib,
                     "Keep embeddings in the cache folder, at most so many MiB, and use those that are there")
        ->check(CLI::Range(1, 1 << 24));
    command->add_option("--mteb-results", options->mteb_results, "Write each result as a file of the mteb package under this folder")
        ->check([](const std::string& folder) { return std::string(folder.empty() ? "an empty word was given; name a folder" : ""); });
    command->add_option("--model-name", options->model_name, "The model's name there, as org/name; default: of --model")
        ->needs("--mteb-results");
    command->add_flag("--json", options->json, "Print JSON");
    command
        ->add_flag("--per-example", options->per_example,
                   "The value of every example too: the metric of a query or text; the cosine of a pair, beside what the data wants of it")
        ->needs("--json");
    command->callback([=, &exit_code] { exit_code = evaluate(*options); });
}

}  // namespace faceter::worker
