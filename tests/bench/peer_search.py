"""Peer of bench_learn_search: faiss IndexFlatIP. Needs numpy and faiss-cpu. Usage: peer_search.py [THREADS]"""
import sys
import time

import faiss
import numpy as np

threads = int(sys.argv[1]) if len(sys.argv) > 1 else faiss.omp_get_max_threads()
faiss.omp_set_num_threads(threads)
rng = np.random.default_rng(1)


def unit(rows):
    x = rng.standard_normal((rows, 384), dtype=np.float32)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


queries, documents = unit(1000), unit(50000)
index = faiss.IndexFlatIP(384)
index.add(documents)
for k in (10, 100, 1000):
    times = []
    for _ in range(7):
        start = time.perf_counter()
        index.search(queries, k)
        times.append(time.perf_counter() - start)
    print(f"faiss IndexFlatIP k={k}, {threads} threads: median {np.median(times) * 1000:.0f} ms, range {min(times) * 1000:.0f} to {max(times) * 1000:.0f}")
