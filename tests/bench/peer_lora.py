#!/usr/bin/env python3
"""The peer of lora.py: a LoRA step by transformers and PEFT (sentence-transformers holds them together).

    peer_lora.py MODEL PAIRS.jsonl BATCH LENGTH STEPS float32|bf16 plain|recompute

Adapters of rank 8 on every product of a block, base frozen, InfoNCE in the batch at temperature 0.05, AdamW: one forward and backward pass a step. bf16 keeps
the base in bf16 and the adapters in float32, under autocast; recompute is gradient checkpointing. Prints seconds a step after two that warm up, and the peak."""
import json, os, resource, statistics, sys, time

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import torch
from peft import LoraConfig
from sentence_transformers import SentenceTransformer

model_folder, pairs, batch, length, steps, compute, memory = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]), *sys.argv[6:8]
torch.set_num_threads(os.cpu_count())
torch.manual_seed(1)
rows = [json.loads(line) for line in open(pairs, encoding="utf8")]
kind = torch.bfloat16 if compute == "bf16" else torch.float32
model = SentenceTransformer(model_folder, device="cpu", model_kwargs={"torch_dtype": kind})
model.max_seq_length = length
targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
model.add_adapter(LoraConfig(r=8, lora_alpha=16, target_modules=targets))
for name, weight in model.named_parameters():
    weight.requires_grad = "lora_" in name
    if weight.requires_grad:
        weight.data = weight.data.float()
if memory == "recompute":
    inner = model[0].auto_model
    inner.gradient_checkpointing_enable({"use_reentrant": False})
    inner.enable_input_require_grads()
model.train()
optimiser = torch.optim.AdamW([w for w in model.parameters() if w.requires_grad], lr=1e-4)
seconds = []
for step in range(steps + 2):
    chosen = [rows[(step * batch + i) % len(rows)] for i in range(batch)]
    start = time.perf_counter()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=compute == "bf16"):
        sides = []
        for side in ("query", "document"):
            given = model.preprocess([row[side] for row in chosen]) if hasattr(model, "preprocess") else model.tokenize([row[side] for row in chosen])
            sides.append(torch.nn.functional.normalize(model(given)["sentence_embedding"].float(), dim=1))
        loss = torch.nn.functional.cross_entropy(sides[0] @ sides[1].T / 0.05, torch.arange(batch))
    loss.backward()
    torch.nn.utils.clip_grad_norm_([w for w in model.parameters() if w.requires_grad], 1.0)
    optimiser.step()
    optimiser.zero_grad(set_to_none=True)
    seconds.append(time.perf_counter() - start)
seconds = seconds[2:]
print(f"transformers and PEFT, {compute}: {statistics.median(seconds):.2f} s a step ({min(seconds):.2f} to {max(seconds):.2f}); loss {loss.item():.4f}; "
      f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")
