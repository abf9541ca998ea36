#include "data/parquet_file.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <regex>
#include <vector>

#include "common/error.h"
#include "common/library_file.h"
#include "common/strings.h"
#include "data/files_read.h"

namespace faceter {
namespace {

namespace fs = std::filesystem;

/// Beside the library that this function is in: LIB/faceter/parquet.so.
fs::path module_file() { return beside_library_of(reinterpret_cast<const void*>(&reads_parquet), "faceter/parquet.so"); }

OpenParquet module_function() {
    static const auto function = []() -> OpenParquet {
        if (!reads_parquet()) return nullptr;
        void* library = ::dlopen(module_file().c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library)
            throw data_error("{}: cannot be loaded: {}; 'faceter setup --parquet' fetches the Arrow libraries that it needs",
                             module_file().string(), ::dlerror());
        return reinterpret_cast<OpenParquet>(::dlsym(library, "faceter_open_parquet"));
    }();
    return function;
}

/// The files that belong to `first` in order: itself, or the shards of its name.
std::vector<fs::path> shards_of(const fs::path& first) {
    static const std::regex shard(R"((.*)-00000-of-(\d{5})(-[0-9a-f]+)?\.parquet)", std::regex::icase);
    std::smatch match;
    const std::string name = first.filename().string();
    const std::size_t num_parts = std::regex_match(name, match, shard) ? std::stoul(match[2]) : 0;
    if (num_parts == 0) return {first};
    std::vector<fs::path> files(num_parts);
    for (const auto& entry : fs::directory_iterator(first.parent_path())) {
        const std::string other = entry.path().filename().string();
        for (std::size_t i = 0; i < files.size(); ++i)
            if (other.starts_with(fmt::format("{}-{:05}-of-{}", match[1].str(), i, match[2].str())) &&
                lowercase_ascii(other).ends_with(".parquet"))
                files[i] = entry.path();
    }
    for (std::size_t i = 0; i < files.size(); ++i)
        if (files[i].empty()) throw data_error("{}: its part {} of {} is missing", first.string(), i + 1, files.size());
    return files;
}

/// One file behind the other. The first is opened at once: what cannot be is told before anything is read.
class Joined : public InputStream {
  public:
    Joined(std::vector<fs::path> files, ExpansionLimit limit) : files_(std::move(files)), limit_(limit) { open(files_[next_++]); }
    std::size_t read(char* to, std::size_t size) override {
        for (; next_ < files_.size() || current_; current_.reset()) {
            if (!current_) open(files_[next_++]);
            if (const std::size_t got = current_->read(to, size)) return got;
        }
        return 0;
    }

  private:
    void open(const fs::path& file) {
        current_.reset(module_function()(file, limit_));
        note_file_read(file);
    }
    std::vector<fs::path> files_;
    ExpansionLimit limit_;
    std::size_t next_ = 0;
    std::unique_ptr<InputStream> current_;
};

}  // namespace

bool reads_parquet() { return fs::exists(module_file()); }

std::unique_ptr<InputStream> open_parquet(const fs::path& path, ExpansionLimit limit) {
    if (!module_function())
        throw data_error(
            "{}: this build does not read Parquet; run packaging/setup.sh --parquet and build again, or convert the file to JSON lines",
            path.string());
    return std::make_unique<Joined>(shards_of(path), limit);
}

}  // namespace faceter
