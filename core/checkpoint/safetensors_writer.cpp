#include <fmt/ranges.h>

#include "checkpoint/safetensors.h"
#include "common/atomic_file.h"
#include "common/error.h"
#include "common/json.h"
#include "common/strings.h"

namespace faceter {

void SafetensorsWriter::add(std::string name, DType dtype, std::vector<std::int64_t> shape, const void* data) {
    add(std::move(name), dtype, std::move(shape), [data] { return data; });
}

void SafetensorsWriter::add(std::string name, DType dtype, std::vector<std::int64_t> shape, std::function<const void*()> fetch) {
    if (!names_.insert(name).second) throw failure("tensor {} is to be written twice", faceter::quoted(name));
    TensorInfo info{std::move(name), dtype, std::move(shape), data_bytes_, dtype_size(dtype)};
    for (const std::int64_t size : info.shape) {
        if (size < 0) throw failure("tensor {} has a negative size", faceter::quoted(info.name));
        info.bytes *= static_cast<std::uint64_t>(size);
    }
    data_bytes_ += info.bytes;
    entries_.push_back({std::move(info), std::move(fetch)});
}

void SafetensorsWriter::set_metadata(std::string key, std::string value) { metadata_[std::move(key)] = std::move(value); }

/// Eight bytes of length, then JSON padded with blanks so that the data starts at a multiple of 8.
std::string SafetensorsWriter::header() const {
    Json metadata = {{"format", "pt"}};
    for (const auto& [key, value] : metadata_) metadata[key] = value;
    std::string text = fmt::format(R"({{"__metadata__":{})", metadata.dump());
    for (const Entry& entry : entries_) {
        const TensorInfo& info = entry.info;
        text += fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", Json(info.name).dump(), dtype_name(info.dtype),
                            fmt::join(info.shape, ","), info.offset, info.offset + info.bytes);
    }
    text += '}';
    text.append((8 - text.size() % 8) % 8, ' ');
    const std::uint64_t length = text.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

std::uint64_t SafetensorsWriter::stream(OutputFile& file) const {
    const std::string head = header();
    file.write(head);
    for (const Entry& entry : entries_)
        if (entry.info.bytes > 0) file.write(entry.fetch(), entry.info.bytes);
    return head.size() + data_bytes_;
}

std::uint64_t SafetensorsWriter::write(const std::filesystem::path& path) const {
    AtomicFile file(path);
    const std::uint64_t bytes = stream(file.file());
    file.commit();
    return bytes;
}

std::uint64_t SafetensorsWriter::write_new(const std::filesystem::path& path) const {
    OutputFile file(path, OutputFile::Mode::exclusive);
    const std::uint64_t bytes = stream(file);
    file.sync();
    file.close();
    return bytes;
}

}  // namespace faceter
