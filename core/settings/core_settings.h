#pragma once
#include "settings/schema.h"

namespace faceter {

/// The sections of the experiment file that belong to the core, without what core/data and plugins declare
/// (core/experiment/experiment_schema.h puts the whole together).
/// Of every objective on pairs.
Field gradient_cache_field();
Schema training_schema();
/// One of `stages`; core/experiment fills in what it takes over from the experiment.
Schema stage_schema();
Schema instructions_schema();
/// One task of the task tree, without its data (`train` is added by core/experiment).
Schema task_schema();
/// evaluation, without its data sets.
Schema evaluation_schema();
/// name, description, model, seeds, threads, precision ...
Schema experiment_head_schema();

}  // namespace faceter
