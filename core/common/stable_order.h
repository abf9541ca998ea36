#pragma once
#include <tuple>

namespace faceter {

/// By the time at which something was made; of the same second by id, so that a list has one order wherever it is shown.
template <typename Made>
bool is_older(const Made& a, const Made& b) {
    return std::tie(a.created, a.id) < std::tie(b.created, b.id);
}

}  // namespace faceter
