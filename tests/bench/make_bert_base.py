#!/usr/bin/env python3
"""A folder of BERT base's shape, random weights (seed 0, float32), in sentence-transformers' layout with mean pooling.
usage: make_bert_base.py FOLDER TOKENIZER

TOKENIZER, a MiniLM folder, lends its tokenizer's files (30,522 entries); the longest text is 512 tokens, as bert-base-uncased has it."""
import json, pathlib, shutil, sys

import torch
from transformers import BertConfig, BertModel

out, tokenizer = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
torch.manual_seed(0)
model = BertModel(BertConfig())
model.save_pretrained(out)
for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
    shutil.copyfile(tokenizer / name, out / name)
modules = [{"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
           for i, (path, kind) in enumerate((("", "Transformer"), ("1_Pooling", "Pooling")))]
kinds = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens")
pooling = {"word_embedding_dimension": model.config.hidden_size} | {f"pooling_mode_{kind}": kind == "mean_tokens" for kind in kinds}
(out / "1_Pooling").mkdir(exist_ok=True)
longest = {"max_seq_length": 512, "do_lower_case": False}
for name, value in (("modules.json", modules), ("1_Pooling/config.json", pooling), ("sentence_bert_config.json", longest)):
    (out / name).write_text(json.dumps(value, indent=1))
print(f"{out}: {sum(p.numel() for p in model.parameters())} parameters")
