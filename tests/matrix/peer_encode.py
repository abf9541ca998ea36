"""Embeddings of sentence-transformers for tests/matrix: a request a line on standard input, {folder, prompt, texts}, an answer a line."""
import json
import os
import sys

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print is no answer
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch  # noqa: E402
import transformers  # noqa: E402
from sentence_transformers import SentenceTransformer  # noqa: E402

torch.set_num_threads(1)
transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()


def encode(request):
    model = SentenceTransformer(request["folder"], device="cpu", trust_remote_code=False)
    prompt = {"prompt_name": request["prompt"]} if request["prompt"] else {}
    with torch.no_grad():
        return model.encode(request["texts"], show_progress_bar=False, **prompt).tolist()


for line in sys.stdin:
    try:
        answer = {"embeddings": encode(json.loads(line))}
    except Exception as error:  # the harness says which law it breaks
        answer = {"error": f"{type(error).__name__}: {error}"[:600]}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
