# `cmake --install build/release --prefix DIR`: programs, the two libraries, plugins (faceter_plugin() installs those), headers, ready
# experiments, and a CMake package, so that find_package(faceter) and faceter_plugin() build a plugin outside of this repository.
function(faceter_install)
  foreach(program faceter faceter-worker faceter-desktop)
    if(TARGET ${program})
      install(TARGETS ${program} RUNTIME DESTINATION bin)
    endif()
  endforeach()
  install(TARGETS faceter-base faceter-learn LIBRARY DESTINATION lib)
  install(DIRECTORY core/ DESTINATION include/faceter FILES_MATCHING PATTERN "*.h")
  install(DIRECTORY experiments resources DESTINATION share/faceter PATTERN screenshots EXCLUDE)
  install(FILES LICENSE README.md CHANGELOG.md DESTINATION share/doc/faceter)

  include(CMakePackageConfigHelpers)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/faceterConfigVersion.cmake
    VERSION ${PROJECT_VERSION} COMPATIBILITY ExactVersion)
  install(FILES packaging/cmake/faceterConfig.cmake packaging/cmake/FaceterPlugin.cmake packaging/cmake/FindTorchWheel.cmake
    packaging/cmake/manifest_main.cpp packaging/cmake/plugin.map core/plugin/abi.cpp
    ${CMAKE_BINARY_DIR}/package/faceterConfigVersion.cmake DESTINATION lib/cmake/faceter)
endfunction()
