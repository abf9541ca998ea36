#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/store.h"

namespace faceter::desktop {

/// A run that runs, waits, or could go on.
struct QueueRow {
    enum class Kind { running, waiting, elsewhere, resumable };
    Kind kind = Kind::running;
    RunRow run;
    std::string where;        ///< profile, or empty: this machine
    std::string queue;        ///< waiting: folder of the queue that it waits in
    int place = 0;            ///< waiting: its number there, from 1
    bool last = false;        ///< waiting: none waits there behind it
    bool paused = false;      ///< waiting: its queue starts nothing
    int devices = 1;          ///< processes of it, on this machine
    double memory_gib = 0;    ///< last measured; 0: not yet
    double forecast_gib = 0;  ///< made when it was launched; 0: none was
    double forecast_s = 0;
};

struct QueueData {
    std::vector<QueueRow> rows;  ///< running, waiting in their order, elsewhere, then what could go on, the newest first
    int num_queues = 0, num_paused = 0;
    int num_left_out = 0;  ///< could go on as well, and are older than those in `rows`
    int count(QueueRow::Kind kind) const;
};
using QueueDataPtr = std::shared_ptr<const QueueData>;

/// `runs`: those of the snapshot that may be of interest (not done). On the store thread.
QueueDataPtr loadQueue(Store& store, const std::filesystem::path& project, std::vector<RunRow> runs);

}  // namespace faceter::desktop
