// In the place of products() in core/model/kernels/products_dispatch.cpp: a program's own functions come before those of its libraries. All
// that a processor with AMX multiplies by its tiles goes through the product's code for them here, whatever this processor has.
#include <cstdio>
#include <cstdlib>

#include "model/kernels/product_choice.h"
#include "support/emulated_tiles/trapped_instructions.h"

namespace faceter::kernels {
namespace {

const bool can_run = [] {
    if (testing::trap_missing_instructions()) return true;
    std::puts("ALL TESTS SKIPPED: AMX's products need a processor with AVX-512 and VNNI");
    std::exit(0);
}();

constexpr ProductMeans with_amx{"avx512", true, true, true};

}  // namespace

bool multiplies_natively(ProductForm) { return true; }

const ProductTable& products(ProductForm form) { return products_by(form, with_amx); }

}  // namespace faceter::kernels
