# Sources of a folder are compiled eight at a time (tests four), which takes a third of the time: the headers of libtorch, Qt and JSON are
# read once for all of them. So local names of a folder differ. By themselves are compiled those that register themselves (a layout of data,
# a family of encoders, a type of task, a page), because a new one begins as a copy of another, and those named here, whose local names meet
# another's. FACETER_UNITY=OFF (preset debug) compiles all by themselves, so that a change of one compiles no other.
option(FACETER_UNITY "compile several sources of a folder at a time" ON)
set(FACETER_ALONE
  diagnose_data model_card rank_intervals settings_difference significance study study_curves study_report  # compare
  char_kinds tokenizer unigram model_folder module_members noise_rates recipe_settings trained_tasks sweep  # text, checkpoint, experiment
  table_json table_latex table_markdown table_text project run_names trash follow supervisor wilcoxon  # figure, record, launch, stats
  pair_file encoder cached_pairs set_mining abi peft_export  # data, model, train, eval, plugin
  version command_memory command_router example_values memory_need release_prompts session_server set_views example_texts
  compare_header form_group runs_layout group_text log_view pairs_view panel_board program_job route_view  # app
  slow_slurm slow_ssh test_stage_sources test_rank_intervals test_stars test_lone_parts test_unread_settings test_export_check
  test_peft_export test_take_over test_series test_store test_session test_result_names test_reference test_public_headers
  test_pretend_encoder test_pretend_loss test_pretend_memory test_pretend_ranks slow_live_worker test_compose_files
  test_launch_bar test_keyboard test_switching test_closing test_while_training)  # tests
list(JOIN FACETER_ALONE "|" FACETER_ALONE)
set(FACETER_ALONE "/((layout|backbone|source|debian_view|task)_.*|.*_page|${FACETER_ALONE})[.]cpp$")
function(faceter_unity TARGET SIZE)
  if(NOT FACETER_UNITY)
    return()
  endif()
  get_target_property(sources ${TARGET} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.]cpp$")
  list(FILTER sources EXCLUDE REGEX "${FACETER_ALONE}")
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    file(REAL_PATH "${folder}" folder)
    file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR group "${count_${folder}} / ${SIZE}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
  target_compile_options(${TARGET} PRIVATE -Wno-subobject-linkage)  # which GCC says where a source is not the first file
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# A folder of core/ is an OBJECT target; its sources are whatever *.cpp lies in it. The targets are merged into the shared libraries
# faceter-base (no Qt, no torch) and faceter-learn (torch). tests/layers checks every #include against the table in core/layers.txt.
function(faceter_folder NAME)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/${NAME}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_library(core_${NAME} OBJECT ${sources})
  target_include_directories(core_${NAME} PUBLIC ${CMAKE_SOURCE_DIR}/core)
  faceter_unity(core_${NAME} 8)
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

# How long ctest waits before it calls a test hung, in seconds: far beyond what a slow, busy machine takes. No test asserts a time.
set(FACETER_HANG_fast 1800)
set(FACETER_HANG_slow 5400)
set(FACETER_HANG_campaign 86400)

# What results must not depend on: instruction sets of the own kernels, of oneDNN and of ATen, the library that multiplies, and the number of
# threads. The fast tests of FACETER_PROCESSOR_FOLDERS run once more under each (packaging/test.sh --processors); under avx2 always.
set(FACETER_PROCESSOR_FOLDERS text model train eval mote token_routed_moe task_lora data_cube router_retriever)
set(FACETER_CAP_avx512 "FACETER_CPU=avx512;ATEN_CPU_CAPABILITY=avx512;ONEDNN_MAX_CPU_ISA=AVX512_CORE;OMP_NUM_THREADS=2")
set(FACETER_CAP_avx2 "FACETER_CPU=avx2;ATEN_CPU_CAPABILITY=avx2;ONEDNN_MAX_CPU_ISA=AVX2;OMP_NUM_THREADS=2")
set(FACETER_CAP_generic "FACETER_CPU=generic;ATEN_CPU_CAPABILITY=default;ONEDNN_MAX_CPU_ISA=SSE41;OMP_NUM_THREADS=2")
set(FACETER_CAP_mkl "FACETER_PRODUCTS=mkl;OMP_NUM_THREADS=2")
set(FACETER_CAP_onednn "FACETER_PRODUCTS=onednn;OMP_NUM_THREADS=2")
set(FACETER_CAP_1_thread "OMP_NUM_THREADS=1")
set(FACETER_CAP_7_threads "OMP_NUM_THREADS=7")
function(faceter_processor_tests FOLDER TARGET STEM NAME)
  if(NOT FOLDER IN_LIST FACETER_PROCESSOR_FOLDERS)
    return()
  endif()
  foreach(cap avx512 avx2 generic mkl onednn 1_thread 7_threads)
    set(label processors)
    if(cap STREQUAL "avx2")
      set(label "avx2;fast")
    endif()
    add_test(NAME ${NAME}.${cap} COMMAND ${TARGET} ${STEM})
    set_tests_properties(${NAME}.${cap} PROPERTIES LABELS "${label}" TIMEOUT ${FACETER_HANG_fast}
      ENVIRONMENT "${FACETER_CAP_${cap}};LC_ALL=C.UTF-8" SKIP_REGULAR_EXPRESSION "ALL TESTS SKIPPED")
  endforeach()
