#!/usr/bin/env bash
# Formats the sources with clang-format. `--help` says more.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
usage: packaging/format.sh [--check]

Brings every C++ source and header into the form of .clang-format. Only clang-format 14 (Debian 12) does: other versions break lines elsewhere.

  --check  change nothing; name the files that are in another form, and end with 1 where there are any. Where there is no clang-format 14
           that is said, and nothing is wrong
  --help   this text
TEXT
}

check=
case ${1:-} in
    --check) check=1 ;;
    --help | -h) usage; exit 0 ;;
    '') ;;
    *) usage >&2; exit 2 ;;
esac

program=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$program" ] || ! "$program" --version | grep -q 'version 14\.'; then
    echo 'format: there is no clang-format 14 here; nothing was looked at'
    [ -n "$check" ] || exit 5
    exit 0
fi
# Templates of plugins hold places for names, which are no C++. A checkout knows its files, new ones among them; elsewhere those of its
# folders are taken.
mapfile -d '' -t files < <(git ls-files -z --cached --others --exclude-standard '*.cpp' '*.h' 2>/dev/null || find app core plugins tests \( -name '*.cpp' -o -name '*.h' \) -print0)
sources=()
for file in "${files[@]}"; do
    case $file in resources/* | build/*) ;; *) [ ! -e "$file" ] || sources+=("$file") ;; esac
done
if [ -z "$check" ]; then
    printf '%s\0' "${sources[@]}" | xargs -0 -n 50 -P "$(nproc)" "$program" -i
    exit 0
fi
wrong=$(printf '%s\0' "${sources[@]}" | xargs -0 -n 50 -P "$(nproc)" "$program" --dry-run 2>&1 | sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: warning: .*/\1/p' | sort -u)
[ -n "$wrong" ] || exit 0
printf '\nIn another form than .clang-format asks for (packaging/format.sh mends it):\n%s\n' "$(sed 's/^/  /' <<<"$wrong")" >&2
exit 1
