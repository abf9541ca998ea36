#include "checkpoint/safetensors.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/error.h"
#include "common/json_document.h"
#include "common/open_file.h"
#include "common/strings.h"

namespace faceter {
namespace {

using Element = simdjson::dom::element;

struct DTypeEntry {
    std::string_view name;
    std::size_t size;
};
/// In the order of DType.
constexpr std::array<DTypeEntry, 16> dtypes = {{{"F64", 8},
                                                {"F32", 4},
                                                {"F16", 2},
                                                {"BF16", 2},
                                                {"F8_E4M3", 1},
                                                {"F8_E5M2", 1},
                                                {"F8_E8M0", 1},
                                                {"I64", 8},
                                                {"I32", 4},
                                                {"I16", 2},
                                                {"I8", 1},
                                                {"U64", 8},
                                                {"U32", 4},
                                                {"U16", 2},
                                                {"U8", 1},
                                                {"BOOL", 1}}};
constexpr std::uint64_t max_header_bytes = 100'000'000;  // the limit of the reference implementation
constexpr std::size_t most_dimensions = 8;               // a kernel over space and time has 5

/// What stands in front of every message about a header.
struct Context {
    std::string_view file;
    std::string_view tensor;

    template <typename... Args>
    Error error(fmt::format_string<Args...> format, Args&&... args) const {
        const std::string what = fmt::format(format, std::forward<Args>(args)...);
        if (tensor.empty()) return data_error("{}: {}", file, what);
        return data_error("{}: tensor {} {}", file, quoted(tensor), what);
    }
};

DType read_dtype(const Element& entry, const Context& context) {
    std::string_view name;
    if (entry["dtype"].get(name)) throw context.error("has no dtype");
    for (std::size_t i = 0; i < dtypes.size(); ++i)
        if (dtypes[i].name == name) return static_cast<DType>(i);
    throw context.error("has the dtype {}, which is not supported", quoted(name));
}

std::vector<std::int64_t> read_shape(const Element& entry, const Context& context) {
    simdjson::dom::array array;
    if (entry["shape"].get(array)) throw context.error("has no shape");
    if (array.size() > most_dimensions)
        throw context.error("has a shape of {} sizes, at most {} are supported; no model's weights have so many, so fetch the file again",
                            array.size(), most_dimensions);
    std::vector<std::int64_t> shape;
    for (const Element dimension : array) {
        std::int64_t size = 0;
        if (dimension.get(size) || size < 0) throw context.error("has a shape that is not a list of sizes");
        shape.push_back(size);
    }
    return shape;
}

std::uint64_t checked_bytes(const TensorInfo& info, const Context& context) {
    std::uint64_t bytes = dtype_size(info.dtype);
    for (const std::int64_t size : info.shape)
        if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes))
            throw context.error("has a shape too large for any memory");
    if (bytes > std::uint64_t(INT64_MAX)) throw context.error("has a shape too large for any memory");
    return bytes;
}

/// Reads "data_offsets": [begin, end], which count from `data_begin`, and checks them against the file and the shape.
void read_offsets(const Element& entry, std::uint64_t data_begin, std::uint64_t file_size, const Context& context, TensorInfo& info) {
    simdjson::dom::array array;
    std::uint64_t begin = 0, end = 0;
    if (entry["data_offsets"].get(array) || array.size() != 2 || array.at(0).get(begin) || array.at(1).get(end))
        throw context.error("has no data_offsets [begin, end]");
    const std::uint64_t data_bytes = file_size - data_begin;
    if (begin > end || end > data_bytes)
        throw context.error("lies at bytes {} to {} of {}; the file is cut short or its header is wrong, so fetch it again", begin, end,
                            data_bytes);
    if (end - begin != info.bytes)
        throw context.error("takes {} bytes, but its shape and dtype need {}; the header is wrong, so fetch the file again", end - begin,
                            info.bytes);
    info.offset = data_begin + begin;
}

void check_name(const Context& context) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
    if (context.tensor.empty()) throw context.error("a tensor has an empty name");
    if (std::any_of(context.tensor.begin(), context.tensor.end(), is_control)) throw context.error("has a control character in its name");
}

TensorInfo read_tensor(std::string_view name, const Element& entry, std::uint64_t data_begin, std::uint64_t file_size,
                       std::string_view file) {
    const Context context{file, name};
    check_name(context);
    if (!entry.is_object()) throw context.error("is not described by an object");
    TensorInfo info;
    info.name = name;
    info.dtype = read_dtype(entry, context);
    info.shape = read_shape(entry, context);
    info.bytes = checked_bytes(info, context);
    read_offsets(entry, data_begin, file_size, context, info);
    return info;
}

std::map<std::string, std::string> read_metadata(const Element& element, std::string_view file) {
    simdjson::dom::object object;
    if (element.get(object)) throw data_error("{}: __metadata__ is not an object", file);
    std::map<std::string, std::string> metadata;
    for (const auto& [key, value] : object) {
        std::string_view text;
        if (value.get(text)) throw data_error("{}: __metadata__ {} is not a text", file, quoted(key));
        metadata.emplace(key, text);
    }
    return metadata;
}

