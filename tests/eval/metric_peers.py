#!/usr/bin/env python3
"""The measures of test_metric_peers.cpp by pytrec_eval, SciPy and scikit-learn. usage: metric_peers.py CASES.json RESULTS.json"""
import json
import sys
import warnings

import numpy as np
import pytrec_eval
from scipy.stats import pearsonr, spearmanr
from sklearn import metrics as m
from sklearn.metrics.pairwise import paired_cosine_distances, paired_euclidean_distances, paired_manhattan_distances
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MultiLabelBinarizer

warnings.filterwarnings("ignore")
cases = json.load(open(sys.argv[1]))
results = {}
cutoffs = [1, 3, 5, 10, 20, 100, 1000]


def mean(values):
    return 100 * float(np.mean(list(values)))


def retrieval(case):
    run, qrels, out = case["run"], case["qrels"], {}
    ks = ",".join(map(str, cutoffs))
    scores = pytrec_eval.RelevanceEvaluator(qrels, {f"ndcg_cut.{ks}", f"recall.{ks}", f"map_cut.{ks}", f"P.{ks}", "recip_rank"}).evaluate(run)
    exponential = {q: {d: 2**g - 1 if g > 0 else 0 for d, g in of.items()} for q, of in qrels.items()}
    gains = pytrec_eval.RelevanceEvaluator(exponential, {f"ndcg_cut.{ks}"}).evaluate(run)
    for k in cutoffs:
        for name, key in [("ndcg", "ndcg_cut"), ("recall", "recall"), ("map", "map_cut"), ("precision", "P")]:
            out[f"{name}_at_{k}"] = mean(s[f"{key}_{k}"] for s in scores.values())
        out[f"ndcg_exponential_at_{k}"] = mean(s[f"ndcg_cut_{k}"] for s in gains.values())
        # trec_eval's reciprocal rank has no cut-off: one beyond k is 0
        out[f"mrr_at_{k}"] = mean(s["recip_rank"] if s["recip_rank"] * k > 1 - 1e-9 else 0 for s in scores.values())
    return out


def reranking(case):
    out = []
    for c in case["queries"]:
        y, s = np.array(c["relevant"]), np.array(c["scores"])
        best = s[y == 1].max()
        rank = 1 + int(((y == 0) & (s >= best)).sum())
        out.append({"average_precision": m.average_precision_score(y, s), "reciprocal_rank": 1 / rank if rank <= 10 else 0})
    return out


def best(scores, labels):
    """Accuracy and F1 at the best threshold, from scikit-learn's curves."""
    false_rate, true_rate, _ = m.roc_curve(labels, scores, drop_intermediate=False)
    positives = labels.mean()
    precision, recall, _ = m.precision_recall_curve(labels, scores)
    return float(np.max(true_rate * positives + (1 - false_rate) * (1 - positives))), float(np.max(2 * precision * recall / np.maximum(precision + recall, 1e-300)))


def similarities(case):
    """Ours, so that equal ones stay equal to the last bit, after a look that they are the libraries'."""
    rows = np.array(case["rows"], dtype=np.float64)
    a, b = rows[case["first"]], rows[case["second"]]
    theirs = {"cosine": 1 - paired_cosine_distances(a, b), "dot": (a * b).sum(1), "euclidean": -paired_euclidean_distances(a, b),
              "manhattan": -paired_manhattan_distances(a, b)}
    ours = {name: np.array(values) for name, values in case["similarities"].items()}
    worst = max(np.abs(ours[name] - theirs[name]).max() for name in theirs)
    return ours, {"difference_of_similarities": 0 if worst < 1e-12 else worst}


def pairs(case):
    labels = np.array(case["labels"])
    ours, out = similarities(case)
    for name, s in ours.items():
        accuracy, f1 = best(s, labels)
        out[name + "_ap"] = 100 * m.average_precision_score(labels, s)
        out[name + "_accuracy"] = 100 * accuracy
        out[name + "_f1"] = 100 * f1
    for what in ["ap", "accuracy", "f1"]:
        out["max_" + what] = max(v for k, v in out.items() if k.endswith("_" + what))
    return out


def sts(case):
    ours, out = similarities(case)
    for name, s in ours.items():
        if name == "dot":
            continue
        out[name + "_spearman"] = 100 * spearmanr(s, case["scores"])[0]
        out[name + "_pearson"] = 100 * pearsonr(s, case["scores"])[0]
    return out


def labels(case):
    y, p = np.array(case["truth"]), np.array(case["predicted"])
    out = {"accuracy": m.accuracy_score(y, p), "macro_f1": m.f1_score(y, p, average="macro"), "weighted_f1": m.f1_score(y, p, average="weighted"),
           "v_measure": m.v_measure_score(y, p)}
    if set(y) == {0, 1}:
        out["ap"] = m.average_precision_score(y, p)
    return out


def multilabel(case):
    binarizer = MultiLabelBinarizer(classes=range(case["num_labels"]))
    train, y = binarizer.fit_transform(case["train_labels"]), binarizer.transform(case["test_labels"])
    said = KNeighborsClassifier(n_neighbors=5).fit(np.array(case["train"], dtype=np.float32), train).predict(np.array(case["test"], dtype=np.float32))
    return {"accuracy": m.accuracy_score(y, said), "macro_f1": m.f1_score(y, said, average="macro", zero_division=0),
            "lrap": m.label_ranking_average_precision_score(y, said)}


def bitext(case):
    found = case["nearest"]
    gold = list(range(len(found)))
    return {name: f(gold, found, average="weighted", zero_division=0)
            for name, f in [("f1", m.f1_score), ("precision", m.precision_score), ("recall", m.recall_score)]}


for name, case in cases.items():
    results[name] = globals()[name.split("/")[0]](case)
json.dump(results, open(sys.argv[2], "w"))
