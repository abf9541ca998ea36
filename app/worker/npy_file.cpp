#include "npy_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "common/abandoned.h"
#include "common/error.h"

namespace faceter::worker {
namespace {

constexpr std::size_t header_bytes = 128;  // of any number of rows, so that it can be written anew

/// Over what stands at the beginning of the file.
void write_at_start(const fs::path& path, const std::string& bytes) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const bool written = descriptor >= 0 && ::pwrite(descriptor, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (!written) throw_io("write", path, error);
}

/// Now, not when all is embedded.
const fs::path& no_folder(const fs::path& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) throw usage_error("{}: is a folder; give the file to write", path.string());
    return path;
}

}  // namespace

NpyFile::NpyFile(const fs::path& path, std::string type, std::int64_t width, std::int64_t rows)
    : file_(no_folder(path)), type_(std::move(type)), width_(width), announced_(rows) {
    remove_abandoned(path);
    file_.write(header(rows));
}

std::string NpyFile::header(std::int64_t rows) const {
    const std::string shape = width_ == 0 ? fmt::format("({},)", rows) : fmt::format("({}, {})", rows, width_);
    std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type_, shape);
    std::string header("\x93NUMPY\x01\x00", 8);
    dictionary.resize(header_bytes - header.size() - 3, ' ');
    dictionary += '\n';
    header += static_cast<char>(dictionary.size());
    header += '\0';
    return header + dictionary;
}

void NpyFile::append(const at::Tensor& rows) {
    const at::Tensor values = rows.contiguous();
    file_.write(values.data_ptr(), values.nbytes());
    rows_ += values.size(0);
}

void NpyFile::commit() {
    if (rows_ != announced_) write_at_start(file_.file().path(), header(rows_));
    file_.commit();
}

}  // namespace faceter::worker
