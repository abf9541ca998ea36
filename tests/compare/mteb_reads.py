"""What the mteb package makes of a folder of results: mteb_reads.py CACHE OUT.json. Exit code 3: the package is not there."""
import json
import os
import sys

cache, out = sys.argv[1:]
os.environ.update(MTEB_CACHE=cache, HF_HUB_OFFLINE="1")
try:
    from mteb.cache import ResultCache
except ImportError:
    sys.exit(3)
results = ResultCache(cache_path=cache).load_results(validate_and_filter=True)
with open(out, "w") as file:
    json.dump({"models": [f"{model.model_name} {model.model_revision}" for model in results.model_results],
               "scores": {task.task_name: task.get_score() for model in results.model_results for task in model.task_results}}, file)
