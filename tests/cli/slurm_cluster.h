#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/daemons.h"
#include "common/command.h"
#include "common/random.h"

namespace faceter::testing {

/// A real SLURM on this machine, of this user: munged, slurmctld and two slurmd with ports and files of their own. Partitions low (one
/// node), high (the same, takes the place of low's jobs) and both (two nodes). No accounts are kept, and jobs that ended are forgotten
/// within some 80 s. SLURM_CONF leads all of SLURM's programs to it.
class SlurmCluster {
  public:
    static bool installed() {
        for (const char* program : {"munged", "slurmctld", "slurmd", "sbatch"})
            if (system_program(program).empty()) return false;
        return true;
    }

    explicit SlurmCluster(const fs::path& folder) : folder_(folder) {
        for (const char* name : {"state", "spool", "munge"}) make_directories(folder / name);
        std::string key(1024, '\0');
        RandomStream random(static_cast<std::uint64_t>(::getpid()), "munge");
        for (char& byte : key) byte = static_cast<char>(random.below(256));
        write_file_atomic(folder / "munge/key", key);
        fs::permissions(folder, fs::perms(0755));
        fs::permissions(folder / "munge/key", fs::perms(0400));
        write_file_atomic(folder / "slurm.conf", configuration());
        qputenv("SLURM_CONF", (folder / "slurm.conf").c_str());
        const auto in = [&](const char* name) { return (folder / name).string(); };
        daemons_.push_back(std::make_unique<Daemon>(
            std::vector<std::string>{system_program("munged"), "--foreground", "--num-threads=2", "--key-file=" + in("munge/key"),
                                     "--socket=" + in("munge/socket"), "--pid-file=" + in("munge/pid"), "--log-file=" + in("munge/log"),
                                     "--seed-file=" + in("munge/seed")},
            folder / "munged.out"));
        daemons_.push_back(std::make_unique<Daemon>(std::vector<std::string>{system_program("slurmctld"), "-D"}, folder / "slurmctld.out"));
        for (const char* node : {"n1", "n2"})
            daemons_.push_back(std::make_unique<Daemon>(std::vector<std::string>{system_program("slurmd"), "-D", "-N", node},
                                                        folder / (std::string(node) + ".out")));
    }
    ~SlurmCluster() {
        try {
            run_command({"scancel", "--user=" + std::to_string(::getuid())}, {}, 10);
        } catch (const std::exception&) {  // the daemons go all the same
        }
        while (!daemons_.empty()) daemons_.pop_back();  // slurmd first
        qunsetenv("SLURM_CONF");
    }
    /// Both nodes wait for work.
    bool ready() const { return run_command({"sinfo", "--noheader", "--format=%D %t", "--partition=both"}, {}, 20).output == "2 idle\n"; }
    /// What the daemons said, for a test that fails.
    std::string said() const {
        std::string all;
        for (const char* name : {"munged.out", "slurmctld.log", "n1.out", "n1.log", "n2.out", "n2.log"})
            if (fs::exists(folder_ / name)) all += fmt::format("--- {}\n{}", name, read_file(folder_ / name));
        all += "--- sinfo\n" + run_command({"sinfo", "--Node", "--long"}, {}, 20).output;
        return all;
    }

  private:
    /// A requeued job waits for cred_expire (at least 5 s) before it starts again.
    std::string configuration() const {
        char host[256] = {};
        ::gethostname(host, sizeof host - 1);
        const std::string name = std::string(host).substr(0, std::string(host).find('.')), user = std::to_string(::getuid()),
                          in = folder_.string() + "/";
        return "ClusterName=test\nSlurmctldHost=" + name + "(127.0.0.1)\nSlurmctldPort=" + std::to_string(free_port()) +
               "\nSlurmUser=" + user + "\nSlurmdUser=" + user + "\nAuthType=auth/munge\nAuthInfo=socket=" + in +
               "munge/socket,cred_expire=10\nCredType=cred/munge\nStateSaveLocation=" + in + "state\nSlurmdSpoolDir=" + in +
               "spool/%n\nSlurmctldPidFile=" + in + "slurmctld.pid\nSlurmdPidFile=" + in + "%n.pid\nSlurmctldLogFile=" + in +
               "slurmctld.log\nSlurmdLogFile=" + in +
               "%n.log\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nAccountingStorageType=accounting_storage/"
               "none\nJobAcctGatherType=jobacct_gather/none\n"
               "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSchedulerType=sched/backfill\n"
               "SchedulerParameters=sched_interval=1,sched_min_interval=100000,batch_sched_delay=0,bf_interval=1\nPreemptType=preempt/"
               "partition_prio\nPreemptMode=REQUEUE\n"
               "ReturnToService=2\nMinJobAge=20\nSlurmdParameters=config_overrides\nMpiDefault=none\nKillWait=60\nDebugFlags=NO_CONF_HASH\n"
               "NodeName=n1 NodeHostname=" +
               name + " NodeAddr=127.0.0.1 Port=" + std::to_string(free_port()) +
               " CPUs=2\n"
               "NodeName=n2 NodeHostname=" +
               name + " NodeAddr=127.0.0.1 Port=" + std::to_string(free_port()) +
               " CPUs=2\n"
               "PartitionName=low Nodes=n1 Default=YES PriorityTier=1 MaxTime=INFINITE\nPartitionName=high Nodes=n1 PriorityTier=10 "
               "MaxTime=INFINITE PreemptMode=OFF\n"
               "PartitionName=both Nodes=n1,n2 PriorityTier=1 MaxTime=INFINITE\n";
    }

    fs::path folder_;
    std::vector<std::unique_ptr<Daemon>> daemons_;
};

}  // namespace faceter::testing
