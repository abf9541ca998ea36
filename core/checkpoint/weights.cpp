#include "checkpoint/weights.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/strings.h"

namespace faceter {
namespace {

float half_to_float(std::uint16_t half) {
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16, exponent = half >> 10 & 0x1f, mantissa = half & 0x3ff;
    if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24
        const float value = static_cast<float>(mantissa) * 0x1p-24f;
        return sign ? -value : value;
    }
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

template <typename T, typename Convert>
void convert(const std::vector<char>& raw, std::span<float> values, Convert to_float) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        T value;
        std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
        values[i] = to_float(value);
    }
}

}  // namespace

Weights::Weights(std::span<const std::filesystem::path> files) {
    files_.reserve(files.size());
    for (const auto& file : files) {
        files_.emplace_back(file);
        const auto& tensors = files_.back().tensors();
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            if (!index_.emplace(tensors[i].name, Place{files_.size() - 1, i}).second)
                throw data_error("{}: tensor {} stands in another file of the checkpoint too", file.string(), faceter::quoted(tensors[i].name));
            names_.push_back(tensors[i].name);
        }
    }
}

const TensorInfo* Weights::find(std::string_view name) const {
    const auto found = index_.find(std::string(name));
    return found == index_.end() ? nullptr : &files_[found->second.file].tensors()[found->second.tensor];
}

const TensorInfo& Weights::at(std::string_view name) const {
    if (const TensorInfo* info = find(name)) return *info;
    const auto near = nearest(name, names_);
    throw data_error("{}: there is no tensor '{}'{}", description(), name, near ? fmt::format("; the nearest is '{}'", *near) : "");
}

const SafetensorsFile& Weights::file_of(std::string_view name) const { return files_[index_.at(std::string(name)).file]; }

void Weights::read(std::string_view name, void* destination) const { file_of(at(name).name).read(at(name), destination); }

void Weights::read_float(std::string_view name, std::span<float> values) const {
    const TensorInfo& info = at(name);
    if (static_cast<std::size_t>(info.numel()) != values.size())
        throw data_error("{}: tensor '{}' has {} values, expected {}", description(), name, info.numel(), values.size());
    if (info.dtype == DType::f32) return file_of(name).read(info, values.data());
    std::vector<char> raw(info.bytes);
    file_of(name).read(info, raw.data());
    switch (info.dtype) {
        case DType::f64: return convert<double>(raw, values, [](double v) { return static_cast<float>(v); });
        case DType::f16: return convert<std::uint16_t>(raw, values, half_to_float);
        case DType::bf16: return convert<std::uint16_t>(raw, values, [](std::uint16_t v) { return std::bit_cast<float>(static_cast<std::uint32_t>(v) << 16); });
        default: throw data_error("{}: tensor '{}' is {}, expected F32, F16, BF16 or F64", description(), name, dtype_name(info.dtype));
    }
}

std::string Weights::description() const {
    if (files_.empty()) return "no weight files";
    if (files_.size() == 1) return files_.front().path().string();
    return fmt::format("{} ({} files)", files_.front().path().parent_path().string(), files_.size());
}

std::vector<std::filesystem::path> find_weight_files(const std::filesystem::path& folder) {
    const auto single = folder / "model.safetensors", index = folder / "model.safetensors.index.json";
    if (fs::is_regular_file(single)) return {single};
    if (fs::is_regular_file(index)) {
        const Json document = read_json(index, 64 << 20);
        const Json map = json_at<Json>(document, "weight_map", index.string());
        std::vector<std::filesystem::path> files;
        for (const auto& [tensor, file] : map.items()) {
            if (!file.is_string()) throw data_error("{}: weight_map of {} is not a file name", index.string(), faceter::quoted(tensor));
            const auto name = file.get<std::string>();
            if (name.empty() || name.find('/') != std::string::npos || name == ".." || name == ".")
                throw data_error("{}: weight_map names the file {}, which is not in the folder itself", index.string(), faceter::quoted(name));
            if (std::find(files.begin(), files.end(), folder / name) == files.end()) files.push_back(folder / name);
        }
        if (files.empty()) throw data_error("{}: weight_map is empty", index.string());
        return files;
    }
    if (fs::exists(folder / "pytorch_model.bin"))
        throw data_error(
            "{}: there is only pytorch_model.bin, a pickle file, which can run any code when it is opened; convert the model to model.safetensors "
            "(save_pretrained(..., safe_serialization=True))",
            folder.string());
    throw data_error("{}: there is no model.safetensors", folder.string());
}

}  // namespace faceter
