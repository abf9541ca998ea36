#pragma once
#include "experiment/catalogue.h"
#include "settings/schema.h"

namespace faceter {

/// The whole experiment file. Sections whose settings depend on a method (variants, curriculum, objective, analyses) are `any` here;
/// method_schema gives theirs.
const Schema& experiment_schema();
/// `method` plus the method's own settings.
Schema method_schema(const Catalogue::Entry& entry);
/// An analysis: `method`, `texts` (a data entry) and the method's own settings.
Schema analysis_schema(const Catalogue::Entry& entry);
/// JSON Schema of the whole file with the methods of the catalogue, for editors.
Json experiment_json_schema(const Catalogue& catalogue);

}  // namespace faceter
