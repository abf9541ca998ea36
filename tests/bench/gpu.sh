#!/usr/bin/env bash
# Everything that a machine with GPUs can say of Faceter, in one command. `--help` says more.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

usage() {
    cat <<'TEXT'
usage: tests/bench/gpu.sh [--build DIR] [--model MODEL] [--pretend] [OPTION OF gpu.py...]

Looks at the machine (faceter doctor), runs the tests with the label gpu where they are built, then trains IC, MoTE and TLR in bfloat16 on 1, 2, 4 and 8 GPUs as far as there are so many, and embeds; where
FACETER_PEERS names a Python with PyTorch and sentence-transformers (packaging/setup.sh --peers), these do the same on one GPU: plain PyTorch over texts end to end (varlen_attn) and SentenceTransformerTrainer; prints one
table. Example, for whoever has GPUs:  packaging/setup.sh --cuda && cmake --build --preset release --target programs test_gpu && tests/bench/gpu.sh

  --build DIR    a build (default: build/release)
  --model MODEL  a model's folder or name (default: google-bert/bert-base-uncased)
  --pretend      on the tests' pretend devices, tiny: shows that all of it runs, its times mean nothing
  --help         this text
TEXT
}

build=$root/build/release
arguments=()
pretend=
while [ $# -gt 0 ]; do
    case $1 in
        --build) build=${2:?--build needs a folder}; shift 2 ;;
        --pretend) pretend=1; shift ;;
        --help | -h) usage; exit 0 ;;
        *) arguments+=("$1"); shift ;;
    esac
done

"$build/bin/faceter" doctor
preload=
[ -z "$pretend" ] || preload=$build/lib/libfaceter-pretend.so
if [ -x "$build/bin/test_gpu" ]; then
    LD_PRELOAD=$preload "$build/bin/test_gpu" test_gpu
else
    echo "gpu.sh: the tests of devices are not built, and are left out: cmake --build $build --target test_gpu" >&2
fi
if [ -n "$pretend" ]; then
    devices=1,2
    set -- --preload "$preload" --batch 8 --length 32 --steps 8 --texts 50
else
    count=$(nvidia-smi --list-gpus | wc -l)
    devices=$(for n in 1 2 4 8; do [ "$n" -gt "$count" ] || echo "$n"; done | paste -sd,)
    set --
fi
[ -z "${FACETER_PEERS:-}" ] || set -- --peers "$FACETER_PEERS" "$@"
exec python3 "$root/tests/bench/gpu.py" --build "$build" --devices "$devices" "$@" "${arguments[@]}"
