"""Embeds texts with a model folder in sentence-transformers: FOLDER REQUEST.json ANSWER.json torch|onnx [ADAPTER] (core/plugin/export_peers.h).

Ends with 3 where this Python has no sentence-transformers, or lacks what it runs ONNX files by (optimum),
or PEFT where an adapter is to be put onto the model. Never asks a network, and runs no code that a model folder names.
"""

import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

try:
    import sentence_transformers

    if sys.argv[4] == "onnx":
        import optimum.onnxruntime  # noqa: F401
    if sys.argv[5:]:
        import peft
except ImportError:
    sys.exit(3)

folder, request, answer, backend = sys.argv[1:5]
model = sentence_transformers.SentenceTransformer(folder, device="cpu", trust_remote_code=False, backend=backend)
if sys.argv[5:]:
    model[0].model = peft.PeftModel.from_pretrained(model[0].model, sys.argv[5]).eval()
with open(request, encoding="utf-8") as file:
    parts = json.load(file)
# One by one: where positions stretch with the longest text of a batch (dynamic NTK), a text's vector would be that of its company.
vectors = [
    model.encode(part["texts"], prompt_name=part["prompt_name"], convert_to_numpy=True, show_progress_bar=False, batch_size=1).tolist()
    for part in parts
]
with open(answer, "w", encoding="utf-8") as file:
    versions = {"version": sentence_transformers.__version__, "peft_version": peft.__version__ if sys.argv[5:] else ""}
    json.dump({**versions, "vectors": vectors}, file)
