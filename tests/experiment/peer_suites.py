"""What the mteb package says of the data sets of suites: peer_suites.py SUITES.json OUT.json. SUITES.json: {benchmark: [{"mteb", "get", "revision"}]}; OUT.json: a line for each
difference. Exit code 3: the package is not there."""
import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import mteb
except ImportError:
    sys.exit(3)

wrong = []
for benchmark, sets in json.load(open(sys.argv[1])).items():
    tasks = {task.metadata.name: task for task in mteb.get_benchmark(benchmark).tasks}
    wrong += [f"{benchmark}: {name} is not in the suite" for name in tasks.keys() - {one["mteb"] for one in sets}]
    for one in sets:
        if one["mteb"] not in tasks:
            wrong.append(f"{benchmark}: has no {one['mteb']}")
            continue
        task = tasks[one["mteb"]]
        says = {
            "get": task.metadata.dataset["path"],
            "revision": task.metadata.dataset["revision"],
            "split": task.eval_splits[0],
            "subsets": [] if list(task.hf_subsets) == ["default"] else list(task.hf_subsets),
            "examples_per_label": getattr(task, "samples_per_label", None) or 8,
        }
        if one["type"] == "reranking" or not one["revision"]:  # in mteb 1's form, or a mean of several
            says = {key: says[key] for key in ("split",)}
        wrong += [f"{one['mteb']}: {key} is {one[key]}, mteb {mteb.__version__} has {value}" for key, value in says.items() if one[key] != value]
json.dump(wrong, open(sys.argv[2], "w"))
