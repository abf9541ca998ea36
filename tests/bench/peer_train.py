#!/usr/bin/env python3
"""The peer of bench_learn_train: SentenceTransformerTrainer, MultipleNegativesRankingLoss, batch 64, 128 tokens; with "cached" its cached form, 1,024 pairs in
chunks of 32. usage: peer_train.py MODEL_DIR TEXTS.jsonl [STEPS] [cached]"""
import json, os, random, resource, statistics, sys, tempfile, time

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.losses import CachedMultipleNegativesRankingLoss, MultipleNegativesRankingLoss
from transformers import TrainerCallback

torch.set_num_threads(os.cpu_count())
steps, cached = int(sys.argv[3]) if len(sys.argv) > 3 else 20, "cached" in sys.argv[4:]
warm, batch = (0, 1024) if cached else (3, 64)
rows = [json.loads(line) for line in open(sys.argv[2], encoding="utf8")]
random.Random(3).shuffle(rows)
rows = rows[: batch * (steps + warm)]
model = SentenceTransformer(sys.argv[1], device="cpu")
model.max_seq_length = 128
data = Dataset.from_dict({"anchor": [r["short"] for r in rows], "positive": [r["long"] for r in rows]})
stamps = []


class Clock(TrainerCallback):
    def on_step_begin(self, *args, **kwargs):
        stamps.append([time.perf_counter()])

    def on_step_end(self, *args, **kwargs):
        stamps[-1].append(time.perf_counter())


arguments = SentenceTransformerTrainingArguments(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=batch, max_steps=steps + warm, learning_rate=2e-5,
                                                 save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True, dataloader_drop_last=True)
loss = CachedMultipleNegativesRankingLoss(model, mini_batch_size=32) if cached else MultipleNegativesRankingLoss(model)
SentenceTransformerTrainer(model=model, args=arguments, train_dataset=data, loss=loss, callbacks=[Clock()]).train()
seconds = [end - start for start, end in stamps[warm:]]
print(f"SentenceTransformerTrainer: {batch / statistics.median(seconds):.1f} pairs/s ({statistics.median(seconds):.3f} s a step, {min(seconds):.3f} to {max(seconds):.3f}); "
      f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")
