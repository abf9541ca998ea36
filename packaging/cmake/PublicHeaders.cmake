# experiment/public_headers.h, made by the build: FACETER_PUBLIC_HEADERS, a number of what core/public_headers.txt names, without remarks. It is
# a field of the build fingerprint, so that a plugin is refused whose headers had other members. `faceter_public_headers` makes it.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS core/public_headers.txt)
file(STRINGS core/public_headers.txt FACETER_PUBLIC_HEADERS REGEX "^[^#]")
set(FACETER_MADE_HEADERS ${CMAKE_BINARY_DIR}/made)
set(FACETER_PUBLIC_HEADERS_FILE ${FACETER_MADE_HEADERS}/experiment/public_headers.h)
list(TRANSFORM FACETER_PUBLIC_HEADERS PREPEND ${CMAKE_SOURCE_DIR}/core/ OUTPUT_VARIABLE headers)
add_custom_command(OUTPUT ${FACETER_PUBLIC_HEADERS_FILE}
  COMMAND ${CMAKE_COMMAND} -DCORE=${CMAKE_SOURCE_DIR}/core -DOUTPUT=${FACETER_PUBLIC_HEADERS_FILE}
    -P ${CMAKE_SOURCE_DIR}/packaging/cmake/write_public_headers.cmake
  DEPENDS ${headers} ${CMAKE_SOURCE_DIR}/core/public_headers.txt ${CMAKE_SOURCE_DIR}/packaging/cmake/write_public_headers.cmake
  VERBATIM COMMENT "Looking at the public headers")
add_custom_target(faceter_public_headers DEPENDS ${FACETER_PUBLIC_HEADERS_FILE})
