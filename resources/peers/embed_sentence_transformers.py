"""Embeds texts with a model folder in sentence-transformers: FOLDER REQUEST.json ANSWER.json (core/plugin/export_peers.h).

Ends with 3 where this Python has no sentence-transformers. Never asks a network, and runs no code that a model folder names.
"""

import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

try:
    import sentence_transformers
except ImportError:
    sys.exit(3)

folder, request, answer = sys.argv[1:4]
model = sentence_transformers.SentenceTransformer(folder, device="cpu", trust_remote_code=False)
with open(request, encoding="utf-8") as file:
    parts = json.load(file)
vectors = [
    model.encode(part["texts"], prompt_name=part["prompt_name"], convert_to_numpy=True, show_progress_bar=False).tolist() for part in parts
]
with open(answer, "w", encoding="utf-8") as file:
    json.dump({"version": sentence_transformers.__version__, "vectors": vectors}, file)
