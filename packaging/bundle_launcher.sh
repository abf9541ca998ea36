#!/bin/sh
# Starts the program of this script's name with a torch of this machine:
#   faceter --torch DIR ...    DIR is a Python environment (venv, conda) or the torch folder in it
#   FACETER_TORCH=DIR faceter ...
#   faceter ...                the one that `faceter setup` fetched, else the one that python3 finds, where it is one that fits
# What needs none (the command line and the desktop, until they start a run) starts without.
set -eu
here=$(dirname "$(readlink -f "$0")")
program=$(basename "$0")
die() { echo "$program: $*" >&2; exit 5; }

if [ "${1:-}" = --torch ]; then
    [ $# -ge 2 ] || die "--torch needs the folder of a Python environment that has torch 2.11"
    FACETER_TORCH=$2
    shift 2
fi

cache=${FACETER_CACHE:-${XDG_CACHE_HOME:+$XDG_CACHE_HOME/faceter}}
cache=${cache:-${HOME:-$(getent passwd "$(id -u)" 2>/dev/null | cut -d: -f6)}/.cache/faceter}

find_torch() {
    for folder in "$1" "$1/torch" "$1"/lib/python3*/site-packages/torch "$1"/lib64/python3*/site-packages/torch; do
        if [ -e "$folder/lib/libtorch_cpu.so" ]; then
            (cd "$folder" && pwd)
            return
        fi
    done
}
nobody_named_it=
if [ -n "${FACETER_TORCH:-}" ]; then
    torch=$(find_torch "$FACETER_TORCH")
    [ -n "$torch" ] || die "there is no torch under $FACETER_TORCH; give the Python environment that has it, or its torch folder"
elif [ -e "$cache/torch-2.11.0/torch/lib/libtorch_cpu.so" ]; then
    torch=$cache/torch-2.11.0/torch
else
    # A folder "torch" that one stands in is none.
    torch=$(python3 -c 'import sys, importlib.util as u; sys.path = [p for p in sys.path if p]; s = u.find_spec("torch"); print(s.submodule_search_locations[0] if s else "")' 2>/dev/null || true)
    nobody_named_it=yes
fi
# Before anything of it is opened: is it whole, and of the version and the C++ ABI that Faceter was compiled for?
what_is_wrong() {
    if [ ! -e "$torch/lib/libtorch_cpu.so" ]; then
        echo "$torch has no lib/libtorch_cpu.so; it is no whole torch wheel"
        return
    fi
    version=$(sed -n "s/^__version__ = '\([^']*\)'.*/\1/p" "$torch/version.py" 2>/dev/null || true)
    case $version in
        2.11.*) grep -q __cxx11 "$torch/lib/libc10.so" || echo "$torch was built with the old C++ ABI; take torch 2.11 from the Python package index" ;;
        *) echo "$torch is torch ${version:-of an unknown version}; Faceter needs 2.11 (pip install 'torch==2.11.*')" ;;
    esac
}
wrong=
if [ -n "$torch" ]; then wrong=$(what_is_wrong); fi
if [ -n "$wrong" ]; then
    [ -n "$nobody_named_it" ] || die "$wrong"
    # One that python3 has for other things is passed over, so that `faceter setup` can fetch the right one.
    torch=
fi
[ -n "$torch" ] || [ "$program" != faceter-worker ] ||
    die "no torch${wrong:+ that fits ($wrong)}: 'faceter setup' fetches one; or say where one is: faceter --torch DIR (or FACETER_TORCH=DIR)"
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2)
floor=$(cat "$here/lib/glibc-floor" 2>/dev/null || true)
if [ -n "$glibc" ] && [ -n "$floor" ] && [ "$(printf '%s\n%s\n' "$floor" "$glibc" | sort -V | head -1)" != "$floor" ]; then
    die "this machine has glibc $glibc, the bundle needs $floor; run it in a container of Debian 12, Ubuntu 22.10 or newer"
fi

# The newer of the two C++ libraries: the bundle's, or the machine's, which its torch may have been made for.
newest() { grep -aoE 'GLIBCXX_3\.4\.[0-9]+' "$1" 2>/dev/null | sort -uV | tail -1; }
libraries=$here/lib${torch:+:$torch/lib}
arrow=$cache/pyarrow-26.0.1/pyarrow  # what `faceter setup --parquet` fetched
if [ -d "$arrow" ]; then libraries=$libraries:$arrow; fi
# of_this_machine NAME: its own library of that name, if it has one.
of_this_machine() {
    for file in $(ldconfig -p 2>/dev/null | sed -n "s/.*$1 (libc6,x86-64.*=> //p") "/usr/lib64/$1" "/usr/lib/x86_64-linux-gnu/$1"; do
        if [ -e "$file" ]; then
            echo "$file"
            return
        fi
    done
}
own=$(newest "$here/lib/stdcxx/libstdc++.so.6" || true)
sites=$(newest "$(of_this_machine libstdc++.so.6)" || true)
[ -n "$own" ] && [ "$(printf '%s\n%s\n' "$own" "$sites" | sort -V | tail -1)" = "$own" ] && libraries=$here/lib/stdcxx:$libraries
# The machine's own libssl, and every program that is started from here, may need more than the bundle's libcrypto has.
[ -n "$(of_this_machine libcrypto.so.3)" ] || libraries=$libraries:$here/lib/crypto

export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
worker=$(cd "$(dirname "$0")" && pwd)/faceter-worker
if [ -n "$torch" ]; then
    export FACETER_TORCH="$torch"
elif [ -z "${FACETER_WORKER:-}" ] && [ -e "$worker" ]; then
    export FACETER_WORKER="$worker"  # through this script: it says what is missing, or finds what was fetched meanwhile
fi
exec "$here/bin/$program" "$@"
