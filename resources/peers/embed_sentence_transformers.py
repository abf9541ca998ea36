"""Embeds texts with a model folder in sentence-transformers: FOLDER REQUEST.json ANSWER.json torch|onnx [ADAPTER] (core/plugin/export_peers.h).

Ends with 3, and what is missing, where this Python has no sentence-transformers, or lacks what it runs ONNX files by (optimum), what the
tokenizer of the folder is read by, or PEFT where an adapter is to be put onto the model. Never asks a network, and runs no code that a model
folder names.
"""

import inspect
import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
sys.dont_write_bytecode = True  # nothing appears beside the scripts

from packages import first_line, lacking, need  # noqa: E402

folder, request, answer, backend, *adapter = sys.argv[1:]
names = ["sentence_transformers"] + ["optimum.onnxruntime"] * (backend == "onnx") + ["peft"] * len(adapter)
packages = dict(zip(names, need(*names)))
sentence_transformers, peft = packages["sentence_transformers"], packages.get("peft")
if "backend" not in inspect.signature(sentence_transformers.SentenceTransformer.__init__).parameters:
    lacking(f"sentence-transformers {sentence_transformers.__version__}, where 3.2 or later is needed")
try:
    model = sentence_transformers.SentenceTransformer(folder, device="cpu", trust_remote_code=False, backend=backend)
except ImportError as error:
    lacking(f"not all that loading it takes ({first_line(error)})")
if peft:
    model[0].model = peft.PeftModel.from_pretrained(model[0].model, *adapter).eval()
with open(request, encoding="utf-8") as file:
    parts = json.load(file)
# One by one: where positions stretch with the longest text of a batch (dynamic NTK), a text's vector would be that of its company.
vectors = [
    model.encode(part["texts"], prompt_name=part["prompt_name"], convert_to_numpy=True, show_progress_bar=False, batch_size=1).tolist()
    for part in parts
]
with open(answer, "w", encoding="utf-8") as file:
    versions = {"version": sentence_transformers.__version__, "peft_version": peft.__version__ if peft else ""}
    json.dump({**versions, "vectors": vectors}, file)
