#define FACETER_ISA_TABLE avx512_table
#define FACETER_ISA_NAME "avx512"
#include "model/kernels/kernels.inc.h"
