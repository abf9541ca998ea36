#pragma once
#include "model/kernels/products.h"

/// What products() goes by, apart from the processor at hand.
namespace faceter::kernels {

/// What there is to multiply with.
struct ProductMeans {
    const char* instruction_set;  ///< that kernels() chose
    bool vnni, bf16, tiles;       ///< AVX512-VNNI; AVX512-BF16; AMX for both forms
};

/// What of a processor's a program may use. `wish`: FACETER_CPU or null. `ask`: called for the tiles where all else allows them; the system
/// may refuse them, and then the vectors serve.
ProductMeans usable_means(const ProductMeans& processor, const char* wish, bool (*ask)());

/// Asks the system for AMX's tiles, for all threads of this process: whether it may use them.
bool ask_for_tiles();

const ProductTable& products_by(ProductForm form, const ProductMeans& by);

}  // namespace faceter::kernels
