# libtorch 2.11 as the PyPI wheel carries it (packaging/setup.sh unpacks it; FACETER_TORCH_ROOT overrides where).
# Gives the target faceter::torch: the CPU half only. Whatever needs CUDA is a module that is loaded where there is a GPU.
set(_default "$ENV{FACETER_TORCH_ROOT}")
if(NOT _default)
  set(_cache "$ENV{FACETER_CACHE}")
  if(NOT _cache AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(_cache "$ENV{XDG_CACHE_HOME}/faceter")
  elseif(NOT _cache)
    set(_home "$ENV{HOME}")
    if(_home STREQUAL "")
      execute_process(COMMAND sh -c "getent passwd $(id -u) | cut -d: -f6" OUTPUT_VARIABLE _home OUTPUT_STRIP_TRAILING_WHITESPACE)
    endif()
    set(_cache "${_home}/.cache/faceter")
  endif()
  set(_default "${_cache}/torch-2.11.0")
endif()
set(FACETER_TORCH_ROOT "${_default}" CACHE PATH "folder that holds the unpacked torch and nvidia wheels")
set(_lib "${FACETER_TORCH_ROOT}/torch/lib")
if(NOT EXISTS "${_lib}/libtorch_cpu.so")
  message(FATAL_ERROR "no libtorch in ${FACETER_TORCH_ROOT}: run packaging/setup.sh, or set FACETER_TORCH_ROOT to a folder "
    "with the unpacked torch 2.11.0 wheel")
endif()
add_library(faceter_torch INTERFACE)
add_library(faceter::torch ALIAS faceter_torch)
# The wheel carries the headers of a later fmt without its library; ours must be found before them.
find_package(fmt REQUIRED)
get_target_property(_fmt fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/system-fmt")
file(CREATE_LINK "${_fmt}/fmt" "${CMAKE_BINARY_DIR}/system-fmt/fmt" SYMBOLIC)
target_include_directories(faceter_torch SYSTEM INTERFACE "${CMAKE_BINARY_DIR}/system-fmt"
  "${FACETER_TORCH_ROOT}/torch/include" "${FACETER_TORCH_ROOT}/torch/include/torch/csrc/api/include")
target_compile_definitions(faceter_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=1)
target_compile_options(faceter_torch INTERFACE -fopenmp)
# libtorch_cpu finds its CUDA runtime through its own relative run path, the linker through -rpath-link. The wheel's own OpenMP
# runtime is the only one in the process: linking another one would start a second pool of threads.
target_link_libraries(faceter_torch INTERFACE "${_lib}/libtorch_cpu.so" "${_lib}/libc10.so" "${_lib}/libgomp.so.1")
target_link_options(faceter_torch INTERFACE
  "LINKER:-rpath,${_lib}" "LINKER:-rpath-link,${FACETER_TORCH_ROOT}/nvidia/cu13/lib" "LINKER:--disable-new-dtags")
