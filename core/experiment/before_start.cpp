#include "experiment/before_start.h"

#include "experiment/data_instructions.h"
#include "experiment/entry_uses.h"
#include "experiment/example_needs.h"
#include "experiment/lone_parts.h"
#include "experiment/mined_negatives.h"
#include "experiment/processes.h"
#include "experiment/run_inputs.h"
#include "experiment/start_model.h"
#include "experiment/trained_tasks.h"
#include "experiment/unread_settings.h"

namespace faceter {

std::vector<std::string> check_before_start(const Experiment& experiment, const Catalogue& catalogue, int processes) {
    experiment.check_files();
    check_inputs(experiment, catalogue);
    check_data_instructions(experiment);
    check_entry_uses(experiment);
    check_mined_negatives(experiment, catalogue);
    check_trained_tasks(experiment, catalogue);
    check_processes(experiment, catalogue, processes);
    std::vector<std::string> remarks = check_examples(experiment, catalogue);
    for (const auto& more : {lone_parts(experiment, catalogue), untrained_parts(experiment, catalogue),
                             unread_settings(experiment, catalogue), check_start_models(experiment)})
        remarks.insert(remarks.end(), more.begin(), more.end());
    return remarks;
}

}  // namespace faceter
