#!/usr/bin/env bash
# Fuzzes the readers of outside files (tests/fuzz) and records what was run. `--help` says more.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")

usage() {
    cat <<'TEXT'
usage: packaging/fuzz.sh [--executions N | --totals] [TARGET...]

Builds the preset fuzz (clang, libFuzzer, address and undefined behaviour sanitizers; packaging/setup.sh --fuzz brings the compiler) and
runs the targets of tests/fuzz one after the other, all of them where none is named:
  - from the seeds in tests/fuzz/corpus/TARGET, with the words of tests/fuzz/dictionaries/TARGET.dict where there are some
  - at most 10 s and 512 MiB an input; inputs of at most 64 KiB
  - new inputs that reach new code are minimised and stay in build/fuzz/found, where the next run goes on; the smallest become seeds
  - a line of what was run is appended to tests/fuzz/RECORD.md
An input that ends a target is kept in build/fuzz/crashes; it becomes a seed when the reader is mended.

  --executions N  of each target; 1000000 where it is left out
  --totals        only says how many executions each target has had, by RECORD.md
  --help          this text

Ends with 1 where a target crashed.
TEXT
}

say() { printf 'fuzz: %s\n' "$*"; }
die() { printf 'fuzz: %s\n' "$*" >&2; exit "${code:-5}"; }

executions=1000000
totals=no
targets=()
while [ $# -gt 0 ]; do
    case $1 in
        --executions) executions=${2:-}; shift 2 || { usage >&2; code=2 die "--executions needs a number"; } ;;
        --totals) totals=yes; shift ;;
        --help | -h) usage; exit 0 ;;
        -*) usage >&2; code=2 die "unknown argument '$1'" ;;
        *) targets+=("$1"); shift ;;
    esac
done
[[ $executions =~ ^[1-9][0-9]*$ ]] || { usage >&2; code=2 die "--executions is '$executions', not a number from 1"; }

cd "$root"
known=$(ls tests/fuzz/fuzz_*.cpp | sed 's|.*/fuzz_||; s|\.cpp$||')
[ ${#targets[@]} -gt 0 ] || mapfile -t targets <<<"$known"
for target in "${targets[@]}"; do
    grep -qx -- "$target" <<<"$known" || { code=2 die "no target '$target'; there are: ${known//$'\n'/ }"; }
done
if [ $totals = yes ]; then
    for target in "${targets[@]}"; do
        awk -F' *[|] *' -v target="$target" '$4 == target { sum += $5 } END { printf "%-20s %10d\n", target, sum }' tests/fuzz/RECORD.md
    done
    exit 0
fi
command -v clang++ >/dev/null || die "there is no clang++; packaging/setup.sh --fuzz installs it"

[ -e build/fuzz/build.ninja ] || cmake --preset fuzz >/dev/null
cmake --build build/fuzz --target "${targets[@]/#/fuzz_}"

record=tests/fuzz/RECORD.md
crashes=build/fuzz/crashes
found=build/fuzz/found
most_new=20        # seeds that one run may add to a target
largest_new=2048   # bytes of one
# In memory where that can be had: many targets write a file for each input, for which a disk makes it wait.
work=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$crashes"
machine="$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -1), $(nproc) processors"
commit=$(git rev-parse --short=10 HEAD)$([ -z "$(git status --porcelain -- core tests/fuzz ':!tests/fuzz/corpus' ":!$record")" ] || echo '+')
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0 TMPDIR=$work

# run TARGET: libFuzzer's own output goes to $work/TARGET.log; its new inputs to $found/TARGET.
run() {
    local options=(-runs="$executions" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=512 -max_len=65536 -print_final_stats=1
        -artifact_prefix="$crashes/$1-") words=tests/fuzz/dictionaries/$1.dict
    [ ! -e "$words" ] || options+=(-dict="$words")
    mkdir -p "$found/$1"
    build/fuzz/bin/fuzz_"$1" "${options[@]}" "$found/$1" tests/fuzz/corpus/"$1" >"$work/$1.log" 2>&1
}

# keep TARGET: the smallest inputs of the minimised corpus that are not seeds yet.
keep() {
    local seeds=tests/fuzz/corpus/$1 file kept=0
    mkdir -p "$work/$1.merged"
    cp "$seeds"/* "$work/$1.merged"
    build/fuzz/bin/fuzz_"$1" -merge=1 -timeout=10 -rss_limit_mb=2048 "$work/$1.merged" "$found/$1" >>"$work/$1.log" 2>&1 || return 0
    while read -r size file; do
        [ "$size" -le $largest_new ] && [ "$kept" -lt $most_new ] || break
        [ -e "$seeds/$(basename "$file")" ] || { cp "$file" "$seeds"; kept=$((kept + 1)); }
    done < <(find "$work/$1.merged" -type f -printf '%s %p\n' | sort -n)
    rm -rf "${found:?}/$1"
    mv "$work/$1.merged" "$found/$1"
    say "$1: $kept new seeds"
}

number() { sed -n "s/$1/\1/p" "$2" | tail -1; }

failed=0
for target in "${targets[@]}"; do
    say "$target: $executions executions"
    crashed=0
    run "$target" || crashed=1
    # A run that ends early does not print its last statistics; the last line of its progress says as much.
    executed=$(number '^stat::number_of_executed_units: *\([0-9]*\).*' "$work/$target.log")
    executed=${executed:-$(number '^#\([0-9]*\)[[:space:]].*' "$work/$target.log")}
    coverage=$(number '.* cov: \([0-9]*\) .*' "$work/$target.log")
    printf '| %s | %s | %s | %s | %s | %s | %s |\n' "$(date -u +%F)" "$commit" "$target" "${executed:-0}" "${coverage:-?}" "$crashed" "$machine" >>$record
    if [ $crashed -ne 0 ]; then
        failed=1
        say "$target ended early:"
        tail -25 "$work/$target.log" >&2
    fi
    keep "$target"
done
exit $failed
