#include "checkpoint/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_set>

#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::uint64_t max_header_bytes = 100u << 20;  // the format's own limit
constexpr std::size_t max_rank = 16;

struct DTypeRow {
    DType dtype;
    std::string_view name;
    std::size_t size;
};
constexpr DTypeRow dtypes[] = {{DType::f64, "F64", 8},         {DType::f32, "F32", 4},         {DType::f16, "F16", 2},         {DType::bf16, "BF16", 2},
                               {DType::f8_e4m3, "F8_E4M3", 1}, {DType::f8_e5m2, "F8_E5M2", 1}, {DType::f8_e8m0, "F8_E8M0", 1}, {DType::i64, "I64", 8},
                               {DType::i32, "I32", 4},         {DType::i16, "I16", 2},         {DType::i8, "I8", 1},           {DType::u64, "U64", 8},
                               {DType::u32, "U32", 4},         {DType::u16, "U16", 2},         {DType::u8, "U8", 1},           {DType::boolean, "BOOL", 1}};

const DTypeRow& row_of(DType dtype) {
    return *std::find_if(std::begin(dtypes), std::end(dtypes), [&](const DTypeRow& row) { return row.dtype == dtype; });
}

bool has_control_character(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// The header's object, refusing a name that stands twice (a parser would keep the last one).
Json parse_header_object(std::string_view header, std::string_view name) {
    std::unordered_set<std::string> keys;
    std::string duplicate;
    const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
        if (depth > 8) throw data_error("{}: header nested deeper than 8 levels", name);
        if (event == Json::parse_event_t::key && depth == 1 && !keys.insert(value.get<std::string>()).second) duplicate = value.get<std::string>();
        return true;
    };
    try {
        Json object = Json::parse(header.begin(), header.end(), watch);
        if (!duplicate.empty()) throw data_error("{}: tensor {} stands twice in the header", name, faceter::quoted(duplicate));
        if (!object.is_object()) throw data_error("{}: the header is not a JSON object", name);
        return object;
    } catch (const nlohmann::json::exception&) {
        throw data_error("{}: the header is not valid JSON; the file is broken or no safetensors file", name);
    }
}

std::uint64_t unsigned_entry(const Json& value, std::string_view name, std::string_view tensor, std::string_view what) {
    if (!value.is_number_unsigned()) throw data_error("{}: tensor {}: {} is not a whole number from 0", name, faceter::quoted(tensor), what);
    return value.get<std::uint64_t>();
}

TensorInfo parse_tensor(const std::string& tensor, const Json& entry, std::uint64_t data_start, std::uint64_t file_size, std::string_view name) {
    if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") || !entry.contains("data_offsets") || !entry["dtype"].is_string() ||
        !entry["shape"].is_array() || !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2)
        throw data_error("{}: tensor {} lacks dtype, shape or two data_offsets", name, faceter::quoted(tensor));
    TensorInfo info;
    info.name = tensor;
    const auto type = entry["dtype"].get<std::string>();
    const auto found = std::find_if(std::begin(dtypes), std::end(dtypes), [&](const DTypeRow& row) { return row.name == type; });
    if (found == std::end(dtypes)) throw data_error("{}: tensor {} has the unknown dtype {}", name, faceter::quoted(tensor), faceter::quoted(type));
    info.dtype = found->dtype;
    if (entry["shape"].size() > max_rank) throw data_error("{}: tensor {} has {} dimensions, at most {} are read", name, faceter::quoted(tensor), entry["shape"].size(), max_rank);
    std::uint64_t bytes = found->size;
    for (const Json& size : entry["shape"]) {
        const std::uint64_t extent = unsigned_entry(size, name, tensor, "a size of its shape");
        if (extent > static_cast<std::uint64_t>(INT64_MAX) || __builtin_mul_overflow(bytes, extent, &bytes) || bytes > static_cast<std::uint64_t>(INT64_MAX))
            throw data_error("{}: tensor {} has a shape larger than any file", name, faceter::quoted(tensor));
        info.shape.push_back(static_cast<std::int64_t>(extent));
    }
    const std::uint64_t begin = unsigned_entry(entry["data_offsets"][0], name, tensor, "data_offsets[0]");
    const std::uint64_t end = unsigned_entry(entry["data_offsets"][1], name, tensor, "data_offsets[1]");
    if (begin > end || end > file_size - data_start)
        throw data_error("{}: tensor {} lies at bytes {} to {} of {}; the file is cut off or broken", name, faceter::quoted(tensor), begin, end, file_size - data_start);
    if (end - begin != bytes) throw data_error("{}: tensor {} has {} bytes, its dtype and shape make {}", name, faceter::quoted(tensor), end - begin, bytes);
    info.offset = data_start + begin;
    info.bytes = bytes;
    return info;
}

void refuse_overlaps(const std::vector<TensorInfo>& tensors, std::string_view name) {
    std::vector<const TensorInfo*> order;
    for (const TensorInfo& info : tensors)
        if (info.bytes > 0) order.push_back(&info);
    std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->offset < b->offset; });
    for (std::size_t i = 1; i < order.size(); ++i)
        if (order[i - 1]->offset + order[i - 1]->bytes > order[i]->offset)
            throw data_error("{}: tensors {} and {} overlap; the file is broken", name, faceter::quoted(order[i - 1]->name), faceter::quoted(order[i]->name));
}

void read_exactly(int descriptor, void* destination, std::uint64_t size, std::uint64_t offset, const std::string& name) {
    auto* to = static_cast<char*>(destination);
    while (size > 0) {
        const ssize_t got = ::pread(descriptor, to, size, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) throw data_error("{}: cannot read at byte {}: {}", name, offset, got < 0 ? std::strerror(errno) : "the file became shorter");
        to += got;
        offset += static_cast<std::uint64_t>(got);
        size -= static_cast<std::uint64_t>(got);
    }
}

}  // namespace

