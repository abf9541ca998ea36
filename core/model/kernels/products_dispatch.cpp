#include <cstdlib>
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "model/kernels/kernels.h"
#include "model/kernels/products.h"

namespace faceter::kernels {
namespace {

bool is(const char* a, const char* b) {
    while (*a && *a == *b) ++a, ++b;
    return *a == *b;
}

bool has_vnni() {
#if defined(__x86_64__)
    return is(kernels().instruction_set, "avx512") && __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}

bool has_bf16() {
#if defined(__x86_64__)
    return is(kernels().instruction_set, "avx512") && __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

/// AMX's tiles are a process's for the asking (Linux 5.16 and later). Not where FACETER_CPU names what to use.
bool has_tiles() {
#if defined(__x86_64__) && defined(__linux__)
    constexpr long ask_for_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    const char* wish = std::getenv("FACETER_CPU");
    if ((wish && *wish) || !has_vnni() || !has_bf16()) return false;
    if (!__builtin_cpu_supports("amx-tile") || !__builtin_cpu_supports("amx-bf16") || !__builtin_cpu_supports("amx-int8")) return false;
    return ::syscall(SYS_arch_prctl, ask_for_permission, tile_data) == 0;
#else
    return false;
#endif
}

const ProductTable& plain_products() {
    if (is(kernels().instruction_set, "avx512")) return avx512_products;
    return is(kernels().instruction_set, "avx2") ? avx2_products : generic_products;
}

}  // namespace

bool multiplies_natively(ProductForm form) {
    static const bool vnni = has_vnni(), bf16 = has_bf16();
    return form == ProductForm::int8 ? vnni : form != ProductForm::bf16 || bf16;
}

const ProductTable& products(ProductForm form) {
    static const ProductTable& plain = plain_products();
    static const bool tiles = has_tiles();
    if (tiles && (form == ProductForm::int8 || form == ProductForm::bf16)) return amx_products;
    if (form == ProductForm::int8 && multiplies_natively(form)) return avx512_vnni_products;
    if (form == ProductForm::bf16 && multiplies_natively(form)) return avx512_bf16_products;
    return plain;
}

std::size_t outer_scratch(const ProductTable& table, std::size_t rows) { return (rows + table.tile_rows + table.panel_rows) * outer_steps; }

}  // namespace faceter::kernels
