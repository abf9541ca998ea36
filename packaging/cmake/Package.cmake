# `cpack` in a build folder (packaging/package.sh calls it): faceter, faceter-worker, faceter-desktop and faceter-dev as .deb files. Everything
# lies under /usr/lib/faceter as `cmake --install` lays it out; stage_package.cmake adds what belongs under /usr/bin and /usr/share.
# libtorch is not inside: `faceter setup` fetches it into the user's cache, and the launcher finds it there or in a Python environment.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME faceter)
set(CPACK_PACKAGE_VENDOR Faceter)
set(CPACK_PACKAGE_CONTACT "Faceter developers <faceter@localhost>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # the first line of each component's description is its synopsis; CPack indents the others
set(CPACK_PACKAGING_INSTALL_PREFIX /usr/lib/faceter)
set(CPACK_COMPONENTS_ALL faceter worker desktop dev)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/packaging/cmake/stage_package.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib ${FACETER_TORCH_ROOT}/torch/lib ${FACETER_ARROW_ROOT}/pyarrow)

set(CPACK_DEBIAN_FACETER_PACKAGE_NAME faceter)
set(CPACK_DEBIAN_FACETER_PACKAGE_SECTION science)
# setup.sh, which `faceter setup` runs, fetches wheels with pip and unpacks them with Python.
set(CPACK_DEBIAN_FACETER_PACKAGE_DEPENDS "python3, python3-pip, ca-certificates, libcurl4, libarchive13")
set(CPACK_DEBIAN_FACETER_PACKAGE_RECOMMENDS "faceter-worker (= ${PROJECT_VERSION}-1)")
set(CPACK_DEBIAN_FACETER_PACKAGE_SUGGESTS "faceter-desktop")
set(CPACK_COMPONENT_FACETER_DESCRIPTION "workbench for task-specialised text embeddings: command line
Composes, starts and compares experiments with embedding models that are
specialised by task: instructions, mixtures of task experts, low-rank gates,
curricula over tasks. This package holds the command line and experiments.")
set(CPACK_DEBIAN_WORKER_PACKAGE_NAME faceter-worker)
set(CPACK_DEBIAN_WORKER_PACKAGE_SECTION science)
set(CPACK_DEBIAN_WORKER_PACKAGE_DEPENDS "faceter (= ${PROJECT_VERSION}-1)")
set(CPACK_COMPONENT_WORKER_DESCRIPTION "workbench for task-specialised text embeddings: training and plugins
Trains, scores, embeds and serves. libtorch is not part of it: `faceter setup`
fetches it into the user's cache, or a Python environment's is taken.")
set(CPACK_DEBIAN_DESKTOP_PACKAGE_NAME faceter-desktop)
set(CPACK_DEBIAN_DESKTOP_PACKAGE_SECTION science)
set(CPACK_DEBIAN_DESKTOP_PACKAGE_DEPENDS "faceter-worker (= ${PROJECT_VERSION}-1), qt6-qpa-plugins")
set(CPACK_COMPONENT_DESKTOP_DESCRIPTION "workbench for task-specialised text embeddings: desktop
Sets experiments up, watches their runs, and compares them.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME faceter-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "faceter-worker (= ${PROJECT_VERSION}-1), cmake, ninja-build | make, g++, nlohmann-json3-dev, libfmt-dev")
set(CPACK_COMPONENT_DEV_DESCRIPTION "workbench for task-specialised text embeddings: headers for plugins
Headers and a CMake package (CMAKE_PREFIX_PATH=/usr/lib/faceter) to build
plugins with.")
include(CPack)
foreach(component faceter worker desktop dev)
  cpack_add_component(${component})
endforeach()
