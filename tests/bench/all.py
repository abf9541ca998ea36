#!/usr/bin/env python3
"""Every figure that has a peer, in one go: ours and the peer's in turn, the ratio's median and quartiles beside what it should reach.

    tests/bench/all.py --build build/release --peers PEERS/bin/python --model MODEL_FOLDER --texts TEXTS.jsonl [--rounds 5] [--only embed] [--tiny]
        [--store PROJECT_OF_BENCH_STORE] [--qwen FOLDER_OF_QWEN3_SHAPE]

TEXTS.jsonl: {"short": ..., "long": ...} a line, 2,000 of them and more. --tiny takes a few texts and one round: it shows that everything runs, its figures
mean nothing. On a machine where other things run the figures mean little: the load is printed before and after. A ratio is ours over the peer's speed
(above 1: faster) where the table says >=, and ours over the peer's time or memory where it says <=.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class Row:
    key: str        # for --only
    what: str
    reach: str
    ratios: list = dataclasses.field(default_factory=list)
    why_not: str = ""


def number(pattern, text):
    found = re.search(pattern, text)
    if not found:
        raise RuntimeError(f"no '{pattern}' in:\n{text[-2000:]}")
    return float(found[1])


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}: {(done.stderr or done.stdout)[-1500:]}")
    return done.stdout


def seconds(*command):
    start = time.perf_counter()
    run(*command)
    return time.perf_counter() - start


RESUMED = """name: resumed
model: {model}
max_length: 64
precision: float32
device: cpu
tasks:
  retrieval:
    instructions: {{query: "search query: ", document: "search document: "}}
    train: [{{name: pairs, source: file, path: {pairs}}}]
variants:
  IC: {{method: instruction}}
