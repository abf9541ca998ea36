#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "checkpoint/tokenizer_folder.h"
#include "commands.h"
#include "common/cancel.h"
#include "common/command.h"
#include "common/error.h"
#include "common/json_text.h"
#include "common/printable.h"
#include "common/progress.h"
#include "common/strings.h"
#include "compare/model_card.h"
#include "experiment/run_models.h"
#include "export_leftovers.h"
#include "named_model.h"
#include "plugin/export_check.h"
#include "plugin/export_tokenizer.h"
#include "plugin/model_writer.h"
#include "plugin/onnx_export.h"
#include "plugin/peft_export.h"
#include "record/models_by_run.h"
#include "staged_folder.h"
#include "start_folder.h"

namespace faceter::worker {
namespace {

struct ExportCommand {
    std::string run, folder, project, task, to = "sentence-transformers";
    bool force = false, int8 = false, json = false;
};

Json json_of(const ExportProof& proof) {
    Json verified = Json::array(), not_verified = Json::array();
    for (const ExportDifference& one : proof.verified)
        verified.push_back(
            {{"by", one.by}, {"largest_difference", one.largest}, {"smallest_cosine", one.smallest_cosine}, {"texts", one.texts}});
    for (const auto& [by, why] : proof.not_verified) not_verified.push_back({{"by", by}, {"why", why}});
    return {{"verified", verified}, {"not_verified", not_verified}};
}

/// What others cannot do with the folder; empty: nothing.
std::string who_serves(const fs::path& folder, const EmbeddingModel& model) {
    if (const std::string why = beyond_sentence_transformers(model); !why.empty())
        return fmt::format("{}: sentence-transformers cannot load it: {}; what serves it: faceter embed --model {}", folder.string(), why,
                           shell_word(folder.string()));
    return needs_released_code(model)
               ? folder.string() +
                     ": sentence-transformers loads it with trust_remote_code=True only, by the code that its config.json names"
               : "";
}

void throw_if_stopped() {
    if (stop_requested() != StopRequest::none) throw Error(ExitCode::stopped, "stopped; nothing was written");
}

/// In float32, as other programs are to compute with it.
std::unique_ptr<EmbeddingModel> open_full_model(const RunDirectory& run, const std::optional<ServedRoute>& only = {}) {
    auto model = open_run_model(run, only);
    model->widen();
    return model;
}

/// What texts of one route pass through, as one dense model; its instruction is the default prompt.
std::unique_ptr<EmbeddingModel> model_of_route(const RunDirectory& run, const ServedRoute& served) {
    auto model = open_full_model(run, served);
    fold_route(*model, model->route(served.task, served.role));
    return model;
}

/// Whether the routes differ in weights that can be told apart without a router: each is a model of its own then.
bool needs_one_folder_a_task(const EmbeddingModel& model) {
    if (model.router) return model.router->always().has_value();
    const auto& [first, whole] = *model.routes.begin();
    return std::any_of(model.routes.begin(), model.routes.end(), [&, &whole = whole](const auto& entry) {
        return entry.second.encoder != whole.encoder || entry.second.path != whole.path;
    });
}

std::string folder_of(const std::string& task, Role role) { return safe_file_name(task + "." + std::string(role_name(role))); }

std::vector<ServedRoute> routes_of(const EmbeddingModel& model) {
    std::vector<ServedRoute> routes;
    for (const auto& [key, route] : model.routes) routes.push_back({key.first, key.second});
    return routes;
}

/// The routes of a model whose routes differ in their instructions alone, each instruction once.
std::vector<Route> by_instruction(const EmbeddingModel& model) {
    std::map<std::string, Route> routes;
    for (const auto& [key, route] : model.routes) routes.emplace(route.instruction, route);
    std::vector<Route> all;
    for (auto& [instruction, route] : routes) all.push_back(std::move(route));
    return all;
}

/// Where an export is: which folder of several, else which step of the one. One of a large model takes minutes.
class ExportProgress {
  public:
    ExportProgress(std::size_t folders, std::size_t steps)
        : several_(folders > 1), total_(several_ ? folders : steps), line_("export", total_, several_ ? "folders" : "steps") {}

