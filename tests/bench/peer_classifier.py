"""Peer of bench_learn_classifier: scikit-learn's LogisticRegression (lbfgs, max_iter 100) and MiniBatchKMeans. Needs numpy and scikit-learn."""
import time

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import LogisticRegression

labels, per_label, num_test, dim = 77, 8, 3080, 384
rng = np.random.default_rng(1)
centres = rng.standard_normal((labels, dim))


def clouds(count):
    y = np.arange(count) % labels
    x = 0.5 * centres[y] + rng.standard_normal((count, dim))
    return (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32), y


draws = [clouds(labels * per_label) for _ in range(10)]
test_x, test_y = clouds(num_test)
times = []
for _ in range(5):
    start = time.perf_counter()
    scores = []
    for x, y in draws:
        model = LogisticRegression(C=1.0, max_iter=100).fit(x, y)
        scores.append((model.predict(test_x) == test_y).mean())
    times.append(time.perf_counter() - start)
print(f"scikit-learn, 10 draws: median {np.median(times) * 1000:.0f} ms, range {min(times) * 1000:.0f} to {max(times) * 1000:.0f}, "
      f"accuracy {np.mean(scores):.4f}, iterations {model.n_iter_[0]}")
x, _ = clouds(20000)
times = []
for _ in range(5):
    start = time.perf_counter()
    model = MiniBatchKMeans(n_clusters=labels, batch_size=500, n_init="auto", random_state=1).fit(x)
    times.append(time.perf_counter() - start)
print(f"scikit-learn MiniBatchKMeans: median {np.median(times) * 1000:.0f} ms, range {min(times) * 1000:.0f} to {max(times) * 1000:.0f}, inertia {model.inertia_:.0f}")
