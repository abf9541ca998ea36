# find_package(faceter) for plugins that are built out of tree: the targets faceter-base and faceter-learn and the function
# faceter_plugin() (FaceterPlugin.cmake). libtorch is found where packaging/setup.sh put it, or in FACETER_TORCH_ROOT.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(fmt)
find_dependency(nlohmann_json)
get_filename_component(faceter_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET faceter-base)
  include(${CMAKE_CURRENT_LIST_DIR}/FindTorchWheel.cmake)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  foreach(library base learn)
    add_library(faceter-${library} SHARED IMPORTED GLOBAL)
    set_target_properties(faceter-${library} PROPERTIES
      IMPORTED_LOCATION "${faceter_PREFIX}/lib/libfaceter-${library}.so"
      IMPORTED_NO_SONAME OFF
      IMPORTED_SONAME libfaceter-${library}.so
      INTERFACE_INCLUDE_DIRECTORIES "${faceter_PREFIX}/include/faceter"
      INTERFACE_COMPILE_FEATURES cxx_std_20)
  endforeach()
  set_property(TARGET faceter-base PROPERTY INTERFACE_LINK_LIBRARIES nlohmann_json::nlohmann_json fmt::fmt Threads::Threads)
  set_property(TARGET faceter-learn PROPERTY INTERFACE_LINK_LIBRARIES faceter-base faceter::torch)
endif()
# The command line, for tests of plugins: the Debian packages' programs are started by a launcher that finds libtorch.
set(FACETER_PROGRAM ${faceter_PREFIX}/bin/faceter)
if(EXISTS ${faceter_PREFIX}/launch)
  set(FACETER_PROGRAM /usr/bin/faceter)
endif()
set(FACETER_PLUGIN_VERSION ${faceter_VERSION})
set(FACETER_ABI_SOURCE ${CMAKE_CURRENT_LIST_DIR}/abi.cpp)
include(${CMAKE_CURRENT_LIST_DIR}/FaceterPlugin.cmake)