/// The reference implementation's rule: each tensor begins where the one before it ends, and the last one ends the file.
void check_layout(const std::vector<TensorInfo>& tensors, std::uint64_t data_begin, std::uint64_t file_size, std::string_view file) {
    std::vector<const TensorInfo*> by_offset;
    for (const TensorInfo& info : tensors) by_offset.push_back(&info);
    const auto place = [](const TensorInfo* info) { return std::pair(info->offset, info->bytes); };
    std::sort(by_offset.begin(), by_offset.end(), [&](const auto* a, const auto* b) { return place(a) < place(b); });
    std::uint64_t end = data_begin;
    for (std::size_t i = 0; i < by_offset.size(); ++i) {
        const TensorInfo& info = *by_offset[i];
        if (info.offset < end)
            throw data_error("{}: tensors {} and {} overlap; the header is wrong, so fetch the file again", file,
                             faceter::quoted(by_offset[i - 1]->name), faceter::quoted(info.name));
        if (info.offset > end)
            throw data_error("{}: bytes {} to {}, before tensor {}, belong to none; the header is wrong, so fetch the file again", file,
                             end - data_begin, info.offset - data_begin, faceter::quoted(info.name));
        end = info.offset + info.bytes;
    }
    if (end != file_size)
        throw data_error("{}: bytes {} to {}, behind the last tensor, belong to none; fetch the file again", file, end - data_begin,
                         file_size - data_begin);
}

void check_duplicates(const std::vector<TensorInfo>& tensors, std::string_view file) {
    std::vector<std::string_view> names;
    for (const TensorInfo& info : tensors) names.push_back(info.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) throw data_error("{}: tensor {} stands twice in the header", file, quoted(*twice));
}

/// Reads `size` bytes at `offset` or throws.
void read_exactly(int descriptor, void* destination, std::uint64_t size, std::uint64_t offset, const std::filesystem::path& path) {
    auto* at = static_cast<char*>(destination);
    while (size > 0) {
        const ssize_t got = ::pread(descriptor, at, std::min<std::uint64_t>(size, 1u << 30), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw data_error("{}: cannot read: {}", path.string(), errno_text(errno));
        if (got == 0) throw data_error("{}: ended at byte {} while it was read; it was changed by another program", path.string(), offset);
        at += got;
        offset += static_cast<std::uint64_t>(got);
        size -= static_cast<std::uint64_t>(got);
    }
}

/// The header's text of an open file; `file_size` gets the size of the file.
std::string read_header(int descriptor, const std::filesystem::path& path, std::uint64_t& file_size) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) throw data_error("{}: is not a file", path.string());
    file_size = static_cast<std::uint64_t>(status.st_size);
    if (file_size < 8) throw data_error("{}: has {} bytes; a safetensors file has at least 8", path.string(), file_size);
    std::uint64_t length = 0;
    read_exactly(descriptor, &length, sizeof length, 0, path);
    if (length > max_header_bytes || length > file_size - 8)
        throw data_error(
            "{}: its first 8 bytes announce a header of {} bytes in a file of {}; it is not a safetensors file, or is cut short",
            path.string(), length, file_size);
    std::string header(length, '\0');
    read_exactly(descriptor, header.data(), length, 8, path);
    return header;
}

}  // namespace

std::size_t dtype_size(DType dtype) { return dtypes[static_cast<std::size_t>(dtype)].size; }
std::string_view dtype_name(DType dtype) { return dtypes[static_cast<std::size_t>(dtype)].name; }

std::int64_t TensorInfo::numel() const { return static_cast<std::int64_t>(bytes / dtype_size(dtype)); }

SafetensorsHeader parse_safetensors_header(std::string_view header, std::uint64_t file_size, std::string_view name) {
    const std::uint64_t data_begin = 8 + header.size();
    if (data_begin > file_size) throw data_error("{}: the header is longer than the file", name);
    SafetensorsHeader result;
    with_json_document(header, name, [&](Element root) {
        simdjson::dom::object object;
        if (root.get(object)) throw data_error("{}: the header is not a JSON object", name);
        for (const auto& [key, value] : object) {
            if (key == "__metadata__") {
                result.metadata = read_metadata(value, name);
            } else {
                result.tensors.push_back(read_tensor(key, value, data_begin, file_size, name));
            }
        }
    });
    check_duplicates(result.tensors, name);
    check_layout(result.tensors, data_begin, file_size, name);
    return result;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : path_(path) {
    descriptor_ = open_to_read(path);
    try {
        std::uint64_t file_size = 0;
        const std::string header = read_header(descriptor_, path, file_size);
        SafetensorsHeader parsed = parse_safetensors_header(header, file_size, path.string());
        tensors_ = std::move(parsed.tensors);
        metadata_ = std::move(parsed.metadata);
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
    for (std::size_t i = 0; i < tensors_.size(); ++i) index_.emplace(tensors_[i].name, i);
}

SafetensorsFile::~SafetensorsFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      tensors_(std::move(other.tensors_)),  // keeps its elements where they are, so index_ stays right
      index_(std::move(other.index_)),
      metadata_(std::move(other.metadata_)) {}

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &tensors_[found->second];
}

void SafetensorsFile::read(const TensorInfo& info, void* destination) const { read(info, 0, info.bytes, destination); }

void SafetensorsFile::read(const TensorInfo& info, std::uint64_t begin, std::uint64_t size, void* destination) const {
    if (begin > info.bytes || size > info.bytes - begin)
        throw failure("{}: bytes {} to {} of tensor {} were asked for; it has {}", path_.string(), begin, begin + size,
                      faceter::quoted(info.name), info.bytes);
    read_exactly(descriptor_, destination, size, info.offset + begin, path_);
}

}  // namespace faceter
