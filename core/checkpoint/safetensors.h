#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace faceter {

class OutputFile;

/// The element types of safetensors with whole bytes.
enum class DType { f64, f32, f16, bf16, f8_e4m3, f8_e5m2, f8_e8m0, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

std::size_t dtype_size(DType dtype);
/// As the header writes it: "F32", "BF16", "BOOL".
std::string_view dtype_name(DType dtype);

struct TensorInfo {
    std::string name;
    DType dtype = DType::f32;
    std::vector<std::int64_t> shape;
    std::uint64_t offset = 0;  ///< from the start of the file
    std::uint64_t bytes = 0;   ///< equals the product of the shape times dtype_size

    std::int64_t numel() const;
};

/// A safetensors file (https://github.com/huggingface/safetensors, "Format"), checked as a whole when opened: nothing that tensors()
/// says can lead outside the file. Data may be misaligned in the file, so it is copied. Thread safe after construction.
class SafetensorsFile {
  public:
    /// Throws a data error that names the file, the tensor and what is wrong.
    explicit SafetensorsFile(const std::filesystem::path& path);
    ~SafetensorsFile();
    SafetensorsFile(SafetensorsFile&& other) noexcept;
    SafetensorsFile& operator=(SafetensorsFile&&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// In the order of the header.
    const std::vector<TensorInfo>& tensors() const { return tensors_; }
    /// Null where there is no tensor of that name.
    const TensorInfo* find(std::string_view name) const;
    const std::map<std::string, std::string>& metadata() const { return metadata_; }

    /// Copies the tensor's bytes (info.bytes of them) to `destination`.
    void read(const TensorInfo& info, void* destination) const;
    /// Bytes [begin, begin + size) of the tensor: for a row of an embedding, or an expert of a stacked parameter.
    void read(const TensorInfo& info, std::uint64_t begin, std::uint64_t size, void* destination) const;

  private:
    std::filesystem::path path_;
    int descriptor_ = -1;
    std::vector<TensorInfo> tensors_;
    std::unordered_map<std::string_view, std::size_t> index_;  // views into tensors_
    std::map<std::string, std::string> metadata_;
};

/// The header of a file of `file_size` bytes, checked: what SafetensorsFile does before it reads any tensor. `name` stands in messages.
struct SafetensorsHeader {
    std::vector<TensorInfo> tensors;
    std::map<std::string, std::string> metadata;
};
SafetensorsHeader parse_safetensors_header(std::string_view header, std::uint64_t file_size, std::string_view name);

/// Collects tensors and writes them as one file, streaming: no copy of the data is made.
/// Layout: header padded to 8 bytes, tensors in the order given, metadata {"format": "pt"} unless set otherwise.
class SafetensorsWriter {
  public:
    /// `data` must stay valid until the write is over.
    void add(std::string name, DType dtype, std::vector<std::int64_t> shape, const void* data);
    /// `fetch` is called when the tensor's turn comes; its pointer must stay valid until the next fetch or the end of the write
    /// (a copy from a GPU, an expert cut out of a stacked parameter).
    void add(std::string name, DType dtype, std::vector<std::int64_t> shape, std::function<const void*()> fetch);
    void set_metadata(std::string key, std::string value);

    /// Temporary file, fsync, rename: the path holds the old file or the whole new one. Returns the bytes written.
    std::uint64_t write(const std::filesystem::path& path) const;
    /// Creates the file (which must not exist) and syncs it, without rename: for a folder that is itself renamed when complete.
    std::uint64_t write_new(const std::filesystem::path& path) const;

  private:
    struct Entry {
        TensorInfo info;
        std::function<const void*()> fetch;
    };
    std::string header() const;
    std::uint64_t stream(OutputFile& file) const;
    std::vector<Entry> entries_;
    std::set<std::string> names_;
    std::map<std::string, std::string> metadata_;
    std::uint64_t data_bytes_ = 0;
};

}  // namespace faceter
