"""usage: peer_include_prompt.py FOLDER INPUT OUT: embeds INPUT's texts ({"prompt": ..., "texts": [...]}) with sentence-transformers; OUT is a safetensors file."""
import json
import sys

import torch
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer

folder, source, out = sys.argv[1:]
with open(source) as file:
    wanted = json.load(file)
model = SentenceTransformer(folder, device="cpu")
rows = model.encode(wanted["texts"], prompt=wanted["prompt"], convert_to_tensor=True)
save_file({"embeddings": rows.to(torch.float32).contiguous()}, out)
