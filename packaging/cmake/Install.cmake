# What is installed is built with the run path that it has there, which fits the build folder as well. CMake would make another as long with ':',
# and an empty element is the folder that one stands in: libraries that lie there were opened.
function(faceter_run_paths)
  foreach(target faceter faceter-worker faceter-desktop faceter-pdf faceter-base faceter-learn faceter-parquet faceter-nccl)
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
    endif()
  endforeach()
  foreach(module faceter-parquet faceter-nccl)
    if(TARGET ${module})
      set_target_properties(${module} PROPERTIES INSTALL_RPATH "$ORIGIN/..")
    endif()
  endforeach()
endfunction()

# Components are the packages that Package.cmake makes: faceter, worker, desktop, dev.
# `cmake --install build/release --prefix DIR`: programs, the two libraries, plugins (faceter_plugin() installs those), public headers, ready
# experiments, and a CMake package, so that find_package(faceter) and faceter_plugin() build a plugin outside of this repository.
function(faceter_install)
  faceter_run_paths()
  install(TARGETS faceter-base LIBRARY DESTINATION lib COMPONENT faceter)
  install(TARGETS faceter-learn LIBRARY DESTINATION lib COMPONENT worker)
  foreach(header ${FACETER_PUBLIC_HEADERS})
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES core/${header} DESTINATION include/faceter/${folder} COMPONENT dev)
  endforeach()
  install(FILES ${FACETER_PUBLIC_HEADERS_FILE} DESTINATION include/faceter/experiment COMPONENT dev)
  install(DIRECTORY experiments resources DESTINATION share/faceter COMPONENT faceter PATTERN screenshots EXCLUDE PATTERN resources/studies EXCLUDE PATTERN desktop EXCLUDE)
  # What `faceter setup` runs.
  install(PROGRAMS packaging/setup.sh DESTINATION share/faceter/packaging COMPONENT faceter)
  install(FILES packaging/unpack_wheel.py packaging/wheels.txt packaging/wheels-cuda.txt DESTINATION share/faceter/packaging COMPONENT faceter)
  install(FILES LICENSE README.md CHANGELOG.md DESTINATION share/doc/faceter COMPONENT faceter)

  include(CMakePackageConfigHelpers)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/faceterConfigVersion.cmake
    VERSION ${PROJECT_VERSION} COMPATIBILITY ExactVersion)
  install(FILES packaging/cmake/faceterConfig.cmake packaging/cmake/FaceterPlugin.cmake packaging/cmake/FindTorchWheel.cmake
    packaging/cmake/manifest_main.cpp packaging/cmake/plugin.map core/plugin/abi.cpp
    ${CMAKE_BINARY_DIR}/package/faceterConfigVersion.cmake DESTINATION lib/cmake/faceter COMPONENT dev)
endfunction()
