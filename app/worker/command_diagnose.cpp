#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "commands.h"
#include "common/cancel.h"
#include "common/error.h"
#include "common/json_text.h"
#include "common/printable.h"
#include "common/progress.h"
#include "common/strings.h"
#include "compare/diagnose_data.h"
#include "compare/diagnose_record.h"
#include "data/leaves.h"
#include "diagnose/diagnose_model.h"
#include "experiment/recipes.h"
#include "figure/text_width.h"
#include "model/accelerator.h"
#include "plugin/run_model.h"
#include "record/journal.h"
#include "record/start_fingerprint.h"
#include "record/whole_settings.h"
#include "settings/core_settings.h"
#include "stage_data.h"

namespace faceter::worker {
namespace {

struct DiagnosedData {
    std::vector<TrainingSet> training;
    std::vector<EvaluationSet> evaluation;
    std::vector<std::string> missing;  ///< messages of what cannot be read any more
    bool all_trained = true;           ///< none of the training data is among these
};

template <typename Read>
void read_or_note(DiagnosedData& data, Read read) {
    try {
        read();
    } catch (const Error& error) {
        data.missing.push_back(error.what());
    }
}

DataRequest request_of(const RunDirectory& run, const Json& entry) {
    return {entry, run.folder(), run.info().seed, json_or<std::size_t>(run.settings(), "sample_limit", 0, "sample_limit")};
}

DiagnosedData read_data(const RunDirectory& run) {
    DiagnosedData data;
    for (const Task& task : read_tasks(run.settings().at("tasks")))
        for (const Json& entry : task.train)
            read_or_note(data, [&] {
                for (TrainingSet& set : load_training_sets(request_of(run, entry), task.type)) {
                    set.task = task.name;
                    data.training.push_back(std::move(set));
                }
            });
    data.all_trained = data.missing.empty();
    for (const Json& entry : run.settings().at("evaluation").at("datasets"))
        read_or_note(data, [&] { data.evaluation.push_back(load_evaluation_set(request_of(run, entry))); });
    return data;
}

/// The first so many parts of a run's training, as its journals tell.
std::size_t parts_begun(const RunDirectory& run) {
    std::size_t begun = 0;
    for (const int attempt : run.attempts())
        for (JournalReader journal(run.attempt_journal(attempt)); const auto event = journal.next();)
            if (event->type == "stage_started" && event->fields.contains("part"))
                begun = std::max(begun, json_at<std::size_t>(event->fields, "part", "stage_started") + 1);
    return begun;
}

/// Each stage's batches, of the data that it had: it may have filtered and mined what those before it left.
std::vector<Finding> diagnose_stages(const RunDirectory& run, DiagnosedData& data) {
    const std::vector<Json> recipes = recipes_of(run.settings());
    const BatchPairs recorded = recorded_pairs(run);
    const std::size_t begun = parts_begun(run);
    std::vector<Finding> findings;
    for (std::size_t part = 0; part < recipes.size(); ++part) {
        if (data.all_trained) {
            const std::size_t before = data.missing.size();
            read_or_note(data, [&] { take_chosen(run.folder() / "data", recipes, part, part < begun, data.training); });
            data.all_trained = data.missing.size() == before;  // what later stages chose is of what this one left
        }
        for (Finding& one : diagnose_negatives(data.training, run.settings(), recorded, part)) findings.push_back(std::move(one));
    }
    return findings;
}

/// What the run is held against is what lies there now.
std::vector<Finding> diagnose_start(const RunDirectory& run, const EmbeddingModel& start) {
    const std::string noted = began_from(run);
    if (noted.empty() || noted == start.fingerprint()) return {};
    return {{"model", "start model", FindingState::unknown, 0, 0,
             fmt::format("The model in {} is not the one that the run began from (its tokenizer, pooling, configuration or weights "
                         "differ): what is said here of how far the run has come from it is of what lies there now.",
                         start.folder.folder.string()),
             "", "", Json::object()}};
}

Finding without_model(const std::string& subject, const std::string& says) {
    return {"model", subject, FindingState::unknown, 0, 0, says, "", "", Json::object()};
}

/// Null, and a finding that says why, where one is gone or cannot be read: what the record and the data say is said all the same.
template <typename Open>
std::unique_ptr<EmbeddingModel> open_or_say(const std::string& subject, Diagnosis& diagnosis, Open open) {
    try {
        return open();
    } catch (const Error& error) {
        if (error.code() == ExitCode::stopped) throw;
        diagnosis.add({without_model(subject, fmt::format("It cannot be opened, so that nothing is said here of how the model moved from "
                                                          "it, and of its embeddings: {}",
                                                          error.what()))});
        return nullptr;
    }
}

/// Between the parts, each of which embeds or reads for a while.
void end_where_stopped() {
    if (stop_requested() != StopRequest::none) throw Error(ExitCode::stopped, "stopped; nothing was said of the run");
}

void diagnose_model(const RunDirectory& run, const DiagnosedData& data, const std::string& device, Diagnosis& diagnosis) {
    const c10::Device place = choose_device(device);
    say(stderr, "open the start model and the run's\n");
    const auto start = open_or_say("start model", diagnosis, [&] {
        auto model = open_start_model(run.settings());
        diagnosis.add(diagnose_start(run, *model));
        variant_of(run.settings())->prepare(*model);
        return model;
    });
    const auto now = open_or_say("the run's model", diagnosis, [&] { return open_run_model(run); });
    if (!start || !now) return;
    end_where_stopped();
    for (EmbeddingModel* model : {start.get(), now.get()}) model->move_to(place);
    const ModelPair models{*start, *now, data.training};
    diagnosis.add(diagnose_movement(models));
    diagnosis.add(diagnose_lengths(models, data.evaluation, run.settings()));
    end_where_stopped();
    say(stderr, "embed pairs of {} training sets\n", data.training.size());
    diagnosis.add(diagnose_pairs(models, run.settings()));
    end_where_stopped();
    diagnosis.add(diagnose_collapse(models, run.settings()));
}

Diagnosis diagnose(const RunDirectory& run, const std::string& device) {
    if (run.info().is_baseline() || run.info().is_imported())
        throw usage_error("{} is a run without training: name one that has trained", run.info().shown_name());
    whole_settings(run);
    Diagnosis diagnosis{run.info().shown_name(), {}};
    say(stderr, "read the record and the data\n");
    DiagnosedData data = read_data(run);
    end_where_stopped();
    diagnosis.add(diagnose_end(run));
    diagnosis.add(diagnose_training(run));
    diagnosis.add(diagnose_changes(run, data.training, data.evaluation));
    diagnosis.add(diagnose_stages(run, data));
    for (const std::string& message : data.missing)
        diagnosis.add({{"data", "", FindingState::unknown, 0, 0, message, "", "", Json::object()}});
    diagnosis.add(diagnose_repeats(data.training));
    diagnosis.add(diagnose_leaks(data.training, data.evaluation));
    diagnosis.add(diagnose_gain(run, data.evaluation));
    end_where_stopped();
    if (fs::is_directory(final_model_folder(run)))
        diagnose_model(run, data, device, diagnosis);
    else
        diagnosis.add({without_model("", "The run has no final model: it has not finished, or its weights are gone.")});
    diagnosis.sort();
    return diagnosis;
}

/// Over as many lines as the terminal's width takes; what a line goes on with stands further in.
void print_text(const std::string& text) {
    const int width = terminal_columns(stdout) - 1;
    for (const std::string_view line : split(trim(text), '\n')) {
        const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
        const int hanging = indent > 0 ? static_cast<int>(indent) + 2 : 8;                                    // behind "fine    "
        const std::vector<std::string> lines = wrap(line.substr(indent), width - hanging, LongWords::whole);  // paths
        for (std::size_t i = 0; i < lines.size(); ++i) say(stdout, "{}{}\n", blanks(i == 0 ? static_cast<int>(indent) : hanging), lines[i]);
    }
}

}  // namespace

void add_diagnose(CLI::App& app, int& exit_code) {
    struct Options {
        std::string run, project = ".", device = "auto";
        int threads = 0;
        bool json = false;
    };
    const auto options = std::make_shared<Options>();
    if (const char* set = std::getenv("FACETER_PROJECT"); set && *set) options->project = set;
    auto* command = app.add_subcommand("diagnose", "Say what went wrong in a run, or that nothing did, and what to do about it.");
    command->footer("Example:\n  faceter diagnose MoTE-s1 --project ~/quickstart\n  faceter diagnose ~/quickstart/runs/RUN --json");
    command->add_option("run", options->run, "Name of a run in the project, or its folder")->required()->type_name("RUN");
    command->add_option("--project", options->project, "Project folder (default: FACETER_PROJECT, else this folder)")->type_name("DIR");
    command->add_option("--threads", options->threads, "Threads; 0, the default: all cores")->check(CLI::Range(0, most_threads));
    command->add_option("--device", options->device, "auto (a GPU where there is one), cpu or cuda")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
        ->capture_default_str();
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([options, &exit_code] {
        if (options->threads > 0) at::set_num_threads(options->threads);
        const auto run = find_run(options->run, options->project);
        if (!run)
            throw usage_error("{} is no run of the project {}: faceter list shows what is there", faceter::quoted(options->run),
                              options->project);
        const Diagnosis diagnosis = diagnose(*run, options->device);
        if (options->json)
            fmt::print("{}\n", json_text(diagnosis.to_json(), 1));
        else
            print_text(diagnosis.to_text());
        exit_code = 0;
    });
}

}  // namespace faceter::worker
