# cmake -DSOURCE=DIR -DOUTPUT=FILE.cpp -P write_commit.cmake: the commit that the checkout SOURCE is at, as a source file that is written only
# where it changes. Empty without git, and where SOURCE is no checkout of its own (a release's archive inside another project's, too).
set(commit "")
find_program(git git)
if(git AND EXISTS "${SOURCE}/.git")
  execute_process(COMMAND ${git} --no-optional-locks -C "${SOURCE}" describe --always --abbrev=12 --dirty --exclude=*
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
#include "common/build_commit.h"

const char* const faceter::build_commit = "@commit@";
]])
