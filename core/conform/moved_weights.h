#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "checkpoint/safetensors.h"

namespace faceter::conform {

namespace fs = std::filesystem;

/// Rounding every product and sum of a pass to float32 moves an embedding about as far as a change of each weight in its last place; two
/// passes round differently, and the largest of all elements is looked at.
constexpr double noise_factor = 8;

/// What a number is rounded to while it is computed with.
enum class Rounding { float32, bf16 };

bool is_float(DType type);

/// A copy `to` of the model folder `from` whose weights are in float32 and each moved, up or down by chance (the same chance every time
/// with one `draw`), by as much as a rounding may move them: float32: one in the last place; bf16: 2^-9 of the value. Nothing is done where
/// `to` exists.
void copy_moved(const fs::path& from, const fs::path& to, Rounding rounding, std::uint64_t draw = 1);

/// How far the loss of each step of a training may lie from another's, relative: `least`, or `factor` times the furthest that a start from
/// moved weights has led up to that step, whichever is more. `noise` has the steps of each draw.
std::vector<double> loss_bounds(double least, double factor, const std::vector<std::vector<double>>& noise);

}  // namespace faceter::conform