    void begin_folder(std::size_t number, const std::string& name) {
        done_ = number;
        name_ = name + ": ";
    }
    void step(std::string_view what) {
        throw_if_stopped();
        line_.show(std::min(done_, total_), name_ + std::string(what));
        if (!several_) ++done_;
    }
    void finish() {
        if (!several_) return;
        line_.update(total_);
        line_.finish();
    }

  private:
    bool several_;
    std::size_t total_, done_ = 0;
    std::string name_;
    ProgressLine line_;
};

/// An export as it is put together: the run, its model as the others are held against, and where the result goes.
class Export {
  public:
    Export(const ExportCommand& options, const RunDirectory& run)
        : options_(options), run_(run), progress_(std::in_place, 1, num_steps()), model_(opened()), staged_(options.folder) {}

    int write() {
        if (options_.to == "peft")
            adapters();
        else if (!options_.task.empty())
            one_route(staged_.path(), parse_route(options_.task, model_->tasks));
        else if (options_.to != "faceter" && !model_->routes.empty() && needs_one_folder_a_task(*model_))
            folder_a_route();
        else
            whole_model();
        require_no_leftovers(staged_.place(), staged_.path());
        staged_.put_in_place();
        progress_->finish();
        progress_.reset();  // its line is gone before others are printed
        for (const std::string& note : notes_) say(stderr, "note: {}\n", note);
        for (const fs::path& folder : folders_)
            if (const auto remark = remark_on_steps(folder)) say(stderr, "note: {}\n", *remark);
        options_.json ? print_json() : print_lines();
        return 0;
    }

  private:
    void print_lines() const {
        for (const fs::path& folder : folders_) say(stdout, "{}\n", folder.string());
        say(stdout, "{}", proof_.lines());
    }

    void print_json() const {
        Json result = json_of(proof_);
        result["run"] = run_.info().id;
        result["to"] = options_.to;
        result["folders"] = Json::array();
        for (const fs::path& folder : folders_) result["folders"].push_back(absolute_path(folder).string());
        fmt::print("{}\n", json_text(result, 2));
    }

    void folder_a_route() {
        const std::vector<ServedRoute> routes = routes_of(*model_);
        progress_.emplace(routes.size(), num_steps());
        for (std::size_t i = 0; i < routes.size(); ++i) {
            progress_->begin_folder(i, fmt::format("{}.{}", routes[i].task, role_name(routes[i].role)));
            one_route(staged_.path() / folder_of(routes[i].task, routes[i].role), routes[i]);
        }
    }

    /// Of one folder: opening, writing, computing what is to come out (PEFT: while it is compared), and the steps of the proof.
    std::size_t num_steps() const { return options_.to == "peft" ? 4 : options_.to != "onnx" ? 5 : options_.int8 ? 8 : 6; }
    std::unique_ptr<EmbeddingModel> opened() {
        progress_->step("opening the run");
        return open_full_model(run_);
    }
    ExportStep step() {
        return [this](std::string_view what) { progress_->step(what); };
    }
    /// What the model at hand gives, which the folder is held against.
    ExportCheck check_of(const std::vector<ServedRoute>& routes) {
        progress_->step("computing what it must embed");
        return {*model_, routes};
    }

    /// For those who have no library for it.
    void complete(const fs::path& folder) {
        if (options_.to == "faceter") return;
        if (const auto model = complete_tokenizer(folder))
            add_note(fmt::format("{}: tokenizer.json is made of {}, as transformers converts it", staged_.final_path(folder).string(),
                                 model->filename().string()));
    }

    /// `route`: of a folder that is that one's alone.
    Json source(const std::string& route) const {
        Json source = {{"run", run_.info().id}};
        if (!route.empty()) source["task"] = route;
        return source;
    }

