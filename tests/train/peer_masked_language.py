"""usage: peer_masked_language.py CONFIG_FOLDER OUT: writes OUT/model.safetensors of a random transformers BertForMaskedLM of that configuration, some masked
ids, and the loss and gradients that transformers has for them (dropout off)."""
import sys

import torch
from safetensors.torch import save_file
from transformers import AutoConfig, BertForMaskedLM

folder, out = sys.argv[1:]
config = AutoConfig.from_pretrained(folder)
torch.manual_seed(3)
model = BertForMaskedLM(config).eval()
with torch.no_grad():
    for name, p in model.named_parameters():
        if p.ndim == 1 and "predictions" in name:
            p.add_(0.1 * torch.randn_like(p))
model.save_pretrained(out)
lengths = [12, 7, 19]
ids = torch.zeros(len(lengths), max(lengths), dtype=torch.long)
labels = torch.full_like(ids, -100)
mask = torch.zeros_like(ids)
for row, length in enumerate(lengths):
    ids[row, :length] = torch.randint(5, config.vocab_size, (length,))
    mask[row, :length] = 1
    for i in range(1, length - 1, 3):
        labels[row, i] = ids[row, i]
        ids[row, i] = 4
loss = model(input_ids=ids, attention_mask=mask, labels=labels).loss
loss.backward()
wanted = {"ids": ids, "labels": labels, "mask": mask, "loss": loss.detach().reshape(1)}
for name, p in model.named_parameters():
    if p.grad is not None:
        wanted["grad." + name] = p.grad.contiguous()
save_file(wanted, out + "/wanted.safetensors")
