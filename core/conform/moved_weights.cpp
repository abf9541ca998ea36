#include "conform/moved_weights.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "checkpoint/safetensors.h"
#include "common/random.h"
#include "conform/embeddings.h"

namespace faceter::conform {
namespace {

constexpr float bf16_rounding = 1.0F / 512;  // half of the last of its 8 bits of mantissa

float moved(float value, Rounding rounding, bool up) {
    if (rounding == Rounding::bf16) return value * (up ? 1 + bf16_rounding : 1 - bf16_rounding);
    return std::nextafter(value, up ? HUGE_VALF : -HUGE_VALF);
}

void write_moved(const fs::path& from, const fs::path& to, Rounding rounding) {
    const SafetensorsFile file(from);
    RandomStream random(1, from.filename().string());
    std::vector<std::vector<char>> kept;
    SafetensorsWriter writer;
    for (const TensorInfo& tensor : file.tensors()) {
        kept.emplace_back(tensor.bytes);
        file.read(tensor, kept.back().data());
        for (std::size_t at = 0; tensor.dtype == DType::f32 && at < tensor.bytes; at += sizeof(float)) {
            float value;
            std::memcpy(&value, kept.back().data() + at, sizeof value);
            value = moved(value, rounding, random.below(2) != 0);
            std::memcpy(kept.back().data() + at, &value, sizeof value);
        }
        writer.add(tensor.name, tensor.dtype, tensor.shape, kept.back().data());
    }
    writer.write(to);
}

}  // namespace

void copy_moved(const fs::path& from, const fs::path& to, Rounding rounding) {
    if (fs::exists(to)) return;
    fs::copy(from, to, fs::copy_options::recursive);
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(from))
        if (is_weights(entry.path())) write_moved(entry.path(), to / fs::relative(entry.path(), from), rounding);
}

}  // namespace faceter::conform
