#include "checkpoint/weights.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "common/error.h"
#include "common/file.h"
#include "common/json_document.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::uint64_t max_index_bytes = 100'000'000;

float half_to_float(std::uint16_t half) {
    const std::uint32_t sign = std::uint32_t{half & 0x8000u} << 16, exponent = half >> 10 & 0x1F, mantissa = half & 0x3FF;
    if (exponent == 0) {  // zero or subnormal: a multiple of 2^-24
        const float value = static_cast<float>(mantissa) * 0x1p-24f;
        return sign ? -value : value;
    }
    const std::uint32_t wide = exponent == 31 ? 0xFF : exponent + 112;
    return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

float bfloat_to_float(std::uint16_t value) { return std::bit_cast<float>(std::uint32_t{value} << 16); }

/// Reads the tensor as T and converts every value.
template <typename T, typename Convert>
void read_as(const SafetensorsFile& file, const TensorInfo& info, std::span<float> values, const Convert& convert) {
    std::vector<T> raw(values.size());
    file.read(info, raw.data());
    std::transform(raw.begin(), raw.end(), values.begin(), convert);
}

/// Names of files inside a folder, from an index: one path component each, so that they cannot lead out of it.
std::set<std::string> shard_names(const fs::path& index) {
    std::set<std::string> names;
    const std::string text = read_file(index, max_index_bytes), name = index.string();
    with_json_document(text, name, [&](simdjson::dom::element root) {
        simdjson::dom::object map;
        if (!root.is_object() || root["weight_map"].get(map)) throw data_error("{}: has no weight_map from tensors to files", name);
        for (const auto& [tensor, value] : map) {
            std::string_view file;
            if (value.get(file)) throw data_error("{}: tensor {} is in no file", name, quoted(tensor));
            const bool plain =
                !file.empty() && file != "." && file != ".." && file.find_first_of(std::string_view("/\\\0", 3)) == file.npos;
            if (!plain)
                throw data_error("{}: the file name {} leaves the folder; only files beside the index are read", name, quoted(file));
            names.insert(std::string(file));
        }
    });
    if (names.empty()) throw data_error("{}: names no file", name);
    return names;
}

/// Of a model of modules (the file's folder, or the one above) all parts are converted at once.
[[noreturn]] void throw_pickle(const fs::path& file) {
    const fs::path folder = file.parent_path();
    std::error_code ignored;
    const bool of_modules = fs::exists(folder / "modules.json", ignored) || fs::exists(folder.parent_path() / "modules.json", ignored);
    throw data_error(
        "{}: weights in this format are pickles, and loading a pickle runs whatever code it holds, so it is refused. Use a revision of "
        "the model that has model.safetensors, or convert it where you trust it: {}",
        file.string(),
        of_modules ? "SentenceTransformer(DIR).save_pretrained(DIR), DIR the folder with modules.json"
                   : "AutoModel.from_pretrained(DIR).save_pretrained(DIR)");
}

}  // namespace

Weights::Weights(std::span<const std::filesystem::path> files) {
    for (const fs::path& path : files) add(path);
}

void Weights::add(const std::filesystem::path& file, const std::string& prefix) {
    const std::size_t f = files_.size();
    files_.emplace_back(file);
    const auto& tensors = files_[f].tensors();
    for (std::size_t t = 0; t < tensors.size(); ++t) {
        std::string name = prefix + tensors[t].name;
        const auto [place, added] = index_.emplace(name, Place{f, t});
        if (!added)
            throw data_error("{}: tensor {} is also in {}", files_[f].path().string(), faceter::quoted(name),
                             files_[place->second.file].path().string());
        names_.push_back(std::move(name));
    }
}

const TensorInfo* Weights::find(std::string_view name) const {
    const auto found = index_.find(std::string(name));
    return found == index_.end() ? nullptr : &files_[found->second.file].tensors()[found->second.tensor];
}

const TensorInfo& Weights::at(std::string_view name) const {
    if (const TensorInfo* info = find(name)) return *info;
    const auto near = nearest(name, names_);
    throw data_error("{}: has no tensor {}{}; its config.json belongs to another architecture, or the file is incomplete", description(),
                     quoted(name), near ? fmt::format(" (the nearest is {})", faceter::quoted(*near)) : std::string());
}

const SafetensorsFile& Weights::file_of(std::string_view name) const {
    at(name);
    return files_[index_.find(std::string(name))->second.file];
}

void Weights::read(std::string_view name, void* destination) const { file_of(name).read(at(name), destination); }

void Weights::read_float(std::string_view name, std::span<float> values) const {
    const TensorInfo& info = at(name);
    const SafetensorsFile& file = file_of(name);
    if (static_cast<std::uint64_t>(info.numel()) != values.size())
        throw failure("{}: tensor {} has {} values, {} were asked for", file.path().string(), quoted(name), info.numel(), values.size());
    switch (info.dtype) {
        case DType::f32:
            return file.read(info, values.data());
        case DType::f16:
            return read_as<std::uint16_t>(file, info, values, half_to_float);
        case DType::bf16:
            return read_as<std::uint16_t>(file, info, values, bfloat_to_float);
        case DType::f64:
            return read_as<double>(file, info, values, [](double value) { return static_cast<float>(value); });
        default:
            throw data_error("{}: tensor {} is {}; F32, F16, BF16 or F64 was expected", file.path().string(), quoted(name),
                             dtype_name(info.dtype));
    }
}

std::string Weights::description() const {
    if (files_.empty()) return "(no file)";
    if (files_.size() == 1) return files_[0].path().string();
    return fmt::format("{} ({} files)", files_[0].path().parent_path().string(), files_.size());
}

std::vector<std::filesystem::path> find_weight_files(const std::filesystem::path& folder) {
    if (const fs::path whole = folder / "model.safetensors"; fs::exists(whole)) return {whole};
    std::vector<fs::path> files;
    if (const fs::path index = folder / "model.safetensors.index.json"; fs::exists(index)) {
        for (const std::string& name : shard_names(index)) files.push_back(folder / name);
        for (const fs::path& file : files)
            if (!fs::exists(file))
                throw data_error("{}: is missing, though {} names it; fetch the model again", file.string(), index.string());
        return files;
    }
    for (const char* pickle : {"pytorch_model.bin", "pytorch_model.bin.index.json"})
        if (fs::exists(folder / pickle)) throw_pickle(folder / pickle);
    if (fs::exists(folder / "onnx"))
        throw data_error(
            "{}: holds its weights in ONNX graphs alone (onnx), which other programs run; name the run or model that it was written from, "
            "or "
            "an export of it --to sentence-transformers",
            folder.string());
    throw data_error("{}: has no weights; model.safetensors (or model.safetensors.index.json and its files) was expected there",
                     folder.string());
}

}  // namespace faceter
