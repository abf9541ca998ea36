"""Runs an ONNX file in onnxruntime: FILE REQUEST.json ANSWER.bin (core/plugin/export_peers.h).

Writes the outputs of each request as float32, hidden states and then embeddings, and prints onnxruntime's version. Ends with 3, and what is
missing, where this Python has no onnxruntime.
"""

import json
import sys

sys.dont_write_bytecode = True  # nothing appears beside the scripts

from packages import need  # noqa: E402

onnxruntime, numpy = need("onnxruntime", "numpy")

file, request, answer = sys.argv[1:4]
onnxruntime.set_default_logger_severity(3)
session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
with open(request, encoding="utf-8") as source, open(answer, "wb") as out:
    for part in json.load(source):
        inputs = {name: numpy.array(part[name], numpy.int64).reshape(part["shape"]) for name in ("input_ids", "attention_mask")}
        for values in session.run(["last_hidden_state", "sentence_embedding"], inputs):
            values.astype("<f4").tofile(out)
print(onnxruntime.__version__)
