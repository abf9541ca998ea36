# Sourced by quickstart.sh and test.sh: build PRESET [TARGET...], from the project's root.

# A source on libtorch takes up to 1.4 GiB to compile: no more at once than memory holds, however many cores there are.
build_jobs() {
    local cores memory_kib
    cores=$(nproc)
    memory_kib=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
    local fitting=$((${memory_kib:-0} / (1400 * 1024)))
    local jobs=$((fitting < cores ? fitting : cores))
    echo $((jobs > 0 ? jobs : 1))
}

build() {
    local preset=$1 log
    shift
    log=$(mktemp)
    cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; return 5; }
    rm -f "$log"
    cmake --build --preset "$preset" --parallel "$(build_jobs)" ${1:+--target "$@"}
}
