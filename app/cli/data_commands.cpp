#include <set>

#include "cli/commands.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "data/duplicates.h"
#include "data/leaves.h"
#include "data/overlap.h"
#include "data/sources.h"
#include "experiment/experiment.h"

namespace faceter::cli {
namespace {

struct DataOptions {
    std::string file;
    std::vector<std::string> overrides;
    bool json = false;
};

struct LoadedData {
    std::vector<TrainingSet> training;
    std::vector<EvaluationSet> evaluation;
};

/// Reads the data sets of runs, equal entries once: runs of a sweep may differ in theirs. One that cannot be there on this machine is said
/// and left out.
class DataLoader {
  public:
    explicit DataLoader(fs::path base) : base_(std::move(base)) {}

    void load_training(const Json& settings) {
        const std::uint64_t seed = settings["seed"];
        for (const auto& [task, entry] : settings["tasks"].items())
            for (const Json& set : entry["train"])
                load(Json::array({entry["type"], set}), [&, type = entry["type"].get<std::string>()] {
                    for (TrainingSet& leaf : load_training_sets({set, base_, seed, 0}, type)) data_.training.push_back(std::move(leaf));
                });
    }
    void load_scored(const Json& settings) {
        for (const auto& [task, entry] : settings["tasks"].items()) load_scored(entry["validation"], settings["seed"]);
        load_scored(settings["evaluation"]["datasets"], settings["seed"]);
    }
    LoadedData finish() { return std::move(data_); }

  private:
    void load_scored(const Json& entries, std::uint64_t seed) {
        for (const Json& set : entries)
            load(Json::array({set}), [&] { data_.evaluation.push_back(load_evaluation_set({set, base_, seed, 0})); });
    }
    template <typename Body>
    void load(const Json& entry, Body body) {
        if (!seen_.insert(entry).second) return;
        try {
            body();
        } catch (const DataUnavailable& reason) {
            say(stderr, "left out: {}\n", reason.what());
        }
    }

