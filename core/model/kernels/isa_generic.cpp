#define FACETER_ISA_TABLE generic_table
#define FACETER_ISA_NAME "generic"
#include "model/kernels/kernels.inc.h"