    /// The proof counts, and the folder says what it is.
    void take(const ExportProof& proof, const fs::path& folder, const EmbeddingModel& written, const std::string& route) {
        throw_if_stopped();
        proof_.add(proof);
        const fs::path base = options_.to == "peft" ? folder / "base" : folder;
        const Json config = read_json(base / "config_sentence_transformers.json");
        ExportedFolder card;
        card.target = options_.to;
        card.route = route;
        card.prompts = json_or<std::map<std::string, std::string>>(config, "prompts", {}, "prompts");
        const auto prompt = json_or<Json>(config, "default_prompt_name", Json(), "prompts");
        if (prompt.is_string()) card.default_prompt = prompt.get<std::string>();
        if (options_.to != "onnx" && options_.to != "peft") card.only_faceter = beyond_sentence_transformers(written);
        card.proof = proof.lines();
        card.start_model = first_start(run_.folder());
        card.adapters = adapters_;
        card.int8 = int8_;
        write_file_atomic(folder / "README.md", model_card(run_, card));
    }

    void one_route(const fs::path& folder, const ServedRoute& served) {
        make_directories(folder);
        const auto alone = model_of_route(run_, served);
        const std::string name = served.task + "." + std::string(role_name(served.role));
        Route route = model_->route(served.task, served.role);
        if (route.routed && model_->router && model_->router->always()) route.path = *model_->router->always();
        if (options_.to == "onnx") return write_onnx(folder, *alone, {served}, name, {route});
        progress_->step("writing");
        write_model(folder, *alone);
        complete(folder);
        take(prove_export(check_of({served}), folder, source(name), step()), folder, *alone, name);
        folders_.push_back(staged_.final_path(folder));
        add_note(who_serves(folders_.back(), *alone));
    }

    void whole_model() {
        if (options_.to == "onnx") return write_onnx(staged_.path(), *model_, routes_of(*model_), "", by_instruction(*model_));
        progress_->step("writing");
        write_model(staged_.path(), *model_);
        complete(staged_.path());
        take(prove_export(check_of(routes_of(*model_)), staged_.path(), source(""), step()), staged_.path(), *model_, "");
        folders_.emplace_back(options_.folder);
        add_note(who_serves(options_.folder, *model_));
    }

    void adapters() {
        const PeftExport peft(*model_, staged_.path());
        progress_->step("writing");
        peft.write(open_full_model(run_), staged_.final_path(peft.base_folder()));
        adapters_ = peft.uses();
        complete(peft.base_folder());
        take(peft.prove(source(""), step()), staged_.path(), *model_, "");
        for (std::size_t i = 0; i < model_->encoders.front()->adapters().size(); ++i)
            folders_.push_back(fs::path(options_.folder) / peft.adapter_folder(i).filename());
    }

    /// `alone`: the one dense model of the routes; texts go through the run's own model by each of `ways`.
    void write_onnx(const fs::path& folder, const EmbeddingModel& alone, const std::vector<ServedRoute>& routes, const std::string& name,
                    const std::vector<Route>& ways) {
        if (const std::string why = beyond_onnx(alone); !why.empty())
            throw usage_error("ONNX cannot hold the model of run {}: {}. 'faceter export' without --to onnx writes it", run_.info().id,
                              why);
        std::vector<OnnxForm> forms{OnnxForm::float32};
        if (options_.int8) forms.push_back(OnnxForm::int8);
        progress_->step("writing");
        const OnnxFiles files = write_onnx_model(folder, alone, forms);
        complete(folder);
        if (files.int8) int8_ = files.int8->sentence();
        take(prove_onnx_export(check_of(routes), {*model_, ways}, folder, files, source(name), step()), folder, alone, name);
        folders_.push_back(staged_.final_path(folder));
        if (files.int8 && !files.int8->kept.empty())
            add_note(fmt::format("{}: in int8 {}", folders_.back().string(), files.int8->sentence()));
    }

    void add_note(std::string note) {
        if (!note.empty()) notes_.push_back(std::move(note));
    }

