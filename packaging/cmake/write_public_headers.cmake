# cmake -DCORE=DIR -DOUTPUT=FILE.h -P write_public_headers.cmake: the number of DIR's public headers, as a header that is written only where it
# changes. Remarks and empty lines do not count.
file(STRINGS "${CORE}/public_headers.txt" headers REGEX "^[^#]")
set(all "")
foreach(header ${headers})
  file(READ "${CORE}/${header}" text)
  string(REGEX REPLACE "[ \t]*//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "\n\n+" "\n" text "\n${text}")
  string(SHA256 number "${text}")
  string(APPEND all "${header} ${number}\n")
endforeach()
string(SHA256 number "${all}")
string(SUBSTRING ${number} 0 16 number)
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
#pragma once
#define FACETER_PUBLIC_HEADERS "@number@"
]])
