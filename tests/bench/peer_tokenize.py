#!/usr/bin/env python3
"""Hugging Face's fast tokenizers and tokie on the texts of bench_tokenize, in turn with it: speeds, their ratios, and whether the tokens agree with Hugging Face's.

usage: PEERS/bin/python peer_tokenize.py BENCH_TOKENIZE MODEL_FOLDER TEXTS.jsonl [MAX_LENGTH] [ROUNDS]
(needs the package tokenizers; tokie where it is installed; one thread on all sides)
"""
import json, os, re, statistics, subprocess, sys, time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
import tokenizers

try:
    import tokie
except ImportError:
    tokie = None

bench, folder, path = sys.argv[1:4]
max_length = int(sys.argv[4]) if len(sys.argv) > 4 else 0
rounds = int(sys.argv[5]) if len(sys.argv) > 5 else 5
texts = []
for line in open(path, encoding="utf8", newline="\n"):
    value = json.loads(line)
    texts.append(value if isinstance(value, str) else value["long"] if "long" in value else value["text"])
megabytes = sum(len(t.encode("utf8")) for t in texts) / 1e6
file = os.path.join(folder, "tokenizer.json")
peers = {"tokenizers": tokenizers.Tokenizer.from_file(file)}
if tokie:
    peers["tokie"] = tokie.Tokenizer.from_json(file)
for peer in peers.values():
    peer.no_padding()
    peer.no_truncation()
    if max_length:
        peer.enable_truncation(max_length)


def timed(tokenizer):
    start, count = time.perf_counter(), 0
    for i in range(0, len(texts), 1000):
        count += sum(len(e.ids) for e in tokenizer.encode_batch(texts[i : i + 1000]))
    return megabytes / (time.perf_counter() - start), count


speeds, tokens = {"faceter": [], **{name: [] for name in peers}}, {}
for _ in range(rounds):
    out = subprocess.run([bench, folder, path, str(max_length), "3"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"one thread\s+([\d.]+) MB/s.*?(\d+) tokens", out)
    speeds["faceter"].append(float(found[1]))
    tokens["faceter"] = int(found[2])
    for name, peer in peers.items():
        speed, tokens[name] = timed(peer)
        speeds[name].append(speed)
print(f"{len(texts)} texts, {megabytes:.1f} MB, max_length {max_length or 'none'}, {rounds} rounds, one thread")
for name, values in speeds.items():
    print(f"{name:<26} {statistics.median(values):8.2f} MB/s ({min(values):.2f} to {max(values):.2f}), {tokens[name]} tokens")
ours = statistics.median(speeds["faceter"])
print(f"ratio of medians           {ours / statistics.median(speeds['tokenizers']):8.1f}")
if tokie:
    some = texts[:: max(1, len(texts) // 1000)]
    differ = sum(list(peers["tokie"].encode(t).ids) != peers["tokenizers"].encode(t).ids for t in some)
    print(f"ratio to tokie             {ours / statistics.median(speeds['tokie']):8.1f}")
    print(f"tokie cuts {differ} of {len(some)} texts otherwise than tokenizers {tokenizers.__version__}")
