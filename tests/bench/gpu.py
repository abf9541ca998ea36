#!/usr/bin/env python3
"""Training and embedding on GPUs, as one table: `tests/bench/gpu.sh` calls it.

    python3 tests/bench/gpu.py --build build/release --model google-bert/bert-base-uncased --devices 1,2,4,8 --steps 40

Each method trains on pairs of made texts in bfloat16 through `faceter run`; a figure is the median over the steps behind the first five. Utilisation is of
--peak-tflops (of one GPU, dense bfloat16), from the multiply-adds that the model counts, three passes a step.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

METHODS = {"IC": "{method: instruction}", "MoTE": "{method: mote, placement: every}", "TLR": "{method: token_routed_moe, experts: 8, top_k: 2}"}
EXPERIMENT = """name: gpu
model: {model}
max_length: {length}
precision: {precision}
device: cuda
tasks:
  retrieval:
    instructions: {{query: "search query: ", document: "search document: "}}
    train: [{{name: pairs, source: file, path: pairs.jsonl}}]
variants:
  {name}: {method}
training: {{batch_size: {batch}, steps: {steps}, checkpoint_every_steps: 0}}
evaluation: {{baseline: false, datasets: []}}
"""
WARM_UP = 5


def made_pairs(file, count, words):
    """Texts of so many words drawn from a small vocabulary, each pair sharing half of them."""
    source = random.Random(3)
    vocabulary = ["".join(source.choices("abcdefghijklmnoprstuvw", k=source.randint(3, 7))) for _ in range(2000)]
    with open(file, "w") as out:
        for _ in range(count):
            shared = source.choices(vocabulary, k=words // 2)
            query, document = (shared + source.choices(vocabulary, k=words - words // 2) for _ in range(2))
            out.write(json.dumps({"query": " ".join(query), "document": " ".join(document)}) + "\n")


def call(options, *command):
    environment = os.environ | ({"LD_PRELOAD": str(options.preload)} if options.preload else {})
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def found(folder, key):
    """The first number under this name in what a run has left."""
    for file in sorted(folder.glob("runs/*/**/*.json*")):
        for line in file.read_text().splitlines() if file.suffix == ".jsonl" else [file.read_text()]:
            if f'"{key}"' in line:
                text = line.split(f'"{key}":', 1)[1].lstrip()
                return float(text.split(",")[0].rstrip("}] \n"))
    return 0.0


def train(options, name, devices, folder):
    made_pairs(folder / "pairs.jsonl", options.batch * (options.steps + 2), options.length // 2)
    experiment = folder / "gpu.yaml"
    experiment.write_text(EXPERIMENT.format(name=name, method=METHODS[name], **vars(options)))
    call(options, options.build / "bin/faceter", "run", experiment, "--project", folder, "--devices", str(devices))
    journal = next(folder.glob("runs/*/journal/*/rank-0.jsonl")).read_text().splitlines()
    steps = [json.loads(line) for line in journal if '"pairs_per_s"' in line][WARM_UP:]
    tokens = statistics.median(step["tokens_per_s"] for step in steps)
    memory = [json.loads(line) for line in journal if '"event":"memory"' in line.replace(" ", "")]
    flops = 6 * found(folder, "multiply_adds_per_token") * tokens / devices
    return {"what": f"train {name}", "devices": devices, "pairs/s": statistics.median(step["pairs_per_s"] for step in steps), "tokens/s": tokens,
            "peak GiB": found(folder, "peak_gpu_memory_bytes") / 2 ** 30, "forecast GiB": memory[0].get("bytes", 0) / 2 ** 30 if memory else 0.0,
            "utilisation %": 100 * flops / (options.peak_tflops * 1e12)}


def embed(options, folder):
    made_pairs(folder / "pairs.jsonl", options.texts, options.length)
    texts = folder / "texts.txt"
    texts.write_text("\n".join(json.loads(line)["document"] for line in open(folder / "pairs.jsonl")) + "\n")
    command = [options.build / "bin/faceter", "embed", "--model", options.model, "--device", "cuda", "--compute", "bf16", "--output", folder / "all.npy", texts]
    start = time.monotonic()
    call(options, *command)
    return {"what": "embed (bf16, start included)", "devices": 1, "texts/s": options.texts / (time.monotonic() - start)}


def peers(options):
    """Rows of what PyTorch and sentence-transformers make of the same on one GPU (peer_gpu.py), each from the start as ours."""
    command = [options.peers, pathlib.Path(__file__).with_name("peer_gpu.py"), "--device", "cpu" if options.preload else "cuda"]
    for name in ("model", "batch", "length", "steps", "texts"):
        command += [f"--{name}", str(getattr(options, name))]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}")
    for line in filter(lambda one: one.startswith('{"what"'), done.stdout.splitlines()):
        row = json.loads(line)
        if "error" in row:
            sys.exit(f"peer_gpu.py, {row['what']}: {row['error']}")
        if row["what"] != "machine":
            row |= {"what": f"peer: {row['what']}", "devices": 1}
            if "texts/s" in row:
                row |= {"texts/s": row["texts/s with imports and load"], "tokens/s": ""}
            yield row


def measured(what, *arguments):
    """One row of the table, from a folder of its own that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="gpu") as folder:
        return what(*arguments, pathlib.Path(folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--model", default="google-bert/bert-base-uncased")
    parser.add_argument("--devices", default="1", help="how many GPUs, each in turn: 1,2,4,8")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--texts", type=int, default=100000)
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--peak-tflops", type=float, default=989.0, help="of one GPU; 989: an H100 (SXM)")
    parser.add_argument("--preload", type=pathlib.Path, help="a library that brings another device")
    parser.add_argument("--peers", type=pathlib.Path, help="a Python with PyTorch 2.11, transformers and sentence-transformers: their rows as well")
    options = parser.parse_args()
    if options.steps <= WARM_UP:
        parser.error(f"--steps: more than {WARM_UP}")
    rows = [measured(train, options, name, devices) for name in options.methods.split(",") for devices in map(int, options.devices.split(","))]
    rows.append(measured(embed, options))
    rows += peers(options) if options.peers else []
    columns = ["what", "devices", "pairs/s", "texts/s", "tokens/s", "peak GiB", "forecast GiB", "utilisation %"]
    print("| " + " | ".join(columns) + " |\n|" + " --- |" * len(columns))
    for row in rows:
        print("| " + " | ".join(f"{row[c]:.4g}" if isinstance(row.get(c), float) else str(row.get(c, "")) for c in columns) + " |")


main()
