#include "run_context.h"

#include <ATen/Parallel.h>

#include <cstdlib>

#include "common/cancel.h"
#include "common/error.h"
#include "common/printable.h"
#include "experiment/machine.h"
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

void RunContext::warn_of_threads() const {
    const int threads = at::get_num_threads(), cores = usable_cores();
    const bool pinned = std::getenv("OMP_PROC_BIND") || std::getenv("GOMP_CPU_AFFINITY");  // to a core each, so that this one has one
    if (threads <= cores || pinned) return;
    warn(
        fmt::format("this run computes on {} threads a process, as it was made to, and may use {} cores here, which is slow; give it more "
                    "(cpus_per_task of a profile), or submit its experiment anew with fewer (threads)",
                    threads, cores));
}

}  // namespace faceter::worker
