"""usage: peer_samplers.py OUT BATCH EPOCHS SIZE...: writes as JSON how sentence-transformers' own samplers go through data sets of these sizes, each batch as
[data set, examples]: "round_robin" and "proportional", a list for each epoch."""
import json
import sys

import torch
from sentence_transformers.base.sampler import ProportionalBatchSampler, RoundRobinBatchSampler
from torch.utils.data import BatchSampler, ConcatDataset, RandomSampler

out, batch, epochs, *sizes = sys.argv[1], *map(int, sys.argv[2:])
data = ConcatDataset([range(size) for size in sizes])


def orders(kind):
    generator = torch.Generator()
    batches = [BatchSampler(RandomSampler(one, generator=generator), batch, drop_last=False) for one in data.datasets]
    sampler = kind(data, batches, generator=generator, seed=7)
    made = []
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        made.append([[next(i for i, end in enumerate(data.cumulative_sizes) if examples[0] < end), len(examples)] for examples in sampler])
    return made


with open(out, "w") as file:
    json.dump({"round_robin": orders(RoundRobinBatchSampler), "proportional": orders(ProportionalBatchSampler)}, file)
