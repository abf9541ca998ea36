#define FACETER_ISA_TABLE avx2_table
#define FACETER_ISA_NAME "avx2"
#include "model/kernels/kernels.inc.h"
