#pragma once
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "store/series.h"

namespace faceter {

// Blobs of the store: values end to end as this machine holds them (little-endian on every machine that Faceter runs on).

template <typename T>
std::vector<T> unpack_blob(std::string_view blob) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> values(blob.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), blob.data(), values.size() * sizeof(T));
    return values;
}

inline std::vector<SeriesPoint> unpack_points(std::string_view blob) { return unpack_blob<SeriesPoint>(blob); }
inline std::vector<double> unpack_doubles(std::string_view blob) { return unpack_blob<double>(blob); }

}  // namespace faceter
