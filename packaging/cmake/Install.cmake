# Components are the packages that Package.cmake makes: faceter, worker, desktop, dev.
# `cmake --install build/release --prefix DIR`: programs, the two libraries, plugins (faceter_plugin() installs those), public headers, ready
# experiments, and a CMake package, so that find_package(faceter) and faceter_plugin() build a plugin outside of this repository.
function(faceter_install)
  install(TARGETS faceter-base LIBRARY DESTINATION lib COMPONENT faceter)
  install(TARGETS faceter-learn LIBRARY DESTINATION lib COMPONENT worker)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS core/public_headers.txt)
  file(STRINGS core/public_headers.txt headers REGEX "^[^#]")
  foreach(header ${headers})
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES core/${header} DESTINATION include/faceter/${folder} COMPONENT dev)
  endforeach()
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
