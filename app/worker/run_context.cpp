#include "run_context.h"

#include <ATen/DeviceAccelerator.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "common/cancel.h"
#include "common/error.h"
#include "common/printable.h"
#include "model/accelerator.h"
#include "record/whole_settings.h"
#include "settings/core_settings.h"

namespace faceter::worker {

namespace {

/// One for each of the machine's processes. Where another launcher started them, each may see its own alone.
c10::Device device_of(const Json& settings, const Rendezvous& where) {
    const c10::Device device = choose_device(head_setting(settings, "device").get<std::string>(), where.local_rank, where.local_size);
    if (is_accelerator(device) && !where.file.empty() && where.local_size > 1 && at::accelerator::deviceCount() == 1)
        throw settings_error(
            "{} processes would share the one GPU of this machine, and NCCL needs one for each; start one (--devices 1), "
            "or compute on the processor (device: cpu)",
            where.local_size);
    return device;
}

}  // namespace

RunContext::RunContext(const fs::path& folder)
    : run(folder), settings(whole_settings(run)), rendezvous(Rendezvous::from_environment()), device(device_of(settings, rendezvous)) {
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
