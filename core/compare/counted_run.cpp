#include "compare/counted_run.h"

#include <fmt/format.h>

#include <algorithm>

namespace faceter {
namespace {

int rank_of(const RunRow& run) {
    const int phase = run.state.phase == RunPhase::done ? 0 : is_over(run.state.phase) ? 2 : 1;
    return phase + (run.num_scores > 0 ? 0 : 3);
}

}  // namespace

bool counts_before(const RunRow& a, const RunRow& b) { return rank_of(a) < rank_of(b); }

std::vector<const RunRow*> counting_first(std::vector<const RunRow*> runs) {
    std::stable_sort(runs.begin(), runs.end(), [](const RunRow* a, const RunRow* b) { return counts_before(*a, *b); });
    return runs;
}

std::string repeat_note(const std::string& run, const std::string& counted) {
    return fmt::format("{} repeats {} with the same seed and is left out", run, counted);
}

}  // namespace faceter
