#define FACETER_PRODUCTS_TABLE avx512_vnni_products
#define FACETER_PRODUCTS_NAME "avx512_vnni"
#include "model/kernels/products.inc.h"
