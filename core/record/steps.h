#pragma once
#include <map>
#include <type_traits>
#include <utility>

#include "record/journal.h"
#include "record/run_directory.h"

namespace faceter {

using StepPlace = std::pair<std::int64_t, std::int64_t>;  ///< stage, step

/// What `read` makes of each step's record, in order; of a step that was done again after a resume the newest attempt's.
template <class Read>
auto steps_of(const RunDirectory& run, Read read) {
    std::map<StepPlace, std::invoke_result_t<Read, const Json&>> steps;
    for (const int attempt : run.attempts())
        for (JournalReader journal(run.attempt_journal(attempt)); const auto event = journal.next();)
            if (event->type == "step")
                steps[{json_or<std::int64_t>(event->fields, "stage", 0, "step"), json_or<std::int64_t>(event->fields, "step", 0, "step")}] =
                    read(event->fields);
    return steps;
}

}  // namespace faceter
