#pragma once
#include <string>
#include <unordered_map>

#include "experiment/catalogue.h"
#include "settings/check.h"

namespace faceter {

/// Name of the untrained start model's run, as variant and as method.
inline constexpr const char* start_variant = "start";

/// What is wrong with the name of a variant; empty: nothing.
std::string wrong_in_variant_name(const std::string& name);

/// Folders by the names that an experiment's models and teachers have in its file; empty where the name stays. Each is looked for once,
/// however many points a sweep has.
using FoundModels = std::unordered_map<std::string, std::string>;

/// The whole experiment file (but its sweep) with every default filled in: sections by experiment_schema, methods by the catalogue, tasks'
/// types, temperatures, batching and instructions settled, threads a number, paths absolute. What is wrong goes to `problems`.
Json resolve_experiment(const YamlNode& root, const fs::path& file, const Catalogue& catalogue, Problems& problems, FoundModels& found);

}  // namespace faceter
