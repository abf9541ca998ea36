# Sourced by the other scripts: build PRESET [TARGET...], from the project's root; failures; packing_arguments.

# A source on libtorch takes up to 1.4 GiB to compile: no more at once than memory holds, however many cores there are.
build_jobs() {
    local cores memory_kib
    cores=$(nproc)
    memory_kib=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
    local fitting=$((${memory_kib:-0} / (1400 * 1024)))
    local jobs=$((fitting < cores ? fitting : cores))
    echo $((jobs > 0 ? jobs : 1))
}

# The compiler's lines as one that says how far it is; a line every tenth where there is no terminal. Warnings stay as they are.
build_progress() {
    local line done all tenth=0
    while IFS= read -r line; do
        [[ $line != *': warning: '* ]] || printf '%s\n' "$line"
        [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
        done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
        if [ -t 1 ]; then
            printf '\r  %s of %s' "$done" "$all"
        elif [ $((10 * done / all)) -gt "$tenth" ]; then
            tenth=$((10 * done / all))
            printf '  %s of %s\n' "$done" "$all"
        fi
    done
    [ ! -t 1 ] || [ -z "${all:-}" ] || printf '\n'
}

# build PRESET [TARGET...]: what a compiler says is shown where it fails.
build() {
    local preset=$1 log failed=0
    shift
    log=$(mktemp)
    cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; return 5; }
    cmake --build --preset "$preset" --parallel "$(build_jobs)" ${1:+--target "$@"} 2>&1 | tee "$log" | build_progress || failed=${PIPESTATUS[0]}
    [ "$failed" = 0 ] || sed -n '/^FAILED/,$p' "$log" | head -100 >&2
    rm -f "$log"
    return "$failed"
}

# failures LOG: what failed in a log of ctest, each with the line behind it, which says where or why; few enough for the end of CI's log.
failures() {
    grep -a -A 1 --no-group-separator -E 'FAIL!|QFATAL|terminate called|what\(\):' "$1" 2>/dev/null | sed -n '1,60p' || true
}

# packing_arguments "$@": [--build DIR] and where to, of the scripts that pack; sets build_folder and target. They have usage and die.
packing_arguments() {
    build_folder= target=
    while [ $# -gt 0 ]; do
        case $1 in
            --build) build_folder=${2:?--build needs a folder}; shift 2 ;;
            --help | -h) usage; exit 0 ;;
            -*) usage >&2; code=2 die "unknown argument '$1'" ;;
            *) target=$1; shift ;;
        esac
    done
}
