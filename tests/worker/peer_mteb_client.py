"""The mteb package as a client of `faceter serve`: URL MODEL STS.jsonl RETRIEVAL-FOLDER OUT.json. Exit code 3: the package is not there.

Runs a task of sentence pairs and one of retrieval, both of local data, through mteb's own OpenAI-style wrapper, and writes their main scores and where
its result files lie.
"""

import json
import os
import sys
from pathlib import Path

url, model_name, sts_file, retrieval_folder, out = sys.argv[1:]
os.environ.update(HF_HUB_OFFLINE="1", MTEB_CACHE=str(Path(out).with_suffix(".cache")))
try:
    import mteb
    from datasets import Dataset, DatasetDict
    from mteb.abstasks import AbsTaskRetrieval, AbsTaskSTS
    from mteb.abstasks.task_metadata import TaskMetadata
    from mteb.models import OpenAIAPIEncodeWrapper
except ImportError:
    sys.exit(3)


def lines(file):
    with open(file, encoding="utf-8") as source:
        return [json.loads(line) for line in source]


def about(name, kind, score):
    return TaskMetadata(
        name=name, description="Local data.", reference=None, type=kind, category="t2t", modalities=["text"],
        dataset={"path": "local/data", "revision": "1"}, eval_splits=["test"], eval_langs=["eng-Latn"], main_score=score,
        date=None, domains=None, task_subtypes=None, license=None, annotations_creators=None, dialect=None, sample_creation=None,
        bibtex_citation=None,
    )


class LocalPairs(AbsTaskSTS):
    metadata = about("LocalPairs", "STS", "cosine_spearman")
    min_score, max_score = 0, 5

    def load_data(self, **kwargs):
        self.dataset = DatasetDict({"test": Dataset.from_list(lines(sts_file))})
        self.data_loaded = True


class LocalRetrieval(AbsTaskRetrieval):
    metadata = about("LocalRetrieval", "Retrieval", "ndcg_at_10")

    def load_data(self, **kwargs):
        folder = Path(retrieval_folder)
        with open(folder / "qrels" / "test.tsv", encoding="utf-8") as source:
            rows = [line.split("\t") for line in source.read().splitlines()[1:]]
        relevant = {}
        for query, document, grade in rows:
            relevant.setdefault(query, {})[document] = int(grade)
        named = lambda file: [{"id": one["_id"], "title": one.get("title", ""), "text": one["text"]} for one in lines(folder / file)]  # noqa: E731
        queries = [{"id": one["id"], "text": one["text"]} for one in named("queries.jsonl")]
        corpus = Dataset.from_list(named("corpus.jsonl"))
        split = {"corpus": corpus, "queries": Dataset.from_list(queries), "relevant_docs": relevant, "top_ranked": None}
        self.dataset = {"default": {"test": split}}
        self.data_loaded = True


model = OpenAIAPIEncodeWrapper(url, model_name, modalities=["text"], use_chat_template=False)
results = mteb.evaluate(model, [LocalPairs(), LocalRetrieval()], overwrite_strategy="always", show_progress_bar=False)
with open(out, "w", encoding="utf-8") as file:
    json.dump({result.task_name: result.get_score() for result in results.task_results}, file)
