#pragma once
#include "settings/schema.h"

namespace faceter {

/// Threads that a program may be told to take: more than a machine has cores is a typing error, and ends in the system refusing them.
inline constexpr int most_threads = 4096;

/// The sections of the experiment file that belong to the core, without what core/data and plugins declare
/// (core/experiment/experiment_schema.h puts the whole together).
/// Of every objective on pairs.
Field gradient_cache_field();
const Schema& training_schema();
/// One of `stages`; core/experiment fills in what it takes over from the experiment.
const Schema& stage_schema();
Schema instructions_schema();
/// One task of the task tree, without its data (`train` is added by core/experiment).
Schema task_schema();
/// evaluation, without its data sets.
Schema evaluation_schema();
/// name, description, model, seeds, threads, precision ...
Schema experiment_head_schema();

/// `training` of a run's settings, or of a stage's, with the default of what an older version, or a caller that names a few, leaves out.
Json training_of(const Json& recipe);
/// Pairs of a chunk of an objective's gradient cache; 0: off, also of an objective that has no such setting.
std::int64_t gradient_cache_chunk_of(const Json& objective);
/// The run's seed in its settings; where they have none, the first of the experiment's default seeds.
std::uint64_t seed_of(const Json& settings);
/// Setting `key` of the experiment's head (`device`, `threads`, `precision` ...) in a run's settings, or its default.
Json head_setting(const Json& settings, std::string_view key);

}  // namespace faceter
