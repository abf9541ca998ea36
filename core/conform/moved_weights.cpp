#include "conform/moved_weights.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "checkpoint/safetensors.h"
#include "checkpoint/weights.h"
#include "common/random.h"
#include "conform/embeddings.h"

namespace faceter::conform {
namespace {

constexpr float bf16_rounding = 1.0F / 512;  // half of the last of its 8 bits of mantissa

float moved(float value, Rounding rounding, bool up) {
    if (rounding == Rounding::bf16) return value * (up ? 1 + bf16_rounding : 1 - bf16_rounding);
    return std::nextafter(value, up ? HUGE_VALF : -HUGE_VALF);
}

/// What a file of weights holds as float32: a move by one in float32's last place is none in half precision.
void write_moved(const fs::path& from, const fs::path& to, Rounding rounding, std::uint64_t draw) {
    const SafetensorsFile file(from);
    const Weights weights(std::vector<fs::path>{from});
    RandomStream random(draw, from.filename().string());
    std::vector<std::vector<char>> kept;
    std::vector<std::vector<float>> moved_values;
    SafetensorsWriter writer;
    for (const TensorInfo& tensor : file.tensors()) {
        if (!is_float(tensor.dtype)) {
            file.read(tensor, kept.emplace_back(tensor.bytes).data());
            writer.add(tensor.name, tensor.dtype, tensor.shape, kept.back().data());
            continue;
        }
        std::vector<float>& values = moved_values.emplace_back(static_cast<std::size_t>(tensor.numel()));
        weights.read_float(tensor.name, values);
        for (float& value : values) value = moved(value, rounding, random.below(2) != 0);
        writer.add(tensor.name, DType::f32, tensor.shape, values.data());
    }
    writer.write(to);
}

}  // namespace

bool is_float(DType type) { return type == DType::f32 || type == DType::f16 || type == DType::bf16 || type == DType::f64; }

void copy_moved(const fs::path& from, const fs::path& to, Rounding rounding, std::uint64_t draw) {
    if (fs::exists(to)) return;
    fs::copy(from, to, fs::copy_options::recursive);
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(from))
        if (is_weights(entry.path())) write_moved(entry.path(), to / fs::relative(entry.path(), from), rounding, draw);
}

std::vector<double> loss_bounds(double least, double factor, const std::vector<std::vector<double>>& noise) {
    std::vector<double> bounds;
    double furthest = 0;
    for (std::size_t step = 0; step < noise.front().size(); ++step) {
        for (const std::vector<double>& draw : noise) furthest = std::max(furthest, draw.at(step));
        bounds.push_back(std::max(least, factor * furthest));
    }
    return bounds;
}

}  // namespace faceter::conform
