#include "plugin/abi.h"

#include "plugin/fingerprint.h"

namespace faceter {

std::string build_fingerprint() { return FACETER_BUILD_FINGERPRINT; }

}  // namespace faceter
