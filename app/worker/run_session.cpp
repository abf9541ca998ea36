#include "run_session.h"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "common/error.h"
#include "eval/group_embedding.h"
#include "experiment/processes.h"
#include "experiment/result_names.h"
#include "machine.h"
#include "model/compute.h"
#include "plugin/run_model.h"
#include "record/final_model.h"
#include "record/start_fingerprint.h"
#include "run_scores.h"
#include "run_training.h"
#include "settings/core_settings.h"

namespace faceter::worker {
namespace {

/// A run made by an older version may have been let through.
void refuse_meeting_names(const Json& settings) {
    const auto meetings = meeting_names(result_owners(settings));
    if (!meetings.empty()) throw settings_error("{}", meetings.front().message);
}

/// A stop that comes where nobody looks between steps (a model is being fetched, a lock waited for) is no failure: nothing is lost.
void record_end(JournalWriter& journal, ExitCode code, const std::string& message) {
    if (code == ExitCode::stopped) return journal.event("stopped", {{"message", message}});
    journal.event("failed", {{"code", static_cast<int>(code)}, {"message", message}});
}

/// Notes the start model, on rank 0. A run that goes on has its weights from a checkpoint; the tokenizer, the pooling and whatever else no
/// weight tells are those that lie there now: a warning where the newest attempt that tells began from others.
void note_start_model(const RunContext& run, const EmbeddingModel& model, bool resumed) {
    if (!run.is_root()) return;
    const std::string fingerprint = model.fingerprint();
    run.journal->event("start_model", {{"fingerprint", fingerprint}});
    std::vector<int> earlier = run.run.attempts();
    std::erase_if(earlier, [&](int attempt) { return !resumed || attempt >= run.journal->attempt(); });
    for (; !earlier.empty(); earlier.pop_back()) {
        const std::string before = noted_start_model(run.run.attempt_journal(earlier.back()));
        if (before.empty()) continue;
        if (before != fingerprint)
            run.warn(
                fmt::format("the start model is not the one that attempt {} read, which the run goes on from (its tokenizer, pooling, "
                            "configuration or weights differ); 'faceter rerun' begins from what is there now",
                            earlier.back()));
        return;
    }
}

/// The run's final model, which a disk may have damaged since: there is nowhere to fetch it from, and it can be made again.
std::unique_ptr<EmbeddingModel> open_own_model(const RunDirectory& run) {
    try {
        return open_run_model(run);
    } catch (const Error& error) {
        if (error.code() != ExitCode::data || run.info().is_baseline()) throw;
        throw data_error(
            "{} (the run's own model; where its files are damaged, and not only unreadable here: move the folder {} away, and 'faceter "
            "resume {}' makes it again)",
            error.what(), final_model_folder(run).string(), run.info().shown_name());
    }
}

}  // namespace

bool RunSession::has_final_model() const { return run_.run.info().is_baseline() || fs::is_directory(final_model_folder(run_.run)); }

/// Rank 0: the attempt and its journal, before the others are there: what goes wrong at the rendezvous is in it.
void RunSession::begin() {
    trained_ = has_final_model();
    if (!trained_) resume_ = run_.checkpoints().newest(resume_warnings_);
    // One of an earlier attempt; but who hands over an attempt has looked for that, and what came since is meant for this one.
    if (!std::getenv("FACETER_ATTEMPT")) run_.run.clear_request("stop");
    remove_leftovers(run_.run.checkpoints());
    open_journal(run_.run.begin_attempt());
}

void RunSession::open_journal(int attempt) {
    JournalWriter::Start start;
    start.rank = run_.rendezvous.rank;
    if (resume_) start.from_checkpoint = resume_->folder.filename().string(), start.from_step = resume_->state.step;
    start.machine = machine_json();
    if (run_.is_root()) start.machine["ranks"] = run_.rendezvous.size;
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    auto gpu = run_.device.is_cuda() ? GpuMonitor::open(run_.device.index(), visible ? visible : "") : nullptr;
    start.machine["device"] = gpu ? fmt::format("{} ({})", run_.device.str(), gpu->name()) : run_.device.str();
    run_.journal = std::make_unique<JournalWriter>(run_.run, attempt, start);
    sampler_ = std::make_unique<SystemSampler>(*run_.journal, std::move(gpu));
}

/// All ranks go on from the checkpoint that rank 0 has chosen, and write into its attempt.
void RunSession::join_others() {
    GroupTimeouts timeouts;
    if (run_.rendezvous.size > 1) {
        if (run_.journal) run_.journal->phase("meet the other processes");
        timeouts.rendezvous_s = timeouts.step_s = json_at<double>(training_of(run_.settings), "rank_timeout_s", "training");
    }
    run_.group = join_group(run_.rendezvous, timeouts, run_.device);
    Json plan;
    if (run_.is_root())
        plan = {{"attempt", run_.journal->attempt()},
                {"trained", trained_},
                {"checkpoint", resume_ ? resume_->folder.filename().string() : ""}};
    plan = parse_json(text_of_root(*run_.group, plan.dump()), "the first process's plan");
    if (run_.is_root()) return;
    trained_ = plan.at("trained").get<bool>();
    if (const auto checkpoint = plan.at("checkpoint").get<std::string>(); !checkpoint.empty())
        resume_ = run_.checkpoints().open(checkpoint);
    open_journal(plan.at("attempt").get<int>());
}

int RunSession::execute() {
    if (run_.is_root()) begin();
    try {
        join_others();
        return work();
    } catch (...) {
        const auto [code, message] = describe_current_exception();
        if (run_.group && code != ExitCode::peer_lost) run_.group->fail(message);
        if (run_.journal) record_end(*run_.journal, code, message);
        throw;
    }
}

int RunSession::work() {
    for (const std::string& warning : resume_warnings_) run_.warn(warning);
    run_.warn_of_threads();
    refuse_meeting_names(run_.settings);
    check_processes(run_.settings, Catalogue::load(plugin_folders()), run_.rendezvous.size);  // they came by torchrun or srun
    if (run_.is_root()) {
        data_.read_evaluation();
        data_.read_analyses();
    }
    if (trained_) data_.warn_of_changes();
    if (!trained_ && !train()) return static_cast<int>(ExitCode::stopped);
    run_.group->barrier();  // rank 0 has written the final model
    if (trained_ || !run_.is_root()) {
        model_ = open_own_model(run_.run);
        model_->move_to(run_.device);
    }
    bool whole = true;
    if (run_.is_root()) {
        whole = RunScores(run_, data_, *model_).score();
    } else {
        run_.journal->phase("embed for rank 0");
        serve_scores();
    }
    whole ? run_.journal->event("finished") : run_.journal->event("stopped", {{"phase", "evaluate"}});
    return whole ? 0 : static_cast<int>(ExitCode::stopped);
}

/// What RunScores asks of the other ranks.
void RunSession::serve_scores() {
    {
        const LoweredEncoders lowered(*model_, run_.scores_in_bf16());
        serve_embeddings(*model_, *run_.group);
    }
    serve_embeddings(*model_, *run_.group);
}

bool RunSession::train() {
    data_.read_training();
    data_.read_validation();
    data_.warn_of_overlap();
    if (resume_) data_.warn_of_changes();
    run_.journal->phase("load model");
    model_ = open_start_model(run_.settings);
    note_start_model(run_, *model_, resume_.has_value());
    const auto variant = variant_of(run_.settings);
    variant->prepare(*model_);
    if (resume_) model_->load_weights(Weights(std::vector<fs::path>{resume_->model()}));
    model_->move_to(run_.device);
    if (!RunTraining(run_, data_, *model_).train(*variant, resume_)) return false;
    if (run_.is_root()) finish(*variant);
    return true;
}

/// The model's final form, on rank 0.
void RunSession::finish(const Variant& variant) {
    variant.finish(*model_, {data_.training(), run_.seed(),
                             [&](const std::string& what) {
                                 if (run_.stop_wanted())
                                     throw Error(ExitCode::stopped, "stopped; faceter resume goes on from the last checkpoint");
                                 run_.journal->phase(what);
                             },
                             data_.validation(), [&](const std::string& type, const Json& fields) { run_.journal->event(type, fields); }});
    run_.journal->phase("write model");
    write_final_model(run_.run, *model_);
    run_.journal->event("final_model", final_model_files(final_model_folder(run_.run)));
    model_->encoders.front()->require_grad(false);
}

}  // namespace faceter::worker
