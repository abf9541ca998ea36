"""What the mteb package makes of a folder of results: mteb_reads.py CACHE OUT.json. Exit code 3: the package is not there."""
import glob
import json
import logging
import os
import sys
import warnings

cache, out = sys.argv[1:]
os.environ.update(MTEB_CACHE=cache, HF_HUB_OFFLINE="1")
try:
    from mteb.cache import ResultCache
    from mteb.models.model_meta import ModelMeta
except ImportError:
    sys.exit(3)


class Heard(logging.Handler):
    """Whatever mteb warns of."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


heard = Heard()
logging.getLogger().addHandler(heard)
with warnings.catch_warnings(record=True) as raised:
    warnings.simplefilter("always")
    results = ResultCache(cache_path=cache).load_results(validate_and_filter=True)
    with open(glob.glob(cache + "/results/*/*/model_meta.json")[0]) as file:
        meta = ModelMeta.model_validate(json.load(file))
with open(out, "w") as file:
    json.dump({"models": [f"{model.model_name} {model.model_revision}" for model in results.model_results],
               "scores": {task.task_name: task.get_score() for model in results.model_results for task in model.task_results},
               "meta": [meta.name, meta.revision, meta.n_parameters, meta.embed_dim, meta.similarity_fn_name.value],
               "warnings": heard.texts + [str(one.message) for one in raised if not issubclass(one.category, DeprecationWarning)]}, file)
