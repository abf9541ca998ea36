#define FACETER_PRODUCTS_TABLE avx512_products
#define FACETER_PRODUCTS_NAME "avx512"
#include "model/kernels/products.inc.h"
