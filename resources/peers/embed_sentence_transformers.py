"""Embeds texts with a model folder in sentence-transformers: FOLDER REQUEST.json ANSWER.json torch|onnx (core/plugin/export_peers.h).

Ends with 3, and what is missing, where this Python has no sentence-transformers, or lacks what it runs ONNX files by (optimum), what the
tokenizer of the folder is read by, or PEFT where parts of the request have an adapter. Never asks a network, and runs no code that a model
folder names.
"""

import importlib.metadata
import inspect
import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
sys.dont_write_bytecode = True  # nothing appears beside the scripts

from packages import first_line, lacking, need  # noqa: E402

folder, request, answer, backend = sys.argv[1:]
with open(request, encoding="utf-8") as file:
    parts = json.load(file)


def transformers_is_old():
    return int(importlib.metadata.version("transformers").split(".")[0]) < 5


adapted = any("adapter" in part for part in parts)
names = ["sentence_transformers"] + ["optimum.onnxruntime"] * (backend == "onnx") + ["peft"] * adapted
packages = dict(zip(names, need(*names)))
sentence_transformers, peft = packages["sentence_transformers"], packages.get("peft")
if "backend" not in inspect.signature(sentence_transformers.SentenceTransformer.__init__).parameters:
    lacking(f"sentence-transformers {sentence_transformers.__version__}, where 3.2 or later is needed")
try:
    model = sentence_transformers.SentenceTransformer(folder, device="cpu", trust_remote_code=False, backend=backend)
except ImportError as error:
    lacking(f"not all that loading it takes ({first_line(error)})")
except ValueError as error:
    # Families that came with transformers 5, under a Python whose ONNX backend holds it at 4.
    if "does not recognize this architecture" not in str(error) or not transformers_is_old():
        raise
    lacking(f"transformers {importlib.metadata.version('transformers')}, which does not know this family yet")
adapters = {}  # folder -> its name in the model


def put_on(adapter):
    """Texts go through this adapter from now on."""
    if adapter not in adapters:
        name = f"adapter{len(adapters)}"
        if adapters:
            model[0].model.load_adapter(adapter, adapter_name=name)
        else:
            model[0].model = peft.PeftModel.from_pretrained(model[0].model, adapter, adapter_name=name)
        adapters[adapter] = name
    model[0].model.set_adapter(adapters[adapter])
    model[0].model.eval()


def embedded(part):
    if "adapter" in part:
        put_on(part["adapter"])
    # One by one: where positions stretch with the longest text of a batch (dynamic NTK), a text's vector would be that of its company.
    options = {"prompt_name": part["prompt_name"], "convert_to_numpy": True, "show_progress_bar": False, "batch_size": 1}
    return model.encode(part["texts"], **options).tolist()


vectors = [embedded(part) for part in parts]
with open(answer, "w", encoding="utf-8") as file:
    versions = {"version": sentence_transformers.__version__, "peft_version": peft.__version__ if peft else ""}
    json.dump({**versions, "vectors": vectors}, file)
