#!/usr/bin/env python3
"""Hugging Face's fast tokenizers on the texts of bench_tokenize, in turn with it; prints both speeds, their ratio and whether the number of tokens agrees.

usage: PEERS/bin/python peer_tokenize.py BENCH_TOKENIZE MODEL_FOLDER TEXTS.jsonl [MAX_LENGTH] [ROUNDS]
(needs the package tokenizers; one thread on both sides)
"""
import json, os, re, statistics, subprocess, sys, time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
import tokenizers

bench, folder, path = sys.argv[1:4]
max_length = int(sys.argv[4]) if len(sys.argv) > 4 else 0
rounds = int(sys.argv[5]) if len(sys.argv) > 5 else 5
texts = []
for line in open(path, encoding="utf8", newline="\n"):
    value = json.loads(line)
    texts.append(value if isinstance(value, str) else value["long"] if "long" in value else value["text"])
megabytes = sum(len(t.encode("utf8")) for t in texts) / 1e6
tokenizer = tokenizers.Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
tokenizer.no_padding()
tokenizer.no_truncation()
if max_length:
    tokenizer.enable_truncation(max_length)

ours, peers, tokens = [], [], None
for _ in range(rounds):
    out = subprocess.run([bench, folder, path, str(max_length), "3"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"one thread\s+([\d.]+) MB/s.*?(\d+) tokens", out)
    ours.append(float(found[1]))
    start, count = time.perf_counter(), 0
    for i in range(0, len(texts), 1000):
        count += sum(len(e) for e in tokenizer.encode_batch(texts[i : i + 1000]))
    peers.append(megabytes / (time.perf_counter() - start))
    tokens = (int(found[2]), count)
spread = lambda v: f"{statistics.median(v):8.2f} MB/s ({min(v):.2f} to {max(v):.2f})"
print(f"{len(texts)} texts, {megabytes:.1f} MB, max_length {max_length or 'none'}, {rounds} rounds, one thread")
print(f"faceter                    {spread(ours)}, {tokens[0]} tokens")
print(f"tokenizers {tokenizers.__version__:<15} {spread(peers)}, {tokens[1]} tokens")
print(f"ratio of medians           {statistics.median(ours) / statistics.median(peers):8.1f}")