endfunction()

# moc without the folders of headers: it reads all that a source includes, 10 s of a test on libtorch, and makes the same file of it. What
# it makes of a test's headers is nearly always nothing, for which reading the precompiled ones takes 6 s.
function(faceter_moc_alone TARGET)
  set_target_properties(${TARGET} PROPERTIES AUTOMOC ON AUTOMOC_EXECUTABLE ${CMAKE_BINARY_DIR}/moc_alone)
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/${TARGET}_autogen/mocs_compilation.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# One test executable for each folder of tests/. A file test_*.cpp is a fast test, slow_*.cpp a slow one, campaign_*.cpp one of hours
# (packaging/test.sh --campaign); each is one ctest entry, so that they run in parallel. Link libraries follow.
function(faceter_tests FOLDER)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${FOLDER}/*.cpp)
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" target "test_${FOLDER}")
  add_executable(${target} ${sources} $<TARGET_OBJECTS:faceter_test_main>)
  faceter_moc_alone(${target})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests ${FACETER_CHECKOUT_HEADER})
  target_compile_definitions(${target} PRIVATE QT_NO_KEYWORDS)
  target_link_libraries(${target} PRIVATE Qt6::Test ${ARGN})
  # The tests' own precompiled headers hold for this one folder, the product's for what lies elsewhere.
  if(CMAKE_CURRENT_SOURCE_DIR STREQUAL "${CMAKE_SOURCE_DIR}/tests")
    target_compile_options(${target} PRIVATE -O1 -Wno-array-bounds -Wno-stringop-overflow)  # GCC 12 warns of the library's strings there
    if("faceter-learn" IN_LIST ARGN)
      target_precompile_headers(${target} REUSE_FROM faceter_torch_test_pch)
    else()
      target_precompile_headers(${target} REUSE_FROM faceter_test_pch)
    endif()
  elseif("faceter-learn" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM faceter_pch)
  endif()
  faceter_unity(${target} 4)
  foreach(source ${sources})
    get_filename_component(stem ${source} NAME_WE)
    if(stem MATCHES "^(test|slow|campaign)_(.*)$")
      set(kind ${CMAKE_MATCH_1})
      set(name "${FOLDER}.${CMAKE_MATCH_2}")
      add_test(NAME ${name} COMMAND ${target} ${stem})
      if(kind STREQUAL "slow")
        set_tests_properties(${name} PROPERTIES LABELS slow TIMEOUT ${FACETER_HANG_slow})
      elseif(kind STREQUAL "campaign")
        set_tests_properties(${name} PROPERTIES LABELS campaign TIMEOUT ${FACETER_HANG_campaign})
      else()
        set_tests_properties(${name} PROPERTIES LABELS fast TIMEOUT ${FACETER_HANG_fast})
      endif()
      set_tests_properties(${name} PROPERTIES ENVIRONMENT "OMP_NUM_THREADS=2;LC_ALL=C.UTF-8" SKIP_REGULAR_EXPRESSION "ALL TESTS SKIPPED")
      if(kind STREQUAL "test")
        faceter_processor_tests(${FOLDER} ${target} ${stem} ${name})
      endif()
      if(kind STREQUAL "test" AND TARGET german_locale AND NOT FOLDER STREQUAL "layers" AND NOT "faceter-learn" IN_LIST ARGN)
        add_test(NAME ${name}.de_DE COMMAND ${target} ${stem})
        set_tests_properties(${name}.de_DE PROPERTIES LABELS fast TIMEOUT ${FACETER_HANG_fast}
          ENVIRONMENT "OMP_NUM_THREADS=2;LOCPATH=${CMAKE_BINARY_DIR}/locale;LC_ALL=de_DE.UTF-8")
      endif()
    endif()
  endforeach()
endfunction()

# `programs`: what a user runs, without the tests (packaging/quickstart.sh builds it). Plugins add themselves.
add_custom_target(programs)
function(faceter_collect_programs)
  foreach(program faceter faceter-worker faceter-desktop faceter-pdf)
    if(TARGET ${program})
      add_dependencies(programs ${program})
    endif()
  endforeach()
  # Nothing links what is opened when it is needed; who builds the program that opens it installs it as well.
  foreach(module faceter-parquet faceter-nccl)
    if(TARGET ${module} AND TARGET faceter-worker)
      add_dependencies(faceter-worker ${module})
    endif()
  endforeach()
endfunction()
cmake_language(DEFER CALL faceter_collect_programs)

# A plugin whose folder is gone must not stay in the build's plugin folder.
function(faceter_remove_stale_plugins)
  get_property(plugins GLOBAL PROPERTY FACETER_PLUGINS)
  file(GLOB files ${CMAKE_BINARY_DIR}/lib/faceter/plugins/*)
  foreach(file ${files})
    get_filename_component(id "${file}" NAME_WE)
    if(NOT id IN_LIST plugins)
      file(REMOVE "${file}")
    endif()
  endforeach()
endfunction()
cmake_language(DEFER CALL faceter_remove_stale_plugins)

set(FACETER_PLUGIN_VERSION ${PROJECT_VERSION})
set(FACETER_ABI_SOURCE ${CMAKE_SOURCE_DIR}/core/plugin/abi.cpp)
include(FaceterPlugin)
include(Install)
cmake_language(DEFER CALL faceter_install)
