#define FACETER_PRODUCTS_TABLE avx2_products
#define FACETER_PRODUCTS_NAME "avx2"
#include "model/kernels/products.inc.h"
