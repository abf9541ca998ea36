#pragma once
#include <functional>

#include "experiment/catalogue.h"
#include "experiment/experiment.h"

namespace faceter {

/// What a run reads besides its settings.
enum class InputKind {
    model,          ///< a name that resolve_model takes: a start model, a teacher
    data,           ///< a file or folder
    package_lists,  ///< those of this machine, which a data entry of the Debian sources means without a path; the value is null
};
using InputVisitor = std::function<void(InputKind kind, Json& value)>;

/// Calls `visit` with each value of resolved settings (ResolvedRun::settings) that names such a thing; it may change it. They are found by
/// the schemas of the catalogue. Errors (settings): a method that the catalogue does not know.
void each_input(Json& settings, const Catalogue& catalogue, const InputVisitor& visit);

/// Errors (data): a file or folder that the settings of a run's methods name (gates of other runs, texts of an analysis) is not there.
/// Experiment::check_files looks for the data entries', and says where they stand.
void check_inputs(const Experiment& experiment, const Catalogue& catalogue);

}  // namespace faceter
