#!/usr/bin/env bash
# Builds everything and runs the tests. `--help` says more.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
. "$here/build.sh"

usage() {
    cat <<'TEXT'
usage: packaging/test.sh [--preset NAME] [--campaign] [CTEST ARGUMENT...]

Sets the machine up (packaging/setup.sh), builds everything, runs the tests in parallel and lists what was skipped and why.
Tests that compare with reference results need a folder that is not part of this repository (FACETER_SHARED, default: ../shared
beside the checkout); they are skipped, and listed, where it is absent.

  --preset NAME   release (default), debug, asan or tsan
  --campaign      the tests that take hours as well (label 'campaign')
  CTEST ARGUMENT  handed on, such as -R text (only tests whose name has "text") or -L fast
  --help          this text
TEXT
}

preset=release
selection=(-LE campaign)
while [ $# -gt 0 ]; do
    case $1 in
        --preset) preset=${2:?--preset needs a name}; shift 2 ;;
        --campaign) selection=(); shift ;;
        --help | -h) usage; exit 0 ;;
        *) break ;;
    esac
done

"$here/setup.sh" --tests
cd "$root"
build "$preset"

status=0
ctest --preset "$preset" --parallel "$(nproc)" --schedule-random "${selection[@]}" "$@" || status=$?

log=build/$preset/Testing/Temporary/LastTest.log
skipped=$(sed -n 's/^SKIP *: *\([^:]*::[^ ]*\) */\1  /p' "$log" 2>/dev/null | sort -u)
if [ -n "$skipped" ]; then
    printf '\nSkipped (%s):\n%s\n' "$(printf '%s\n' "$skipped" | wc -l)" "$(printf '%s\n' "$skipped" | sed 's/^/  /')"
else
    printf '\nNo test was skipped.\n'
fi
[ $status -eq 0 ] || printf 'Tests failed; the whole log: %s\n' "$root/$log" >&2
exit $status
