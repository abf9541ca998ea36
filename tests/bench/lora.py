#!/usr/bin/env python3
"""A LoRA step of a large encoder, `faceter run` and transformers with PEFT in turn: ratio of seconds a step, and of peak memory.

    tests/bench/lora.py --faceter build/release/bin/faceter --peers PEERS/bin/python --model MODEL --pairs PAIRS.jsonl [--compute bf16] [--rounds 3]

MODEL: a folder as make_qwen3_folder.py makes it. PAIRS.jsonl: {"query": ..., "document": ...} a line. Both embed the same pairs in the same order of sizes,
with adapters of rank 8 on every product; a process a round each, in turn, so that a machine that drifts slows both down."""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXPERIMENT = """name: lora
model: {model}
max_length: {length}
precision: {compute}
device: cpu
tasks:
  retrieval:
    temperature: 0.05
    train: [{{name: pairs, source: file, path: {pairs}}}]
variants:
  LoRA: {{method: task_lora, rank: 8, instructions: false, targets: [q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj]}}
objective: {{method: infonce}}
training: {{batch_size: {batch}, steps: {steps}, learning_rate: 1.0e-4, checkpoint_every_steps: 0, activation_checkpointing: {recompute}}}
evaluation: {{baseline: false, datasets: []}}
"""


def ours(o):
    """Seconds a step after two that warm up, and the memory that the worker reports, in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        experiment = pathlib.Path(folder) / "lora.yaml"
        experiment.write_text(EXPERIMENT.format(model=o.model, length=o.length, compute=o.compute, pairs=pathlib.Path(o.pairs).resolve(), batch=o.batch,
                                                steps=o.steps + 2, recompute="true" if o.recompute else "false"))
        done = subprocess.run([o.faceter, "run", experiment, "--project", folder], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        journal = next(pathlib.Path(folder).glob("runs/*/journal/*/rank-0.jsonl")).read_text()
        rates = [float(rate) for rate in re.findall(r'"pairs_per_s":([\d.e+-]+)', journal)]
        return statistics.median(o.batch / rate for rate in rates[2:]), 1024 * max(float(gib) for gib in re.findall(r'"memory_gib":([\d.e+-]+)', journal))


def theirs(o):
    done = subprocess.run([o.peers, HERE / "peer_lora.py", o.model, o.pairs, str(o.batch), str(o.length), str(o.steps), o.compute,
                           "recompute" if o.recompute else "plain"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-3000:])
    return float(re.search(r"([\d.]+) s a step", done.stdout)[1]), int(re.search(r"peak (\d+)", done.stdout)[1])


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return f"{middle:.2f} ({low:.2f} to {high:.2f}, {len(values)} rounds)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faceter", default="build/release/bin/faceter")
    parser.add_argument("--peers", required=True, help="Python with sentence-transformers and peft")
    parser.add_argument("--model", required=True)
    parser.add_argument("--pairs", required=True)
    parser.add_argument("--compute", choices=["float32", "bf16"], default="bf16")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--recompute", action="store_true", help="activation checkpointing on both sides")
    o = parser.parse_args()
    speed, memory = [], []
    for _ in range(o.rounds):
        (own_s, own_mib), (peer_s, peer_mib) = ours(o), theirs(o)
        speed.append(peer_s / own_s)
        memory.append(own_mib / peer_mib)
        print(f"ours {own_s:.2f} s a step, {own_mib:.0f} MiB; transformers and PEFT {peer_s:.2f} s, {peer_mib} MiB", flush=True)
    print(f"steps a second, ours over the peer's: {quartiles(speed)}; peak memory: {quartiles(memory)}")


main()
