"""What SciPy, NumPy and statsmodels make of the numbers in a JSON file; test_peer_statistics.cpp holds ours against it.

    python peer_statistics.py NUMBERS.json OUT.json
"""
import json
import sys

try:
    import numpy as np
    from scipy import stats
    from statsmodels.stats.anova import anova_lm
    from statsmodels.formula.api import ols
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.power import TTestIndPower, TTestPower
    from statsmodels.stats.weightstats import ttost_paired
    import pandas as pd
except ImportError:
    sys.exit(3)

ALTERNATIVES = {"two-sided": "two-sided", "greater": "larger", "less": "smaller"}


def power(case):
    of = TTestPower() if case["design"] == "paired_t" else TTestIndPower()
    return of.power(case["effect"], case["n"], case["alpha"], alternative=ALTERNATIVES[case["alternative"]])


def mean_squares(table):
    """Of rows, of columns and of the rest, by a two-way analysis of variance without replication."""
    cells = [(r, c, value) for r, row in enumerate(table) for c, value in enumerate(row)]
    frame = pd.DataFrame(cells, columns=["row", "column", "value"])
    anova = anova_lm(ols("value ~ C(row) + C(column)", frame).fit())
    return [anova["sum_sq"].iloc[i] / anova["df"].iloc[i] for i in range(3)]


def pigeonhole(table, resamples, random):
    """Rows and columns are drawn, each with replacement; the mean of the crossings (Owen 2007)."""
    table = np.array(table)
    rows, columns = table.shape
    means = [
        table[np.ix_(random.integers(rows, size=rows), random.integers(columns, size=columns))].mean() for _ in range(resamples)
    ]
    return [np.std(means, ddof=1), *np.percentile(means, [2.5, 97.5])]


def ranks(table, resamples, random):
    """Per group its rank (the best is 1; equal means share the better one) and where it stands in 95 % of the resampled data sets."""
    table = np.array(table)  # [group][data set]
    own = stats.rankdata(-table.mean(axis=1), method="min")
    drawn = random.integers(table.shape[1], size=(resamples, table.shape[1]))
    resampled = stats.rankdata(-table[:, drawn].mean(axis=2), method="min", axis=0)
    low, high = np.percentile(resampled, [2.5, 97.5], axis=1)
    return [[int(r), int(np.floor(a)), int(np.ceil(b))] for r, a, b in zip(own, low, high)]


def main():
    numbers = json.load(open(sys.argv[1]))
    random = np.random.default_rng(7)
    row = np.array(numbers["row"])
    plain = stats.bootstrap((row,), np.mean, n_resamples=20000, method="percentile", random_state=7)
    a, b = numbers["pair"]
    tost, lower, upper = ttost_paired(np.array(a), np.array(b), -numbers["margin"], numbers["margin"])
    answer = {
        "holm": multipletests(numbers["p"], method="holm")[1].tolist(),
        "power": [power(case) for case in numbers["power"]],
        "tost": [tost, lower[1], upper[1]],
        "mean_squares": mean_squares(numbers["table"]),
        "pigeonhole": pigeonhole(numbers["table"], 20000, random),
        "bootstrap": [plain.standard_error, plain.confidence_interval.low, plain.confidence_interval.high],
        "ranks": ranks(numbers["groups"], 20000, random),
    }
    json.dump(answer, open(sys.argv[2], "w"))


main()
