#pragma once
#include "common/json.h"
#include "model/embedding_model.h"

namespace faceter::worker {

/// What is computed on: host, processor, instruction set of the kernels, cores, memory, threads, libtorch.
Json machine_json();
/// Size and cost of a model: total and active parameters, multiply-adds a token, latency of one short text, peak memory of this process.
Json model_measurements(const EmbeddingModel& model);
/// Largest resident memory of this process so far, bytes.
std::uint64_t peak_memory_bytes();

}  // namespace faceter::worker
