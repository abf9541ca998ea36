#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "checkpoint/safetensors.h"

namespace faceter {

/// The tensors of a checkpoint, wherever they lie: one safetensors file or the shards of model.safetensors.index.json.
class Weights {
  public:
    /// Opens and checks every file; a tensor in two files is a data error.
    explicit Weights(std::span<const std::filesystem::path> files);
    /// One more file, whose tensors go under `prefix` + their name.
    void add(const std::filesystem::path& file, const std::string& prefix = "");

    /// Every tensor's name, file by file.
    const std::vector<std::string>& names() const { return names_; }
    /// Null where there is no tensor of that name.
    const TensorInfo* find(std::string_view name) const;
    /// The same, as a data error that names the files and the nearest names there.
    const TensorInfo& at(std::string_view name) const;
    /// Copies the tensor's bytes to `destination` (find(name)->bytes of them).
    void read(std::string_view name, void* destination) const;
    /// The same as float32, from f32, f16, bf16 or f64; `values` must have numel() entries.
    void read_float(std::string_view name, std::span<float> values) const;
    /// For messages: the file, or "FOLDER (n files)".
    std::string description() const;

  private:
    struct Place {
        std::size_t file, tensor;
    };
    const SafetensorsFile& file_of(std::string_view name) const;
    std::vector<SafetensorsFile> files_;
    std::vector<std::string> names_;
    std::unordered_map<std::string, Place> index_;
};

/// The weight files of a folder: model.safetensors, or the shards its index names (which must lie in the folder itself). Throws a data
/// error where there is none; says why pytorch_model.bin is refused.
std::vector<std::filesystem::path> find_weight_files(const std::filesystem::path& folder);

}  // namespace faceter
