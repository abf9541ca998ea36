#pragma once
#include <zlib.h>
#include <zstd.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"
#include "data/sources.h"

namespace faceter::testing {

inline fs::path put(const fs::path& file, std::string_view content) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
}

inline std::string gzip(std::string_view content) {
    std::string packed(compressBound(content.size()) + 64, '\0');
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

inline std::string zstd(std::string_view content) {
    std::string packed(ZSTD_compressBound(content.size()), '\0');
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);  // as the zstd program does
    packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), content.data(), content.size()));
    ZSTD_freeCCtx(context);
    return packed;
}

inline DataRequest request(Json settings, const fs::path& base = {}) {
    DataRequest made;
    made.settings = std::move(settings);
    made.base_folder = base;
    return made;
}

/// Peak resident memory of this process, in MiB.
inline long peak_memory_mib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::stol(line.substr(6)) / 1024;
    return 0;
}

}  // namespace faceter::testing
