#include "run_context.h"

#include <ATen/Parallel.h>

#include "common/cancel.h"
#include "common/error.h"
#include "common/printable.h"
#include "model/accelerator.h"
#include "record/whole_settings.h"
#include "settings/core_settings.h"

namespace faceter::worker {

namespace {

/// Where another launcher started the processes, each may see its own GPU alone.
c10::Device device_of(const Json& settings, const Rendezvous& where) {
    return choose_device(head_setting(settings, "device").get<std::string>(),
                         {.rank = where.local_rank, .size = where.local_size, .sees_all = !where.file.empty()});
}

}  // namespace

RunContext::RunContext(const fs::path& folder)
    : run(folder), settings(whole_settings(run)), rendezvous(Rendezvous::from_environment()), device(device_of(settings, rendezvous)) {
    if (scores_in_bf16()) require_bfloat16(device);
    const int threads = head_setting(settings, "threads").get<int>();
    at::set_num_threads(std::max(1, (threads > 0 ? threads : at::get_num_threads()) / rendezvous.local_size));
}

std::uint64_t RunContext::seed() const { return seed_of(settings); }

DataRequest RunContext::request(const Json& entry) const {
    return {entry, run.folder(), seed(), json_or<std::size_t>(settings, "sample_limit", 0, "sample_limit")};
}

CheckpointStore RunContext::checkpoints() const {
    return {run.checkpoints(), json_at<std::size_t>(training_of(settings), "keep_checkpoints", "training")};
}

bool RunContext::stop_wanted() const { return stop_requested() != StopRequest::none || run.requested("stop"); }

bool RunContext::scores_in_bf16() const { return is_accelerator(device) && head_setting(settings, "precision") == "bf16"; }

void RunContext::warn(const std::string& message) const {
    if (!is_root()) return;
    say(stderr, "warning: {}\n", message);
    journal->event("warning", {{"message", message}});
}

}  // namespace faceter::worker
