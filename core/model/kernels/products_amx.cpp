#define FACETER_PRODUCTS_TABLE amx_products
#define FACETER_PRODUCTS_NAME "amx"
#include "model/kernels/products.inc.h"
