#include <cstdlib>
#include <cstring>

#include "model/kernels/kernels.h"

namespace faceter::kernels {
namespace {

bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

bool has_avx512() {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

const Table& choose() {
    const char* wish = std::getenv("FACETER_CPU");
    const auto allowed = [&](const Table& table) { return !wish || !*wish || std::strcmp(wish, table.instruction_set) == 0; };
    if (has_avx512() && allowed(avx512_table)) return avx512_table;
    if (has_avx2() && allowed(avx2_table)) return avx2_table;
    return generic_table;
}

}  // namespace

const Table& kernels() {
    static const Table& table = choose();
    return table;
}

std::size_t attention_scratch(std::size_t length, std::size_t head_dim, std::size_t relative_rows) {
    const std::size_t padded = (length + 31) / 16 * 16, width = (head_dim + 15) / 16 * 16;
    const std::size_t relative = relative_rows == 0 ? 0 : (relative_rows + 31) / 16 * 16;
    return 5 * padded * width + 2 * 64 * padded + 4 * 64 * width + 256 + 6 * relative * width + 2 * relative * (padded + 64);
}

}  // namespace faceter::kernels
