#pragma once
#include <experiment/public_headers.h>  // made by the build
#include <torch/version.h>

/// The build that this file is compiled in, as a literal: nothing has to run to read it. FACETER_VERSION comes from the build.
#define FACETER_TEXT_OF(value) #value
#define FACETER_TEXT(value) FACETER_TEXT_OF(value)
#if defined(__SANITIZE_ADDRESS__)
#define FACETER_SANITIZER "address"
#elif defined(__SANITIZE_THREAD__)
#define FACETER_SANITIZER "thread"
#else
#define FACETER_SANITIZER "none"
#endif
#define FACETER_BUILD_FINGERPRINT                                                                                                        \
    "cxx_abi=" FACETER_TEXT(__GXX_ABI_VERSION) ";cxx11_strings=" FACETER_TEXT(_GLIBCXX_USE_CXX11_ABI) ";torch=" TORCH_VERSION            \
                                                                                                      ";faceter=" FACETER_VERSION        \
                                                                                                      ";headers=" FACETER_PUBLIC_HEADERS \
                                                                                                      ";sanitizer=" FACETER_SANITIZER