    fs::path base_;
    std::set<Json> seen_;
    LoadedData data_;
};

/// All data sets of an experiment file.
LoadedData load_data(const Cli& cli, const DataOptions& options) {
    const Experiment experiment = Experiment::load(options.file, load_catalogue(cli), {options.overrides, {}, false});
    experiment.check_files();
    DataLoader loader(absolute_path(experiment.file()).parent_path());
    for (const ResolvedRun& run : experiment.runs()) loader.load_training(run.settings);
    for (const ResolvedRun& run : experiment.runs()) loader.load_scored(run.settings);
    return loader.finish();
}

int overlap(const Cli& cli, const DataOptions& options) {
    const LoadedData data = load_data(cli, options);
    const std::vector<Overlap> found = count_overlap(data.training, data.evaluation);
    if (options.json) {
        Json list = Json::array();
        for (const Overlap& one : found) list.push_back(to_json(one));
        print_json({{"overlaps", list}});
        return 0;
    }
    for (const Overlap& one : found) say(stdout, "{}\n", describe_overlap(one));
    if (found.empty())
        say(stdout, "no text stands in both training and test data ({} and {} sets)\n", data.training.size(), data.evaluation.size());
    return 0;
}

/// What of one set stands in it more than once.
Json duplicates_json(const std::string& name, const char* use, const ExampleRows& rows) {
    Json json = to_json(find_duplicates(rows));
    json["name"] = name;
    json["use"] = use;
    return json;
}

void print_duplicates(const Json& set) {
    constexpr std::size_t most_shown = 3;
    const auto repeated = set["repeated"].get<std::size_t>();
    say(stdout, "{} ({}): {} of {} examples repeat another", set["name"].get<std::string>(), set["use"].get<std::string>(), repeated,
        set["examples"].get<std::size_t>());
    if (repeated > 0)
        say(stdout, "; {} stand more than once, {} under different labels", set["groups"].get<std::size_t>(),
            set["labels_differ"].get<std::size_t>());
    say(stdout, "\n");
    for (std::size_t i = 0; i < std::min(most_shown, set["first"].size()); ++i)
        say(stdout, "  {:>6} x  {}\n", set["first"][i]["copies"].get<std::size_t>(),
            faceter::quoted(set["first"][i]["text"].get<std::string>(), 80));
}

int duplicates(const Cli& cli, const DataOptions& options) {
    const LoadedData data = load_data(cli, options);
    Json sets = Json::array();
    for (const TrainingSet& set : data.training) sets.push_back(duplicates_json(set.name, "training", ExampleRows(set)));
    for (const EvaluationSet& set : data.evaluation) sets.push_back(duplicates_json(set.name, "evaluation", ExampleRows(set)));
    if (options.json) {
        print_json({{"sets", sets}});
        return 0;
    }
    for (const Json& set : sets) print_duplicates(set);
    return 0;
}

Json training_json(const TrainingSet& set) {
    Json examples = Json::array();
    for (std::size_t i = 0; i < std::min<std::size_t>(3, set.examples.size()); ++i) {
        const Example& example = set.examples[i];
        Json json = {
            {"anchor", set.texts[example.anchor]}, {"positive", set.texts[example.positive]}, {"negatives", example.num_negatives}};
        if (example.label >= 0) json["label"] = example.label;
        examples.push_back(std::move(json));
    }
    return {{"name", set.name},          {"task", set.task}, {"examples", set.examples.size()},
            {"texts", set.texts.size()}, {"card", set.card}, {"first", examples}};
}

void print_card(const std::string& name, const std::string& kind, const Json& card) {
    say(stdout, "{} ({})\n", name, kind);
    for (const auto& [key, value] : card.items())
        say(stdout, "  {:<16} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
}

int show(const Cli& cli, const DataOptions& options) {
    const LoadedData data = load_data(cli, options);
    Json training = Json::array(), evaluation = Json::array();
    for (const TrainingSet& set : data.training) training.push_back(training_json(set));
    for (const EvaluationSet& set : data.evaluation)
        evaluation.push_back({{"name", set.name}, {"task_type", set.task_type}, {"card", set.card}});
    if (options.json) {
        print_json({{"training", training}, {"evaluation", evaluation}});
        return 0;
    }
    for (const Json& set : training) {
        print_card(set["name"], fmt::format("training, {} examples", set["examples"].get<std::size_t>()), set["card"]);
        for (const Json& example : set["first"])
            say(stdout, "    {}\n      -> {}\n", faceter::quoted(example["anchor"].get<std::string>(), 100),
                faceter::quoted(example["positive"].get<std::string>(), 100));
    }
    for (const Json& set : evaluation) print_card(set["name"], "evaluation, " + set["task_type"].get<std::string>(), set["card"]);
    return 0;
}

void add_options(Cli& cli, CLI::App& command, DataOptions& options) {
    command.add_option("FILE", options.file, "experiment file")->required()->type_name("FILE.yaml");
    command.add_option("--set", options.overrides, "override a setting")->type_name("KEY=VALUE")->allow_extra_args(false);
    command.add_flag("--json", options.json, "print as JSON");
    add_plugin_option(cli, command);
}

}  // namespace

void add_data_commands(Cli& cli) {
    auto options = std::make_shared<DataOptions>();
    CLI::App* data = add_command_group(cli, "data", "Look at an experiment's data; judge training pairs by a teacher");
    add_options(
        cli,
        *add_command(cli, *data, "duplicates", "Count examples that stand in a data set more than once",
                     "  faceter data duplicates experiments/quickstart.yaml", [&cli, options] { return duplicates(cli, *options); }),
        *options);
    add_options(cli,
                *add_command(cli, *data, "overlap", "Count texts that stand in both training and test data",
                             "  faceter data overlap experiments/quickstart.yaml", [&cli, options] { return overlap(cli, *options); }),
                *options);
    add_options(cli,
                *add_command(cli, *data, "show", "Counts, sources and first examples of every data set",
                             "  faceter data show experiments/quickstart.yaml", [&cli, options] { return show(cli, *options); }),
                *options);
    for (const auto& [name, summary] : worker_data_commands()) data->add_subcommand(name, summary)->group("Commands");
}

}  // namespace faceter::cli
