#!/usr/bin/env python3
"""Two processes on two cores against one process on one: the same batches, in turn. quality.md asks for 92 %.

    python3 tests/bench/scaling.py build/release/bin/faceter PAIRS.jsonl [MODEL [BATCH [LENGTH [STEPS]]]]

PAIRS.jsonl: {"query": ..., "document": ...} a line. Efficiency is the median step of one over twice the median step of two.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

EXPERIMENT = """name: scaling
model: {model}
max_length: {length}
threads: {processes}
precision: float32
device: cpu
tasks:
  retrieval:
    instructions: {{query: "search query: ", document: "search document: "}}
    train: [{{name: pairs, source: file, path: {pairs}}}]
variants:
  IC: {{method: instruction}}
training: {{batch_size: {batch}, steps: {steps}, checkpoint_every_steps: 0}}
evaluation: {{baseline: false, datasets: []}}
"""


def step_seconds(faceter, settings, processes):
    with tempfile.TemporaryDirectory() as folder:
        experiment = pathlib.Path(folder) / "scaling.yaml"
        experiment.write_text(EXPERIMENT.format(processes=processes, **settings))
        subprocess.run([faceter, "run", experiment, "--project", folder, "--devices", str(processes)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        journal = next(pathlib.Path(folder).glob("runs/*/journal/*/rank-0.jsonl"))
        times = []
        for line in journal.read_text().splitlines():
            event = json.loads(line[line.index("{"):])
            if "pairs_per_s" in event:
                times.append(event["pairs"] / event["pairs_per_s"])
    return times[2:]   # the first steps warm up


def main():
    faceter, pairs, *rest = sys.argv[1:]
    model, batch, length, steps = (rest + ["minilm", "64", "128", "14"][len(rest):])[:4]
    settings = {"model": model, "pairs": str(pathlib.Path(pairs).resolve()), "batch": batch, "length": length, "steps": steps}
    ratios = []
    for round_number in range(3):
        one, two = (statistics.median(step_seconds(faceter, settings, n)) for n in (1, 2))
        ratios.append(one / (2 * two))
        print(f"round {round_number + 1}: one process {one:.3f} s a step, two {two:.3f} s, efficiency {100 * ratios[-1]:.1f} %", flush=True)
    print(f"efficiency {100 * statistics.median(ratios):.1f} % ({100 * min(ratios):.1f} to {100 * max(ratios):.1f})")


main()
