#!/usr/bin/env bash
# Builds everything and runs the tests. `--help` says more.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
. "$here/build.sh"

usage() {
    cat <<'TEXT'
usage: packaging/test.sh [--preset NAME] [--no-warnings] [--campaign | --processors | --sanitized] [CTEST ARGUMENT...]

Sets the machine up (packaging/setup.sh), builds everything, runs the tests in parallel and lists what was skipped and why. Sources in
another form than .clang-format asks for are named, and fail it (packaging/format.sh).
Tests that compare with reference results need a folder that is not part of this repository (FACETER_SHARED, default: ../shared
beside the checkout); they are skipped, and listed, where it is absent.

  --preset NAME   release (default), debug, asan or tsan
  --no-warnings   fail where the compiler warns of anything that it compiles now (other compilers and versions warn of other things)
  --campaign      the tests that take hours as well (label 'campaign'), 200 kills (FACETER_KILLS) in each test that kills what it runs, and
                  those that compare with other packages (setup.sh --peers), unless FACETER_PEERS names a Python that has them
  --processors    only the tests whose results must not depend on the processor, under each cap of instruction set, library of products
                  and number of threads (packaging/cmake/Folders.cmake lists them; those under avx2 run always)
  --sanitized     only the readers of files from outside, built by themselves with the address and undefined behaviour sanitizers, on the
                  seeds of tests/fuzz and changes of them (the preset asan has all tests, and takes hours)
  CTEST ARGUMENT  handed on, such as -R text (only tests whose name has "text") or -L fast
  --help          this text
TEXT
}

preset=release
with_peers=()
no_warnings=
selection=(-LE 'campaign|processors')
while [ $# -gt 0 ]; do
    case $1 in
        --preset) preset=${2:?--preset needs a name}; shift 2 ;;
        --no-warnings) no_warnings=1; shift ;;
        --campaign) selection=(); with_peers=(--peers); export FACETER_KILLS=${FACETER_KILLS:-200}; shift ;;
        --processors) selection=(-L 'processors|avx2'); shift ;;
        --sanitized) preset=readers; selection=(); shift ;;
        --help | -h) usage; exit 0 ;;
        *) break ;;
    esac
done

[ -z "${FACETER_PEERS:-}" ] || with_peers=()
"$here/setup.sh" --tests "${with_peers[@]}"
cache=${FACETER_CACHE:-${XDG_CACHE_HOME:+$XDG_CACHE_HOME/faceter}}
[ ${#with_peers[@]} -eq 0 ] || export FACETER_PEERS=${cache:-$HOME/.cache/faceter}/peers/bin/python
cd "$root"
unformatted=0
"$here/format.sh" --check || unformatted=1
built=$(mktemp)
trap 'rm -f "$built"' EXIT
build "$preset" | tee "$built"
# Not -Werror: ccache says a warning again where it has compiled the file before, and would compile all files again for another flag.
warnings=$(grep -E ':[0-9]+:[0-9]+: warning: ' "$built" | sort -u || true)

export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}  # several tests at a time, each with a thread a core: one that waits must not spin
jobs=$(($(nproc) + ($(nproc) + 1) / 2))             # half more than cores: many wait for processes and windows
status=0
ctest --preset "$preset" --parallel "$jobs" --schedule-random "${selection[@]}" "$@" || status=$?

log=build/$preset/Testing/Temporary/LastTest.log
skipped=$(sed -n 's/^SKIP *: *\([^:]*::[^ ]*\) */\1  /p' "$log" 2>/dev/null | sort -u)
if [ -n "$skipped" ]; then
    printf '\nSkipped (%s):\n%s\n' "$(printf '%s\n' "$skipped" | wc -l)" "$(printf '%s\n' "$skipped" | sed 's/^/  /')"
else
    printf '\nNo test was skipped.\n'
fi
if [ -n "$warnings" ] && [ -n "$no_warnings" ]; then
    printf '\nThe compiler warns, and --no-warnings was given:\n%s\n' "$warnings" >&2
    [ $status -ne 0 ] || exit 1
fi
[ $status -ne 0 ] || exit $unformatted
printf 'Tests failed; the whole log: %s\n' "$root/$log" >&2
failures "$log" >&2
exit $status
