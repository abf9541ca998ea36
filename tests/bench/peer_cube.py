"""Peer of bench_cube: simulated annealing over 300 tasks, 2M swaps, in plain Python with O(1) swaps; and numpy recomputing the tour (timed on 20,000
swaps and scaled). Needs numpy. With the path of bench_cube as argument it runs that too, in turn."""
import math
import random
import subprocess
import sys
import time

import numpy as np

n, steps = 300, 2_000_000
rng = np.random.default_rng(1)
centres = rng.standard_normal((20, 384))
vectors = centres[rng.integers(20, size=n)] + rng.standard_normal((n, 384))
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
matrix = vectors @ vectors.T
np.fill_diagonal(matrix, 0)
rows = matrix.tolist()


def total(tour):
    return sum(rows[tour[k]][tour[(k + 1) % n]] for k in range(n))


def anneal():
    draw, exp = random.Random(1).random, math.exp
    tour = list(range(n))
    random.Random(2).shuffle(tour)
    tau, alpha = 0.3, 1e-3 ** (1 / steps)
    for _ in range(steps):
        i, j = int(draw() * n), int(draw() * (n - 1))
        if j >= i:
            j += 1
        if i > j:
            i, j = j, i
        a, b, c = tour[i - 1], tour[i], tour[i + 1 - n]
        d, e, f = tour[j - 1], tour[j], tour[j + 1 - n]
        row_b, row_e = rows[b], rows[e]
        change = row_e[a] + row_e[c] + row_b[d] + row_b[f] - row_b[a] - row_b[c] - row_e[d] - row_e[f]
        if j - i == 1 or j - i == n - 1:
            change += 2 * row_b[e]
        if change > 0 or draw() < exp(change / tau):
            tour[i], tour[j] = e, b
        tau *= alpha
    return tour


def recompute(count):
    draw = random.Random(1).random
    tour = np.random.default_rng(2).permutation(n)
    current = matrix[tour, np.roll(tour, -1)].sum()
    for _ in range(count):
        i, j = int(draw() * n), int(draw() * n)
        tour[[i, j]] = tour[[j, i]]
        new = matrix[tour, np.roll(tour, -1)].sum()
        if new > current:
            current = new
        else:
            tour[[i, j]] = tour[[j, i]]


for turn in range(3):
    start = time.perf_counter()
    found = anneal()
    print(f"plain Python, O(1) swaps: {time.perf_counter() - start:.2f} s, total {total(found):.3f}")
    if len(sys.argv) > 1:
        subprocess.run([sys.argv[1], "--benchmark_filter=annealing_2m_swaps"], check=True)
start = time.perf_counter()
recompute(20_000)
print(f"numpy recomputing the tour: {(time.perf_counter() - start) * steps / 20_000:.0f} s for {steps} swaps (timed on 20,000)")
