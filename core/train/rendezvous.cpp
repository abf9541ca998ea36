#include "train/rendezvous.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "common/error.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr int slurm_first_port = 20000, slurm_ports = 20000;

struct Reader {
    const Rendezvous::Variables& variables;
    std::optional<std::string> text(const std::string& name) const {
        const auto value = variables(name);
        return value && !trim(*value).empty() ? std::optional(std::string(trim(*value))) : std::nullopt;
    }
    std::optional<int> number(const std::string& name) const {
        const auto value = text(name);
        if (!value) return std::nullopt;
        const auto parsed = parse_int(*value);
        if (!parsed || *parsed < 0 || *parsed > 1'000'000)
            throw settings_error("{} is '{}', expected a number; it is part of what says how the processes of a run meet", name, *value);
        return static_cast<int>(*parsed);
    }
    int needed(const std::string& name, const std::string& because) const {
        const auto value = number(name);
        if (!value) throw settings_error("{} is set, but {} is not; both are needed, as torchrun sets them", because, name);
        return *value;
    }
};

/// RANK and WORLD_SIZE are given: ours or torchrun's.
void read_ranks(const Reader& read, Rendezvous& r) {
    r.rank = read.number("RANK").value_or(0);
    r.size = read.needed("WORLD_SIZE", "RANK");
    r.local_rank = read.number("LOCAL_RANK").value_or(r.rank);
    r.local_size = read.number("LOCAL_WORLD_SIZE").value_or(1);
}

/// The processes of a node as SLURM lists them, "2(x3),1": three nodes of two, one of one. Nothing: it is no such list, or ends before it.
std::optional<int> tasks_of_node(std::string_view list, int node) {
    while (!list.empty()) {
        const std::string_view part = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), part.size() + 1));
        const auto open = part.find("(x");
        const auto tasks = parse_int(part.substr(0, open));
        const auto nodes = open == std::string_view::npos ? std::optional<std::int64_t>(1)
                           : part.ends_with(')')          ? parse_int(part.substr(open + 2, part.size() - open - 3))
                                                          : std::nullopt;
        if (!tasks || !nodes || *tasks < 1 || *tasks > 1'000'000 || *nodes < 1) return std::nullopt;
        if (node < *nodes) return static_cast<int>(*tasks);
        node -= static_cast<int>(*nodes);
    }
    return std::nullopt;
}

/// How many tasks of the step share this node: the step's own list, which srun always tells; --ntasks-per-node of the job may be another.
int slurm_tasks_here(const Reader& read) {
    const int node = read.number("SLURM_NODEID").value_or(0);
    for (const char* list : {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"})
        if (const auto tasks = tasks_of_node(read.text(list).value_or(""), node)) return *tasks;
    return read.number("SLURM_NTASKS_PER_NODE").value_or(1);
}

/// A task of srun. A batch script without srun has SLURM_NTASKS, too, but no step: it is one process.
void read_slurm(const Reader& read, Rendezvous& r) {
    r.rank = read.needed("SLURM_PROCID", "SLURM_STEP_ID");
    const auto step_tasks = read.number("SLURM_STEP_NUM_TASKS");
    r.size = step_tasks ? *step_tasks : read.needed("SLURM_NTASKS", "SLURM_PROCID");
    r.local_rank = read.number("SLURM_LOCALID").value_or(0);
    r.local_size = slurm_tasks_here(read);
    if (r.size <= 1) return;
    const auto nodes = read.text("SLURM_STEP_NODELIST");
    r.host = first_host(nodes ? *nodes : read.text("SLURM_NODELIST").value_or(read.text("SLURM_JOB_NODELIST").value_or("")));
    const int job = read.number("SLURM_JOB_ID").value_or(0);
    r.port = slurm_first_port + job % slurm_ports;
    r.key = fmt::format("slurm-{}-{}", job, read.text("SLURM_STEP_ID").value_or("0"));
}

void read_place(const Reader& read, Rendezvous& r) {
    if (const auto file = read.text("FACETER_RENDEZVOUS")) {
        r.file = *file;
        return;
    }
    if (const auto host = read.text("MASTER_ADDR")) {
        r.host = *host;
        r.port = read.needed("MASTER_PORT", "MASTER_ADDR");
        r.store_is_there = read.text("TORCHELASTIC_USE_AGENT_STORE").value_or("") == "True";
        r.key = fmt::format("{}{}-{}", r.key, read.text("TORCHELASTIC_RUN_ID").value_or("run"),
                            read.text("TORCHELASTIC_RESTART_COUNT").value_or("0"));
    }
    if (const auto token = read.text("FACETER_RENDEZVOUS_TOKEN")) r.key += "-" + *token;
    if (r.host.empty() || r.port < 1 || r.port > 65535)
        throw settings_error(
            "rank {} of {} does not know where to meet the others; set MASTER_ADDR and MASTER_PORT (1 to 65535), as torchrun does", r.rank,
            r.size);
}

}  // namespace

std::string Rendezvous::place() const { return file.empty() ? fmt::format("{}:{}", host, port) : file.string(); }

std::string first_host(const std::string& list) {
    const std::size_t open = list.find_first_of("[,");
    const std::string stem = list.substr(0, open);
    if (open == std::string::npos || list[open] == ',') {
        if (stem.empty()) throw settings_error("SLURM_NODELIST is '{}': it names no host", list);
        return stem;
    }
    const std::size_t close = list.find(']', open);
    if (close == std::string::npos) throw settings_error("SLURM_NODELIST is '{}': a bracket does not close", list);
    const std::string first = list.substr(open + 1, list.find_first_of("-,]", open + 1) - open - 1);
    const std::string rest =
        list.substr(close + 1, list.find(',', close) == std::string::npos ? std::string::npos : list.find(',', close) - close - 1);
    if (first.empty() || rest.find('[') != std::string::npos)
        throw settings_error("SLURM_NODELIST is '{}': its first host cannot be read; set MASTER_ADDR", list);
    return stem + first + rest;
}

Rendezvous Rendezvous::from(const Variables& variables) {
    const Reader read{variables};
    Rendezvous r;
    if (read.number("RANK") || read.number("WORLD_SIZE"))
        read_ranks(read, r);
    else if (read.text("SLURM_STEP_ID") && read.number("SLURM_PROCID"))
        read_slurm(read, r);
    if (r.size < 1 || r.rank >= r.size)
        throw settings_error("rank {} of {} processes: ranks count from 0; look at RANK and WORLD_SIZE", r.rank, r.size);
    if (r.size > 1) read_place(read, r);
    return r;
}

Rendezvous Rendezvous::from_environment() {
    return from([](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value ? std::optional<std::string>(value) : std::nullopt;
    });
}

std::unique_ptr<ProcessGroup> join_group(const Rendezvous& rendezvous, const GroupTimeouts& timeouts, const c10::Device& device) {
    if (rendezvous.size == 1) return std::make_unique<SingleProcess>();
    return join_gloo_group(rendezvous, timeouts, device);
}

}  // namespace faceter
