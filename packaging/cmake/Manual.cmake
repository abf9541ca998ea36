# HTML pages of the manual, in the build folder's share/doc/faceter/html: what `faceter manual` names. Without cmark-gfm the manual stays
# the Markdown of resources/manual; packages are not made without it.
find_program(FACETER_CMARK cmark-gfm)
find_program(FACETER_PYTHON python3)
if(NOT FACETER_CMARK OR NOT FACETER_PYTHON)
  message(STATUS "No HTML of the manual: it needs cmark-gfm and python3 (packaging/setup.sh installs them)")
  return()
endif()

set(manual_source ${CMAKE_SOURCE_DIR}/resources/manual)
set(manual_html ${CMAKE_BINARY_DIR}/share/doc/faceter/html)
file(GLOB_RECURSE manual_files CONFIGURE_DEPENDS ${manual_source}/*)
add_custom_command(OUTPUT ${manual_html}/index.html DEPENDS ${manual_files} ${CMAKE_SOURCE_DIR}/packaging/make_manual.py VERBATIM
  COMMENT "Making the manual's pages"
  COMMAND ${FACETER_PYTHON} ${CMAKE_SOURCE_DIR}/packaging/make_manual.py ${manual_source} ${manual_html})
add_custom_target(manual ALL DEPENDS ${manual_html}/index.html)
add_dependencies(faceter manual)
install(DIRECTORY ${manual_html}/ DESTINATION share/doc/faceter/html COMPONENT faceter)