    const ExportCommand& options_;
    const RunDirectory& run_;
    std::optional<ExportProgress> progress_;
    std::unique_ptr<EmbeddingModel> model_;
    StagedFolder staged_;
    std::map<std::string, std::string> adapters_;
    std::optional<std::string> int8_;
    std::vector<fs::path> folders_;  ///< of the export, where each will lie; said when they are there
    std::vector<std::string> notes_;
    ExportProof proof_;
};

[[noreturn]] void refuse_unknown(const ExportCommand& options) {
    use_runs_as_models(options.project);
    const std::string project = options.project.empty() ? project_at_hand().string() : options.project;
    const auto near = nearest_run(options.run);
    throw usage_error("no run '{}' in {}; {}to see the runs: faceter list --project {}", options.run, project,
                      near ? fmt::format("did you mean '{}'? ", *near) : "", shell_word(project));
}

/// Its final model would be replaced, by another run's or in another form, and its record is not made for what lies beside it.
void refuse_place_of_a_run(const fs::path& out) {
    const fs::path whole = absolute_path(out / "").parent_path();
    std::error_code ignored;
    if (fs::exists(whole / "run.json", ignored) || (whole.filename() == "model" && fs::exists(whole.parent_path() / "run.json", ignored)))
        throw usage_error("{}: is the place of a run and its own model; give another folder", out.string());
}

int export_run(const ExportCommand& options) {
    const auto run = find_run(options.run, options.project);
    if (!run) refuse_unknown(options);
    const fs::path out = options.folder;
    if (out.empty() || (fs::exists(out) && !fs::is_directory(out)))
        throw usage_error("{}: is no folder; name one that is to be written", faceter::quoted(options.folder));
    refuse_place_of_a_run(out);
    if (fs::exists(out) && !StagedFolder::is_empty(out) && !options.force)
        throw usage_error("{}: is not empty; give another folder, or --force", out.string());
    if (options.to == "peft" && !options.task.empty()) throw usage_error("--to peft writes the adapters of all tasks; leave out --task");
    if (options.int8 && options.to != "onnx") throw usage_error("--int8 is a form of ONNX files; it goes with --to onnx");
    return Export(options, *run).write();
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<ExportCommand>();
    auto* command =
        app.add_subcommand("export",
                           "Write a run's model as a folder that other programs load (a mixture: one folder a task and role), open "
                           "it again, and compare what it embeds with the run. What sentence-transformers cannot hold "
                           "(token-routed blocks, a router of gates) is written for Faceter, and said.");
    command->footer(
        "Example:\n  faceter export quickstart-ic exported --project my-project\n"
        "  faceter export quickstart-mote retrieval-model --project my-project --task retrieval.document\n"
        "  faceter export quickstart-ic onnx-model --project my-project --to onnx --int8\n"
        "  faceter export quickstart-ic exported --project my-project --json");
    command->add_option("RUN", options->run, "Run folder or name")->required();
    command->add_option("DIR", options->folder, "Folder to write")->required();
    command->add_option("--project", options->project, "Project folder that the run's name is looked up in");
    command
        ->add_option("--to", options->to,
                     "sentence-transformers; onnx: onnx/model.onnx with the outputs last_hidden_state and sentence_embedding; "
                     "peft: each adapter as PEFT keeps it, beside their base; faceter: all tasks in one folder, as Faceter keeps them")
        ->check(CLI::IsMember({"sentence-transformers", "onnx", "peft", "faceter"}))
        ->capture_default_str();
    command->add_flag("--int8", options->int8, "With --to onnx: also onnx/model_qint8_avx512_vnni.onnx, its weights in int8");
    command->add_option("--task", options->task, "Only this task, with its expert or adapter in place, such as retrieval.document");
    command->add_flag("--json", options->json, "Print JSON: the folders, and by whom they were verified, with the differences");
    command->add_flag("--force", options->force, "Write into a folder that is not empty");
    command->callback([=, &exit_code] { exit_code = export_run(*options); });
}

}  // namespace faceter::worker
