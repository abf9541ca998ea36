#!/usr/bin/env python3
"""The peer of bench_learn_encode: sentence-transformers on the same model and texts. usage: peer_encode.py MODEL_DIR TEXTS.jsonl [COUNT] [ROUNDS] [float32|bf16]

Texts are drawn with Python's own seed, so they are other texts of the same file: compare tokens a second."""
import json, os, random, resource, statistics, sys, time

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import torch
from sentence_transformers import SentenceTransformer

torch.set_num_threads(os.cpu_count())
count, rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 2000, int(sys.argv[4]) if len(sys.argv) > 4 else 3
rows = [json.loads(line)["long"] for line in open(sys.argv[2], encoding="utf8")]
random.Random(3).shuffle(rows)
texts = rows[:count]
kind = torch.bfloat16 if sys.argv[5:] == ["bf16"] else torch.float32
model = SentenceTransformer(sys.argv[1], device="cpu", model_kwargs={"torch_dtype": kind})
model.max_seq_length = 256
tokens = sum(min(256, len(x)) for x in model.tokenizer(texts)["input_ids"])
model.encode(texts[:64], batch_size=32, show_progress_bar=False)
seconds = []
for _ in range(rounds):
    start = time.perf_counter()
    model.encode(texts, batch_size=32, show_progress_bar=False)
    seconds.append(time.perf_counter() - start)
latency = []
for _ in range(20):
    start = time.perf_counter()
    model.encode(["How do I reset my password?"], show_progress_bar=False)
    latency.append(time.perf_counter() - start)
middle = statistics.median(seconds)
print(f"sentence-transformers: {count} texts, {tokens} tokens: {count / middle:.1f} texts/s, {tokens / middle:.0f} tokens/s "
      f"(median of {rounds}; {min(seconds):.2f} to {max(seconds):.2f} s); one short text {1000 * statistics.median(latency):.2f} ms; peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")
