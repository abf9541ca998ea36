#include <cstdlib>
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "model/kernels/kernels.h"
#include "model/kernels/product_choice.h"

namespace faceter::kernels {
namespace {

bool is(const char* a, const char* b) {
    while (*a && *a == *b) ++a, ++b;
    return *a == *b;
}

#if defined(__x86_64__)
ProductMeans means_of_processor() {
    ProductMeans has{kernels().instruction_set, __builtin_cpu_supports("avx512vnni") != 0, __builtin_cpu_supports("avx512bf16") != 0,
                     false};
    has.tiles = __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16") && __builtin_cpu_supports("amx-int8");
    return has;
}
#else
ProductMeans means_of_processor() { return {kernels().instruction_set, false, false, false}; }
#endif

const ProductMeans& means() {
    static const ProductMeans usable = usable_means(means_of_processor(), std::getenv("FACETER_CPU"), ask_for_tiles);
    return usable;
}

const ProductTable& plain_products(const ProductMeans& by) {
    if (is(by.instruction_set, "avx512")) return avx512_products;
    return is(by.instruction_set, "avx2") ? avx2_products : generic_products;
}

}  // namespace

/// Linux gives them to a process for the asking, from 5.16 on.
bool ask_for_tiles() {
#if defined(__x86_64__) && defined(__linux__)
    constexpr long ask_for_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return ::syscall(SYS_arch_prctl, ask_for_permission, tile_data) == 0;
#else
    return false;
#endif
}

ProductMeans usable_means(const ProductMeans& processor, const char* wish, bool (*ask)()) {
    ProductMeans usable = processor;
    const bool avx512 = is(processor.instruction_set, "avx512");
    usable.vnni = avx512 && processor.vnni;
    usable.bf16 = avx512 && processor.bf16;
    usable.tiles = usable.vnni && usable.bf16 && processor.tiles && !(wish && *wish) && ask();
    return usable;
}

const ProductTable& products_by(ProductForm form, const ProductMeans& by) {
    if (by.tiles && (form == ProductForm::int8 || form == ProductForm::bf16)) return amx_products;
    if (form == ProductForm::int8 && by.vnni) return avx512_vnni_products;
    if (form == ProductForm::bf16 && by.bf16) return avx512_bf16_products;
    return plain_products(by);
}

bool multiplies_natively(ProductForm form) {
    const ProductMeans& by = means();
    return form == ProductForm::int8 ? by.vnni : form != ProductForm::bf16 || by.bf16;
}

const ProductTable& products(ProductForm form) { return products_by(form, means()); }

std::size_t outer_scratch(const ProductTable& table, std::size_t rows) { return (rows + table.tile_rows + table.panel_rows) * outer_steps; }

}  // namespace faceter::kernels
