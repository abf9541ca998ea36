#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/file.h"
#include "train/process_group.h"

namespace faceter {

/// Where the ranks of a run meet, as what started them says:
///   faceter run --devices N   FACETER_RENDEZVOUS, a file in a folder of the user's own, with RANK, WORLD_SIZE, LOCAL_RANK
///   torchrun                  RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT
///   srun                      SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID, SLURM_NODELIST, SLURM_STEP_TASKS_PER_NODE; the port follows from
///                             SLURM_JOB_ID
/// MASTER_ADDR and MASTER_PORT have precedence over SLURM's. A store over TCP listens on every interface and knows no password: the network
/// of a cluster is trusted.
struct Rendezvous {
    int rank = 0, size = 1, local_rank = 0, local_size = 1;
    fs::path file;  ///< local runs; else empty
    std::string host;
    int port = 0;
    bool store_is_there = false;  ///< torchrun's agent keeps one at host:port; else rank 0 does
    std::string key;              ///< in front of all keys: runs that share a store do not meet
    /// "127.0.0.1:29500", or the file.
    std::string place() const;

    using Variables = std::function<std::optional<std::string>(const std::string& name)>;
    /// Errors (settings): a variable is missing or no number, a rank is not within the size.
    static Rendezvous from(const Variables& variables);
    static Rendezvous from_environment();
};

/// The first host of SLURM's compressed list: "gpu[007-010,12],login1" -> "gpu007". Errors (settings): none, or brackets that do not close.
std::string first_host(const std::string& node_list);

struct GroupTimeouts {
    double rendezvous_s = 300;  ///< until all ranks have met
    double step_s = 600;        ///< Patience::step
    double work_s = 86400;      ///< Patience::work
};

/// The group of one, or Gloo's of all ranks that meet there. Errors (peer_lost): the place refuses, or not all come in time; the message
/// has host and port, and who is missing where that can be known. Tensors of an accelerator go through NCCL where `device` is one.
std::unique_ptr<ProcessGroup> join_group(const Rendezvous& rendezvous, const GroupTimeouts& timeouts,
                                         const c10::Device& device = c10::kCPU);
/// Always through c10d's ProcessGroupGloo, also for one rank.
std::unique_ptr<ProcessGroup> join_gloo_group(const Rendezvous& rendezvous, const GroupTimeouts& timeouts,
                                              const c10::Device& device = c10::kCPU);

}  // namespace faceter
