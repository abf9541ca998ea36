# faceter_plugin(ID SOURCES file...) builds the plugin ID from a folder that holds
#   settings.cpp   defines `faceter::Manifest faceter::plugin_manifest()`: name, summary, settings; faceter-base only (no torch)
#   SOURCES        everything else; faceter-learn and torch
# into lib/faceter/plugins/ID.so and, by running a small generator on settings.cpp, lib/faceter/plugins/ID.json.
# Works inside this repository and, through find_package(faceter), outside of it.
#
# The generator links faceter-base alone, so that a manifest can be written where libtorch does not load. The build fingerprint
# has one source, core/plugin/abi.cpp, compiled into faceter-learn and into the generator (it takes only macros from torch).
set(FACETER_PLUGIN_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})

# Compiled once for all plugins of a build: main() and build_fingerprint().
function(faceter_manifest_main)
  if(TARGET faceter_manifest_main)
    return()
  endif()
  add_library(faceter_manifest_main OBJECT ${FACETER_PLUGIN_CMAKE_DIR}/manifest_main.cpp ${FACETER_ABI_SOURCE})
  target_link_libraries(faceter_manifest_main PUBLIC faceter-base)
  target_include_directories(faceter_manifest_main SYSTEM PRIVATE $<TARGET_PROPERTY:faceter_torch,INTERFACE_INCLUDE_DIRECTORIES>)
  target_include_directories(faceter_manifest_main PRIVATE ${FACETER_MADE_HEADERS})
  target_compile_definitions(faceter_manifest_main PRIVATE FACETER_VERSION="${FACETER_PLUGIN_VERSION}"
    $<TARGET_PROPERTY:faceter_torch,INTERFACE_COMPILE_DEFINITIONS>)
  if(TARGET faceter_public_headers)
    add_dependencies(faceter_manifest_main faceter_public_headers)
  endif()
endfunction()

function(faceter_plugin ID)
  cmake_parse_arguments(PARSE_ARGV 1 plugin "" "" "SOURCES")
  if(NOT ID MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "faceter_plugin: the id '${ID}' is not lower_case_letters_and_digits")
  endif()
  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/settings.cpp OR NOT plugin_SOURCES)
    message(FATAL_ERROR "faceter_plugin(${ID}): needs ${CMAKE_CURRENT_SOURCE_DIR}/settings.cpp and SOURCES")
  endif()
  list(REMOVE_ITEM plugin_SOURCES settings.cpp ${CMAKE_CURRENT_SOURCE_DIR}/settings.cpp)
  set(folder ${CMAKE_BINARY_DIR}/lib/faceter/plugins)

  # The settings see base only; the same object goes into the plugin and into the generator.
  add_library(plugin_${ID}_settings OBJECT settings.cpp)
  set_target_properties(plugin_${ID}_settings PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(plugin_${ID}_settings PUBLIC faceter-base)
  target_compile_definitions(plugin_${ID}_settings PRIVATE FACETER_VERSION="${FACETER_PLUGIN_VERSION}")

  # Everything is hidden but the entry (FACETER_PLUGIN_EXPORT), so that two plugins may name their classes alike. All symbols are
  # bound at load, where a mismatch can still be reported, and the library stays until the end of the process.
  add_library(plugin_${ID} MODULE ${plugin_SOURCES} $<TARGET_OBJECTS:plugin_${ID}_settings>)
  target_link_libraries(plugin_${ID} PRIVATE faceter-learn)
  target_include_directories(plugin_${ID} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${FACETER_MADE_HEADERS})
  target_compile_definitions(plugin_${ID} PRIVATE FACETER_VERSION="${FACETER_PLUGIN_VERSION}")
  target_link_options(plugin_${ID} PRIVATE LINKER:-z,now LINKER:-z,nodelete
    LINKER:--version-script=${FACETER_PLUGIN_CMAKE_DIR}/plugin.map)
  set_target_properties(plugin_${ID} PROPERTIES OUTPUT_NAME ${ID} PREFIX "" SUFFIX ".so" LIBRARY_OUTPUT_DIRECTORY ${folder}
    LINK_DEPENDS ${FACETER_PLUGIN_CMAKE_DIR}/plugin.map INSTALL_RPATH "$ORIGIN/../.."
    BUILD_WITH_INSTALL_RPATH ON)
  if(TARGET faceter_public_headers)
    add_dependencies(plugin_${ID} faceter_public_headers)
  endif()
  if(TARGET faceter_pch)
    target_precompile_headers(plugin_${ID} REUSE_FROM faceter_pch)
  endif()

  faceter_manifest_main()
  add_executable(plugin_${ID}_manifest $<TARGET_OBJECTS:faceter_manifest_main> $<TARGET_OBJECTS:plugin_${ID}_settings>)
  set_target_properties(plugin_${ID}_manifest PROPERTIES LINKER_LANGUAGE CXX
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/manifest)
  target_link_libraries(plugin_${ID}_manifest PRIVATE faceter-base)
  add_custom_command(OUTPUT ${folder}/${ID}.json
    COMMAND plugin_${ID}_manifest ${ID} ${folder}/${ID}.json
    DEPENDS plugin_${ID}_manifest VERBATIM COMMENT "Writing the manifest of plugin ${ID}")
  add_custom_target(plugin_${ID}_json ALL DEPENDS ${folder}/${ID}.json)
  add_dependencies(plugin_${ID} plugin_${ID}_json)
  set_property(GLOBAL APPEND PROPERTY FACETER_PLUGINS ${ID})
  if(TARGET programs)
    add_dependencies(programs plugin_${ID})
  endif()

  install(TARGETS plugin_${ID} LIBRARY DESTINATION lib/faceter/plugins COMPONENT worker)
  install(FILES ${folder}/${ID}.json DESTINATION lib/faceter/plugins COMPONENT worker)
endfunction()
