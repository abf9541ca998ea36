#!/usr/bin/env python3
"""A folder of Qwen3-Embedding-0.6B's real shape with random weights in bf16, in two shards with an index. usage: make_qwen3_folder.py TOKENIZER_FOLDER OUT

TOKENIZER_FOLDER lends its tokenizer, pooling and prompts (sentence-transformers' layout); ids beyond its vocabulary have rows that no text reads."""
import json, pathlib, shutil, sys

import torch
from safetensors.torch import save_file

shape = {"num_hidden_layers": 28, "hidden_size": 1024, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 3072,
         "vocab_size": 151669, "max_position_embeddings": 32768, "torch_dtype": "bfloat16"}
source, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
config = json.loads((source / "config.json").read_text()) | shape
generator = torch.Generator().manual_seed(1)


def tensors():
    """Each tensor's name and shape, in the order of a release."""
    width, inner, head = shape["hidden_size"], shape["intermediate_size"], shape["head_dim"]
    queries, keys = shape["num_attention_heads"] * head, shape["num_key_value_heads"] * head
    yield "embed_tokens.weight", (shape["vocab_size"], width)
    for i in range(shape["num_hidden_layers"]):
        for name, rows, columns in (("self_attn.q_proj", queries, width), ("self_attn.k_proj", keys, width), ("self_attn.v_proj", keys, width),
                                    ("self_attn.o_proj", width, queries), ("mlp.gate_proj", inner, width), ("mlp.up_proj", inner, width), ("mlp.down_proj", width, inner)):
            yield f"layers.{i}.{name}.weight", (rows, columns)
        for name, size in (("input_layernorm", width), ("post_attention_layernorm", width), ("self_attn.q_norm", head), ("self_attn.k_norm", head)):
            yield f"layers.{i}.{name}.weight", (size,)
    yield "norm.weight", (width,)


shutil.copytree(source, out, ignore=shutil.ignore_patterns("*.safetensors", "expected*"))
(out / "config.json").write_text(json.dumps(config, indent=1))
(out / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 512, "do_lower_case": False}))
names = list(tensors())
where, total = {}, 0
for shard, part in enumerate((names[: len(names) // 2], names[len(names) // 2 :]), start=1):
    file = f"model-{shard:05}-of-00002.safetensors"
    held = {}
    for name, size in part:
        values = torch.ones(size) if len(size) == 1 else torch.randn(size, generator=generator) * 0.02
        held[name] = values.to(torch.bfloat16)
        where[name] = file
        total += 2 * values.numel()
    save_file(held, str(out / file), metadata={"format": "pt"})
(out / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": total}, "weight_map": where}, indent=1))
print(f"{out}: {total // 2} parameters")
