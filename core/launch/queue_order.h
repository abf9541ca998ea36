#pragma once
#include <string>
#include <vector>

#include "launch/supervisor.h"

namespace faceter {

// What a user asks of a queue while its supervisor works it off. Each is a file of the queue's folder, written whole, which the supervisor
// looks at before it starts the next run: `order` (run ids, a line each) and `paused`.

/// While it is paused no further run starts; those that run go on.
void set_paused(const Queue& queue, bool paused);
bool is_paused(const Queue& queue);
/// Of runs that wait, by id. Those that are not named follow in the order that they had; ids of other runs are left.
void set_queue_order(const Queue& queue, const std::vector<std::string>& runs);
/// `waiting` in the order that was asked for last.
std::vector<fs::path> in_queue_order(const Queue& queue, std::vector<fs::path> waiting);

/// A queue that somebody works off.
struct QueueState {
    Queue queue;
    bool paused = false;
    std::vector<std::string> running, waiting;  ///< run ids; waiting: the next one first
};
/// Those of a project whose supervisor lives, by name of their folder. What cannot be read is left out.
std::vector<QueueState> live_queues(const Project& project);
/// Moves a run that waits so that it is the `place`th (from 0) of its queue, or the last where fewer wait; returns which it is. Usage error
/// where it waits in none.
std::size_t move_in_queue(const Project& project, const std::string& run, std::size_t place);

}  // namespace faceter
