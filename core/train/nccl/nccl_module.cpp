// The only source that sees NCCL and CUDA: a module that is opened where there is a GPU, behind libtorch_cuda, whose symbols it finds in
// the process. Class layouts follow the macros of whichever nccl.h is found, so it must be that of the library that libtorch 2.11 carries.
#define USE_C10D_NCCL
#include <nccl.h>
static_assert(NCCL_VERSION_CODE == 22809,
              "libtorch 2.11 carries NCCL 2.28.9; give the build its nccl.h (packaging/setup.sh --cuda brings it)");
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "train/device_backend.h"

extern "C" void faceter_open_nccl(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, std::chrono::milliseconds limit,
                                  c10::intrusive_ptr<c10d::Backend>& opened) {
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = limit;
    opened = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, std::move(options));
}
