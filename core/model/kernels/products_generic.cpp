#define FACETER_PRODUCTS_TABLE generic_products
#define FACETER_PRODUCTS_NAME "generic"
#include "model/kernels/products.inc.h"
