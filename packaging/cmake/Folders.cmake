# A folder of core/ is an OBJECT target; its sources are whatever *.cpp lies in it. The targets are merged into the shared libraries
# faceter-base (no Qt, no torch) and faceter-learn (torch). tests/layers checks every #include against the table in core/layers.txt.
function(faceter_folder NAME)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/${NAME}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_library(core_${NAME} OBJECT ${sources})
  target_include_directories(core_${NAME} PUBLIC ${CMAKE_SOURCE_DIR}/core)
  set_property(GLOBAL APPEND PROPERTY FACETER_FOLDERS_${ARGV1} core_${NAME})
endfunction()

# Under German numbers strtod("1.5") is 1: the fast tests of the torch-free part run once more there (the sources of locales are in the package of that name).
find_program(FACETER_LOCALEDEF localedef)
if(FACETER_TESTS AND FACETER_LOCALEDEF AND EXISTS /usr/share/i18n/locales/de_DE)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/locale/de_DE.UTF-8/LC_NUMERIC
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/locale
    COMMAND ${FACETER_LOCALEDEF} --no-archive -i de_DE -f UTF-8 ${CMAKE_BINARY_DIR}/locale/de_DE.UTF-8
    VERBATIM COMMENT "Making the German locale for the tests")
  add_custom_target(german_locale ALL DEPENDS ${CMAKE_BINARY_DIR}/locale/de_DE.UTF-8/LC_NUMERIC)
endif()

# One test executable for each folder of tests/. A file test_*.cpp is a fast test, slow_*.cpp a slow one, campaign_*.cpp one of hours
# (packaging/test.sh --campaign); each is one ctest entry, so that they run in parallel. Link libraries follow.
function(faceter_tests FOLDER)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${FOLDER}/*.cpp)
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" target "test_${FOLDER}")
  add_executable(${target} ${CMAKE_SOURCE_DIR}/tests/support/main.cpp ${sources})
  set_target_properties(${target} PROPERTIES AUTOMOC ON)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(${target} PRIVATE QT_NO_KEYWORDS
    FACETER_SOURCE_DIR="${CMAKE_SOURCE_DIR}" FACETER_BINARY_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(${target} PRIVATE Qt6::Test ${ARGN})
  if("faceter-learn" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM faceter_pch)
  endif()
  foreach(source ${sources})
    get_filename_component(stem ${source} NAME_WE)
    if(stem MATCHES "^(test|slow|campaign)_(.*)$")
      set(kind ${CMAKE_MATCH_1})
      set(name "${FOLDER}.${CMAKE_MATCH_2}")
      add_test(NAME ${name} COMMAND ${target} ${stem})
      if(kind STREQUAL "slow")
        set_tests_properties(${name} PROPERTIES LABELS slow TIMEOUT 1500)
      elseif(kind STREQUAL "campaign")
        set_tests_properties(${name} PROPERTIES LABELS campaign TIMEOUT 86400)
      else()
        set_tests_properties(${name} PROPERTIES LABELS fast TIMEOUT 300)
      endif()
      set_tests_properties(${name} PROPERTIES ENVIRONMENT "OMP_NUM_THREADS=2;LC_ALL=C.UTF-8" SKIP_REGULAR_EXPRESSION "ALL TESTS SKIPPED")
      if(kind STREQUAL "test" AND TARGET german_locale AND NOT FOLDER STREQUAL "layers" AND NOT "faceter-learn" IN_LIST ARGN)
        add_test(NAME ${name}.de_DE COMMAND ${target} ${stem})
        set_tests_properties(${name}.de_DE PROPERTIES LABELS fast TIMEOUT 300
          ENVIRONMENT "OMP_NUM_THREADS=2;LOCPATH=${CMAKE_BINARY_DIR}/locale;LC_ALL=de_DE.UTF-8")
      endif()
    endif()
  endforeach()
endfunction()

# `programs`: what a user runs, without the tests (packaging/quickstart.sh builds it). Plugins add themselves.
add_custom_target(programs)
function(faceter_collect_programs)
  foreach(program faceter faceter-worker faceter-desktop)
    if(TARGET ${program})
      add_dependencies(programs ${program})
    endif()
  endforeach()
endfunction()
cmake_language(DEFER CALL faceter_collect_programs)

set(FACETER_PLUGIN_VERSION ${PROJECT_VERSION})
set(FACETER_ABI_SOURCE ${CMAKE_SOURCE_DIR}/core/plugin/abi.cpp)
include(FaceterPlugin)
include(Install)
cmake_language(DEFER CALL faceter_install)
