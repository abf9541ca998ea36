"""usage: peer_rotary.py CONFIGS OUT: frequencies and amplitude of rotary positions as transformers' ROPE_INIT_FUNCTIONS have them, for each of
CONFIGS (a JSON list of members of a Llama configuration)."""
import json
import sys

from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

with open(sys.argv[1]) as file:
    configs = json.load(file)
results = []
for members in configs:
    config = LlamaConfig(hidden_size=4 * members["head_dim"], num_attention_heads=4, num_hidden_layers=1, **members)
    rotary = LlamaRotaryEmbedding(config)
    results.append({"frequencies": rotary.inv_freq.tolist(), "amplitude": rotary.attention_scaling})
with open(sys.argv[2], "w") as file:
    json.dump(results, file)
