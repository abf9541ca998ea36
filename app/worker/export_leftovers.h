#pragma once
#include <string>

#include "common/file.h"
#include "common/json.h"

namespace faceter::worker {

/// Errors (usage): in the place of a folder with a record of an export (faceter_export.json) below `staged` lie files of another model that
/// the export does not write anew and that would be read with it: weights of another run in another form, another tokenizer, adapters, a
/// router. Or `staged` has a folder for each route and the place is another model's. Where the record there names the same source, they are
/// other forms of the same model and stay.
void require_no_leftovers(const fs::path& place, const fs::path& staged);
/// The same of any model in `staged`, whatever lies in its place.
void require_none_of_another_model(const fs::path& place, const fs::path& staged);

}  // namespace faceter::worker