std::size_t dtype_size(DType dtype) { return row_of(dtype).size; }
std::string_view dtype_name(DType dtype) { return row_of(dtype).name; }

std::int64_t TensorInfo::numel() const { return static_cast<std::int64_t>(bytes / dtype_size(dtype)); }

SafetensorsHeader parse_safetensors_header(std::string_view header, std::uint64_t file_size, std::string_view name) {
    SafetensorsHeader result;
    const Json object = parse_header_object(header, name);
    for (const auto& [key, entry] : object.items()) {
        if (key == "__metadata__") {
            if (!entry.is_object()) throw data_error("{}: __metadata__ is not an object", name);
            for (const auto& [k, v] : entry.items()) {
                if (!v.is_string()) throw data_error("{}: __metadata__ {} is not a text", name, faceter::quoted(k));
                result.metadata[k] = v.get<std::string>();
            }
            continue;
        }
        if (key.empty() || has_control_character(key)) throw data_error("{}: a tensor's name {} is empty or has control characters", name, faceter::quoted(key));
        result.tensors.push_back(parse_tensor(key, entry, 8 + header.size(), file_size, name));
    }
    refuse_overlaps(result.tensors, name);
    return result;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : path_(path) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) throw data_error("{}: cannot open: {}", path.string(), std::strerror(errno));
    try {
        struct stat info {};
        if (::fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) throw data_error("{}: is not a regular file", path.string());
        const auto file_size = static_cast<std::uint64_t>(info.st_size);
        if (file_size < 8) throw data_error("{}: {} bytes are too few for a safetensors file", path.string(), file_size);
        unsigned char raw[8];
        read_exactly(descriptor_, raw, 8, 0, path.string());
        std::uint64_t length = 0;
        for (int i = 7; i >= 0; --i) length = length << 8 | raw[i];
        if (length > max_header_bytes || length > file_size - 8)
            throw data_error("{}: says that its header has {} bytes, the file has {}; it is cut off or no safetensors file", path.string(), length, file_size);
        std::string header(length, '\0');
        read_exactly(descriptor_, header.data(), length, 8, path.string());
        SafetensorsHeader parsed = parse_safetensors_header(header, file_size, path.string());
        tensors_ = std::move(parsed.tensors);
        metadata_ = std::move(parsed.metadata);
        for (std::size_t i = 0; i < tensors_.size(); ++i) index_[tensors_[i].name] = i;
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

SafetensorsFile::~SafetensorsFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      tensors_(std::move(other.tensors_)),
      index_(std::move(other.index_)),
      metadata_(std::move(other.metadata_)) {}

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &tensors_[found->second];
}

void SafetensorsFile::read(const TensorInfo& info, void* destination) const { read(info, 0, info.bytes, destination); }

void SafetensorsFile::read(const TensorInfo& info, std::uint64_t begin, std::uint64_t size, void* destination) const {
    if (begin > info.bytes || size > info.bytes - begin) throw failure("{}: read beyond tensor '{}'", path_.string(), info.name);
    read_exactly(descriptor_, destination, size, info.offset + begin, path_.string());
}

void SafetensorsWriter::add(std::string name, DType dtype, std::vector<std::int64_t> shape, const void* data) {
    add(std::move(name), dtype, std::move(shape), [data] { return data; });
}

void SafetensorsWriter::add(std::string name, DType dtype, std::vector<std::int64_t> shape, std::function<const void*()> fetch) {
    TensorInfo info;
    info.name = std::move(name);
    info.dtype = dtype;
    info.bytes = dtype_size(dtype);
    for (const std::int64_t size : shape) info.bytes *= static_cast<std::uint64_t>(size);
    info.shape = std::move(shape);
    info.offset = data_bytes_;
    data_bytes_ += info.bytes;
    entries_.push_back({std::move(info), std::move(fetch)});
}

void SafetensorsWriter::set_metadata(std::string key, std::string value) { metadata_[std::move(key)] = std::move(value); }

std::string SafetensorsWriter::header() const {
    Json object = Json::object();
    object["__metadata__"] = metadata_.empty() ? Json{{"format", "pt"}} : Json(metadata_);
    for (const Entry& entry : entries_)
        object[entry.info.name] = {{"dtype", dtype_name(entry.info.dtype)},
                                   {"shape", entry.info.shape},
                                   {"data_offsets", {entry.info.offset, entry.info.offset + entry.info.bytes}}};
    std::string text = object.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
}

std::uint64_t SafetensorsWriter::stream(OutputFile& file) const {
    const std::string text = header();
    char length[8];
    for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(static_cast<std::uint64_t>(text.size()) >> (8 * i));
    file.write(std::string_view(length, 8));
    file.write(text);
    for (const Entry& entry : entries_) file.write(entry.fetch(), entry.info.bytes);
    file.sync();
    file.close();
    return 8 + text.size() + data_bytes_;
}

std::uint64_t SafetensorsWriter::write_new(const std::filesystem::path& path) const {
    OutputFile file(path, OutputFile::Mode::exclusive);
    return stream(file);
}

std::uint64_t SafetensorsWriter::write(const std::filesystem::path& path) const {
    const std::filesystem::path temporary = path.string() + fmt::format(".tmp-{}", ::getpid());
    try {
        std::uint64_t bytes = 0;
        {
            OutputFile file(temporary, OutputFile::Mode::truncate);
            bytes = stream(file);
        }
        rename_synced(temporary, path);
        return bytes;
    } catch (...) {
        ::unlink(temporary.c_str());
        throw;
    }
}

}  // namespace faceter
