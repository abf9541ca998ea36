#pragma once
#include <filesystem>

namespace faceter::conform {

namespace fs = std::filesystem;

/// Rounding every product and sum of a pass to float32 moves an embedding about as far as a change of each weight in its last place; two
/// passes round differently, and the largest of all elements is looked at.
constexpr double noise_factor = 8;

/// What a number is rounded to while it is computed with.
enum class Rounding { float32, bf16 };

/// A copy `to` of the model folder `from` whose float32 weights are each moved, up or down by chance (the same chance every time), by as
/// much as a rounding may move them: float32: one in the last place; bf16: 2^-9 of the value. Nothing is done where `to` exists.
void copy_moved(const fs::path& from, const fs::path& to, Rounding rounding);

}  // namespace faceter::conform
