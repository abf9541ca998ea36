# `cmake --install build/release --prefix DIR`: programs, the two libraries, plugins (faceter_plugin() installs those), headers, ready
# experiments, and a CMake package, so that find_package(faceter) and faceter_plugin() build a plugin outside of this repository.
function(faceter_install)
  install(TARGETS faceter-base faceter-learn LIBRARY DESTINATION lib COMPONENT worker)
  install(DIRECTORY core/ DESTINATION include/faceter FILES_MATCHING PATTERN "*.h")
  install(DIRECTORY experiments resources DESTINATION share/faceter COMPONENT worker PATTERN screenshots EXCLUDE)
  install(FILES LICENSE README.md CHANGELOG.md DESTINATION share/doc/faceter COMPONENT worker)

  include(CMakePackageConfigHelpers)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/faceterConfigVersion.cmake
    VERSION ${PROJECT_VERSION} COMPATIBILITY ExactVersion)
  install(FILES packaging/cmake/faceterConfig.cmake packaging/cmake/FaceterPlugin.cmake packaging/cmake/FindTorchWheel.cmake
    packaging/cmake/manifest_main.cpp packaging/cmake/plugin.map core/plugin/abi.cpp
    ${CMAKE_BINARY_DIR}/package/faceterConfigVersion.cmake DESTINATION lib/cmake/faceter)
endfunction()
