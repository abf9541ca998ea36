#!/usr/bin/env python3
"""Two processes on two cores against one process on one: the same batches, a step of each in turn; 92 % is asked for.

    python3 tests/bench/scaling.py build/release/bin/faceter PAIRS.jsonl [MODEL [BATCH [LENGTH [ROUNDS]]]]

PAIRS.jsonl: {"query": ..., "document": ...} a line. Both runs live at the same time, and one is stopped (SIGSTOP) while the other does a step, so that a
machine whose speed drifts from minute to minute slows both down. Efficiency is a step of one over twice the step of two, the median over rounds. What the
machine itself gives is measured the same way: two runs of half the batch each, which know nothing of one another.
"""
import contextlib
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

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
training: {{batch_size: {batch}, steps: 100000, checkpoint_every_steps: 0}}
evaluation: {{baseline: false, datasets: []}}
"""
POLL_S = 0.02   # seldom enough to cost the second core nothing, often enough for steps of seconds


class Run:
    """`faceter run` with some processes, which can be stopped and do a step at a time."""

    def __init__(self, faceter, settings, processes):
        self.folder = tempfile.mkdtemp(prefix="scaling")
        experiment = pathlib.Path(self.folder) / "scaling.yaml"
        experiment.write_text(EXPERIMENT.format(processes=processes, **settings))
        self.said = open(self.folder + "/said", "w+")
        self.command = subprocess.Popen([faceter, "run", experiment, "--project", self.folder, "--devices", str(processes)], stdout=self.said, stderr=self.said)
        self.steps = 0
        self.journal = None
        self.wait_for(2)   # they warm up
        self.processes = [int(p) for p in os.listdir("/proc") if p.isdigit() and self.owns(p)]
        self.send(signal.SIGSTOP)

    def owns(self, process):
        with contextlib.suppress(OSError):
            return self.folder in pathlib.Path(f"/proc/{process}/cmdline").read_text()
        return False

    def send(self, which):
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, which)

    def wait_for(self, steps):
        while self.steps < steps:
            if self.command.poll() is not None:
                self.said.seek(0)
                sys.exit(self.said.read())
            time.sleep(POLL_S)
            if self.journal is None:
                found = next(pathlib.Path(self.folder).glob("runs/*/journal/*/rank-0.jsonl"), None)
                self.journal = found and open(found)
            if self.journal:
                self.steps += self.journal.read().count('"pairs_per_s"')



def step_seconds(runs):
    """A step of each of them, at the same time: until the last has done it."""
    start = time.monotonic()
    for run in runs:
        run.send(signal.SIGCONT)
    for run in runs:
        run.wait_for(run.steps + 1)
    seconds = time.monotonic() - start
    for run in runs:
        run.send(signal.SIGSTOP)
    return seconds


def main():
    faceter, pairs, *rest = sys.argv[1:]
    model, batch, length, rounds = (rest + ["minilm", "64", "128", "15"][len(rest):])[:4]
    settings = {"model": model, "pairs": str(pathlib.Path(pairs).resolve()), "batch": batch, "length": length}
    half = settings | {"batch": str(int(batch) // 2)}
    contenders = {"one": [], "two": [], "apart": []}
    efficiency, limit = [], []
    try:
        for name, given, processes in (("one", settings, 1), ("two", settings, 2), ("apart", half, 1), ("apart", half, 1)):
            contenders[name].append(Run(faceter, given, processes))
        for number in range(int(rounds)):
            order = list(contenders)[number % 3:] + list(contenders)[:number % 3]
            seconds = {name: step_seconds(contenders[name]) for name in order}
            efficiency.append(seconds["one"] / (2 * seconds["two"]))
            limit.append(seconds["one"] / (2 * seconds["apart"]))
            print(f"round {number + 1}: one process {seconds['one']:.2f} s a step, two {seconds['two']:.2f} s, two apart {seconds['apart']:.2f} s, "
                  f"efficiency {100 * efficiency[-1]:.1f} %, the machine's {100 * limit[-1]:.1f} %", flush=True)
    finally:
        for run in sum(contenders.values(), []):
            run.send(signal.SIGKILL)
    for name, ratios in (("efficiency", efficiency), ("the machine's", limit), ("of what the machine gives", [e / l for e, l in zip(efficiency, limit)])):
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(f"{name} {100 * middle:.1f} % (quartiles {100 * low:.1f} and {100 * high:.1f}, {len(ratios)} rounds)")


main()