training: {{batch_size: 8, steps: {steps}, checkpoint_every_steps: 0}}
evaluation: {{baseline: false, datasets: []}}
"""


def write_pairs(texts, file):
    with open(file, "w", encoding="utf8") as out:
        for line in open(texts, encoding="utf8"):
            pair = json.loads(line)
            out.write(json.dumps({"query": pair["short"], "document": pair["long"]}) + "\n")


def seconds_to_first_step(journal):
    """From the start of an attempt to the end of its first step."""
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    return next(event["t"] for event in events if event["event"] == "step") - events[0]["t"]


def steps_of(journal):
    return journal.read_text().count('"pairs_per_s"') if journal.exists() else 0


class Benchmarks:
    """Each method fills rows, one ratio a round."""

    def __init__(self, options):
        self.o = options
        self.bin = pathlib.Path(options.build) / "bin"
        self.count = 64 if options.tiny else 2000

    def peer(self, script, *arguments):
        return run(self.o.peers, HERE / script, *arguments)

    def embed(self, rows):
        for _ in range(self.o.rounds):
            peer = self.peer("peer_encode.py", self.o.model, self.o.texts, self.count, 1)
            for compute in ("float32", "bf16", "int8"):
                ours = run(self.bin / "bench_learn_encode", self.o.model, self.o.texts, self.count, 1, compute)
                rows["embed " + compute].ratios.append(number(r"([\d.]+) tokens/s", ours) / number(r"([\d.]+) tokens/s", peer))
                if compute == "float32":
                    rows["embed memory"].ratios.append(number(r"peak (\d+)", ours) / number(r"peak (\d+)", peer))
                    rows["one text"].ratios.append(number(r"short text ([\d.]+)", ours) / number(r"short text ([\d.]+)", peer))

    def tokenise(self, rows):
        said = self.peer("peer_tokenize.py", self.bin / "bench_tokenize", self.o.model, self.o.texts, 0, self.o.rounds)
        rows["tokenise"].ratios.append(number(r"ratio of medians\s+([\d.]+)", said))
        if "ratio to tokie" in said:
            rows["tokie"].ratios.append(number(r"ratio to tokie\s+([\d.]+)", said))

    def train(self, rows):
        steps = 2 if self.o.tiny else 10
        for _ in range(self.o.rounds):
            ours = run(self.bin / "bench_learn_train", self.o.model, self.o.texts, steps, "dense")
            lowered = run(self.bin / "bench_learn_train", self.o.model, self.o.texts, steps, "bf16")
            peer = self.peer("peer_train.py", self.o.model, self.o.texts, steps)
            rows["train"].ratios.append(number(r"([\d.]+) pairs/s", ours) / number(r"([\d.]+) pairs/s", peer))
            rows["train bf16"].ratios.append(number(r"([\d.]+) pairs/s", lowered) / number(r"([\d.]+) pairs/s", peer))
            rows["train memory"].ratios.append(number(r"peak (\d+)", ours) / number(r"peak (\d+)", peer))

    def mote(self, rows):
        for _ in range(self.o.rounds):
            said = run(self.bin / "bench_learn_train", self.o.model, self.o.texts, 2 if self.o.tiny else 10, "both")
            rows["mote"].ratios.append(number(r"MoTE / IC: ([\d.]+)", said))

    def cached(self, rows):
        for _ in range(min(self.o.rounds, 3)):   # two to three minutes each
            ours = run(self.bin / "bench_learn_train", self.o.model, self.o.texts, 1, "cached")
            peer = self.peer("peer_train.py", self.o.model, self.o.texts, 1, "cached")
            rows["cached"].ratios.append(number(r"([\d.]+) pairs/s", ours) / number(r"([\d.]+) pairs/s", peer))

    def journal(self, rows):
        said = run(self.bin / "bench_learn_train", self.o.model, self.o.texts, 2 if self.o.tiny else 10, "journaled")
        rows["journal"].ratios.append(number(r"journaled / not: ([\d.]+)", said))

    def seven(self, rows):
        for _ in range(self.o.rounds):
            said = run(self.bin / "bench_learn_train", self.o.model, self.o.texts, 2 if self.o.tiny else 10, "seven")
            rows["seven"].ratios.append(number(r"MoTE / IC: ([\d.]+)", said))

    def resume(self, rows):
        for _ in range(self.o.rounds):
            with tempfile.TemporaryDirectory() as folder:
                rows["resume"].ratios.append(self.resumed(pathlib.Path(folder)))

    def resumed(self, folder):
        """A run that is stopped late and resumed."""
        steps = 20 if self.o.tiny else 100
        write_pairs(self.o.texts, folder / "pairs.jsonl")
        (folder / "resumed.yaml").write_text(RESUMED.format(model=self.o.model, pairs="pairs.jsonl", steps=steps))
        command = [self.bin / "faceter", "run", folder / "resumed.yaml", "--project", folder]
        with subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as begun:
            while begun.poll() is None and not any(steps_of(journal) >= steps // 2 for journal in folder.glob("runs/*/journal/1/rank-0.jsonl")):
                time.sleep(0.05)
            begun.send_signal(signal.SIGINT)
        journal = next(folder.glob("runs/*/journal/1/rank-0.jsonl"))
        run(self.bin / "faceter", "resume", journal.parents[2].name, "--project", folder)
        return seconds_to_first_step(journal.parents[1] / "2/rank-0.jsonl") / seconds_to_first_step(journal)

    def server(self, rows):
        said = run(sys.executable, HERE / "serve_load.py", self.bin / "faceter-worker", self.o.model, "--texts", 200 if self.o.tiny else 2000)
        medians = said[said.index("medians of"):]
        rows["server"].ratios.append(number(r"([\d.]+) of its throughput", medians))
        rows["server cpu"].ratios.append(number(r"([\d.]+) of embed's CPU", medians))
        rows["server late"].ratios.append(number(r"p99 at half load ([\d.]+) times", medians))

    def store(self, rows):
        if not self.o.store:
            raise RuntimeError("--store names no project (bench_store make FOLDER makes one)")
        said = run(self.bin / "bench_store", "measure", self.o.store)
        looks = [line for line in said.splitlines() if " p95 " in line and not line.startswith(("open", "all its points"))]
        rows["store"].ratios.append(max(number(r"p95\s+([\d.]+) ms", line) for line in looks))

    def lora(self, rows):
        if not self.o.qwen:
            raise RuntimeError("--qwen names no folder (make_qwen3_folder.py makes one)")
        with tempfile.TemporaryDirectory() as folder:
            pairs = pathlib.Path(folder) / "pairs.jsonl"
            write_pairs(self.o.texts, pairs)
            said = run(sys.executable, HERE / "lora.py", "--faceter", self.bin / "faceter", "--peers", self.o.peers, "--model", self.o.qwen, "--pairs", pairs,
                       "--rounds", min(self.o.rounds, 3))
        rows["lora"].ratios.append(number(r"over the peer's: ([\d.]+)", said))
        rows["lora memory"].ratios.append(number(r"peak memory: ([\d.]+)", said))

    def routed(self, rows):
        for _ in range(self.o.rounds):
            rows["routed"].ratios.append(number(r"ratio\s+([\d.]+)", run(self.bin / "bench_learn_routed")))

    def start(self, rows):
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder) / "text.txt"
            text.write_text("How do I reset my password?\n")
            embed_one = (f"from sentence_transformers import SentenceTransformer; SentenceTransformer({self.o.model!r}, device='cpu')"
                         ".encode(['How do I reset my password?'])")
            for _ in range(self.o.rounds):
                ours = seconds(self.bin / "faceter", "embed", "--model", self.o.model, "--output", pathlib.Path(folder) / "v.npy", text)
                rows["first vector"].ratios.append(ours / seconds(self.o.peers, "-c", embed_one))
                rows["help"].ratios.append(seconds(self.bin / "faceter", "--help") / seconds(self.o.peers, "-c", "import sentence_transformers"))

    def search(self, rows):
        for _ in range(self.o.rounds):
            ours, peer = run(self.bin / "bench_learn_search"), self.peer("peer_search.py")
            for k in (10, 1000):
                own = number(rf"corpus_in_memory/{k}/real_time\s+([\d.]+) ms", ours)
                rows[f"search {k}"].ratios.append(own / number(rf"k={k},.*?median (\d+)", peer))

    def classify(self, rows):
        for _ in range(self.o.rounds):
            own = number(r"ten_draws_of_a_classifier/real_time\s+([\d.]+) ms", run(self.bin / "bench_learn_classifier"))
            rows["classify"].ratios.append(own / number(r"10 draws: median (\d+)", self.peer("peer_classifier.py")))

    def anneal(self, rows):
        said = self.peer("peer_cube.py", self.bin / "bench_cube")
        ours = [float(ms) for ms in re.findall(r"annealing_2m_swaps\S*\s+([\d.]+) ms", said)]
        peer = [float(s) for s in re.findall(r"O\(1\) swaps: ([\d.]+) s", said)]
        rows["anneal"].ratios += [own / (1000 * other) for own, other in zip(ours, peer)]

    def scaling(self, rows):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as pairs:
            write_pairs(self.o.texts, pairs.name)
            said = run(sys.executable, HERE / "scaling.py", self.bin / "faceter", pairs.name, self.o.model, 16 if self.o.tiny else 64, 128,
                       2 if self.o.tiny else 14)
        rows["scaling"].ratios.append(number(r"of what the machine gives ([\d.]+) %", said) / 100)


def all_rows():
    return [
        Row("embed float32", "embed mixed-length texts, float32, tokens/s, against sentence-transformers", ">= 2.0"),
        Row("embed memory", "the same, peak memory", "<= 0.3"),
        Row("embed bf16", "the same, bf16 against its float32", ">= 2.5"),
        Row("embed int8", "the same, int8 against its float32", ">= 5"),
        Row("one text", "one short text, resident model, time", "<= 0.125"),
        Row("tokenise", "tokenise on one thread, against Hugging Face tokenizers", "> 1"),
        Row("tokie", "the same, against tokie", "> 1"),
        Row("train", "train, InfoNCE, batch 64, 128 tokens, pairs/s, against SentenceTransformerTrainer", ">= 4"),
        Row("train bf16", "the same with products in bf16, against its float32", ">= 5"),
        Row("train memory", "the same in float32, peak memory", "<= 0.2"),
        Row("cached", "gradient-cached step, 1,024 pairs in chunks of 32, pairs/s, against CachedMultipleNegativesRankingLoss", ">= 4"),
        Row("mote", "MoTE step against IC step, one task a batch", "<= 1.02"),
        Row("seven", "the same, seven tasks in it", "<= 1.05"),
        Row("journal", "a step journaled against one that is not, time", "<= 1.01"),
        Row("resume", "start to the end of the first step, resumed against fresh, time", "<= 1.2"),
        Row("lora", "LoRA step of Qwen3-0.6B's shape, against transformers and PEFT", ">= 1.3"),
        Row("lora memory", "the same, peak memory", "<= 0.6"),
        Row("routed", "token-routed block against two dense ones", "<= 1.02"),
        Row("help", "faceter --help, against import sentence_transformers, time", "<= 0.002"),
        Row("first vector", "start to first vector, whole process, time", "<= 0.067"),
        Row("search 10", "exact top 10 of 1,000 queries in 50,000, against faiss, time", "<= 0.8"),
        Row("search 1000", "the same, top 1,000", "<= 1.0"),
        Row("anneal", "annealing, 300 tasks, 2M swaps, against plain Python, time", "<= 0.01"),
        Row("classify", "classification, 77 labels, 10 draws, against scikit-learn, time", "<= 0.5"),
        Row("server", "server, 16 clients with single texts, throughput against one offline batch", ">= 0.9"),
        Row("server cpu", "the same, processor time a text", "<= 1.1"),
        Row("server late", "p99 at half load against a request alone, time", "<= 4"),
        Row("store", "store of 10,000 runs, the slowest look's p95, ms", "<= 16"),
        Row("scaling", "two processes on two cores, of what the machine gives", ">= 0.95"),
    ]


MEASURES = {"embed": ["embed float32", "embed memory", "embed bf16", "embed int8", "one text"], "tokenise": ["tokenise", "tokie"], "train": ["train", "train bf16", "train memory"],
            "cached": ["cached"], "mote": ["mote"], "seven": ["seven"], "journal": ["journal"], "resume": ["resume"], "lora": ["lora", "lora memory"],
            "routed": ["routed"], "start": ["help", "first vector"], "search": ["search 10", "search 1000"], "anneal": ["anneal"],
            "classify": ["classify"], "server": ["server", "server cpu", "server late"], "store": ["store"], "scaling": ["scaling"]}


def reached(row):
    limit = float(row.reach.split()[-1])
    middle = statistics.median(row.ratios)
    return middle <= limit if row.reach.startswith("<") else middle >= limit


def line(row):
    if not row.ratios:
        return f"| {row.what} | {row.reach} | not measured: {row.why_not} | | |"
    low, middle, high = (statistics.quantiles(row.ratios, n=4, method="inclusive") if len(row.ratios) > 1 else row.ratios * 3)
    return f"| {row.what} | {row.reach} | {middle:.3g} | {low:.3g} to {high:.3g} ({len(row.ratios)}) | {'yes' if reached(row) else 'no'} |"


def machine():
    info = pathlib.Path("/proc/cpuinfo").read_text()
    flags = set(re.search(r"flags\s*: (.*)", info)[1].split())
    has = [flag for flag in ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile") if flag in flags]
    memory = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) // 1048576
    name = re.search(r"model name\s*: (.*)", info)[1].strip()
    return f"{name}, {os.cpu_count()} processors, {memory} GiB, {' '.join(has)}"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="folder that the programs are in, under bin/")
    parser.add_argument("--peers", required=True, help="Python with the peers' packages")
    parser.add_argument("--model", required=True, help="all-MiniLM-L6-v2's folder")
    parser.add_argument("--texts", required=True, help='JSON lines {"short", "long"}')
    parser.add_argument("--store", help="project that bench_store made, for the row of the store")
    parser.add_argument("--qwen", help="folder that make_qwen3_folder.py made, for the rows of LoRA")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", action="append", choices=sorted(MEASURES), help="may be given again")
    parser.add_argument("--tiny", action="store_true", help="few texts, one round: shows that it runs")
    parser.add_argument("--json", help="file for all ratios")
    options = parser.parse_args()
    if options.tiny:
        options.rounds = 1
    return options


def main():
    options = parse()
    rows = {row.key: row for row in all_rows()}
    benchmarks = Benchmarks(options)
    load = os.getloadavg()[0]
    for i, name in enumerate(MEASURES):
        if options.only and name not in options.only:
            for key in MEASURES[name]:
                rows[key].why_not = "not asked for"
            continue
        print(f"{i + 1} of {len(MEASURES)}: {name}", file=sys.stderr, flush=True)
        try:
            getattr(benchmarks, name)(rows)
        except (RuntimeError, OSError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            for key in MEASURES[name]:
                rows[key].why_not = str(error).strip().splitlines()[-1][:100]
        except KeyboardInterrupt:  # an hour's figures stay
            print("stopped", file=sys.stderr)
            break
        for key in MEASURES[name]:
            print(line(rows[key]), file=sys.stderr, flush=True)
    print(f"Machine: {machine()}; load {load:.2f} before, {os.getloadavg()[0]:.2f} after; {options.rounds} rounds{', tiny' if options.tiny else ''}\n")
    print("| what | reach | median | quartiles (rounds) | reached |\n| --- | --- | --- | --- | --- |")
    for row in rows.values():
        print(line(row))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"machine": machine(), "load": load, "tiny": options.tiny,
                                                          "ratios": {row.key: row.ratios for row in rows.values()}}, indent=1))


if __name__ == "__main__":
    main()
