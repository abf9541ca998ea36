#define FACETER_PRODUCTS_TABLE avx512_bf16_products
#define FACETER_PRODUCTS_NAME "avx512_bf16"
#include "model/kernels/products.inc.h"
