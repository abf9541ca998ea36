"""usage: peer_exports.py INPUT OUT: INPUT lists {"folder", "texts"}; OUT lists the embeddings that sentence-transformers gives of each, or why it loads none."""
import json
import sys

from sentence_transformers import SentenceTransformer

answers = []
with open(sys.argv[1]) as file:
    wanted = json.load(file)
for one in wanted:
    try:
        model = SentenceTransformer(one["folder"], device="cpu")
    except Exception as error:
        answers.append({"refused": f"{type(error).__name__}: {error}"})
        continue
    prompts = {"prompt_name": one["prompt"]} if one["prompt"] else {}
    answers.append({"rows": model.encode(one["texts"], **prompts).tolist()})
with open(sys.argv[2], "w") as file:
    json.dump(answers, file)
