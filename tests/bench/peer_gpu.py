#!/usr/bin/env python3
"""The peer of gpu.py on one GPU: what PyTorch and sentence-transformers make of the same model, batch and texts in bfloat16.
Prints a JSON object a row.

    HF_HUB_OFFLINE=1 python3 peer_gpu.py --model FOLDER --compile

st train:     SentenceTransformerTrainer as users run it: bf16 autocast, MultipleNegativesRankingLoss, fused AdamW, sdpa, padded batches.
varlen train: BERT over packed tokens with torch's varlen_attn, bf16 weights with float32 masters, fused AdamW; texts tokenised ahead of
              time. Without dropout of attention weights, which varlen_attn cannot do. With --compile once more under torch.compile.
st embed:     SentenceTransformer.encode, model in bf16, texts up to the length that the folder says.

A training figure is the median over the steps behind the first five. FOLDER is a BERT with a tokenizer, as make_bert_base.py makes it."""
import argparse
import gc
import json
import os
import random
import statistics
import tempfile
import time
import traceback

os.environ.setdefault("HF_HUB_OFFLINE", "1")
began = time.perf_counter()
import numpy as np
import torch
import torch.nn.functional as F
import transformers
from sentence_transformers import SentenceTransformer
from torch import nn

IMPORT_S = time.perf_counter() - began
PROMPTS = {"query": "search query: ", "document": "search document: "}
WARM_UP = 5
SCALE = 20.0  # one over the temperature of 0.05


def made_pairs(count, words):
    """gpu.py's texts."""
    source = random.Random(3)
    vocabulary = ["".join(source.choices("abcdefghijklmnoprstuvw", k=source.randint(3, 7))) for _ in range(2000)]
    for _ in range(count):
        shared = source.choices(vocabulary, k=words // 2)
        query, document = (shared + source.choices(vocabulary, k=words - words // 2) for _ in range(2))
        yield " ".join(query), " ".join(document)


def now(options):
    """Seconds on the clock, once the device has done all of its work."""
    if options.device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def memory(options):
    if options.device != "cuda":
        return {}
    return {"peak GiB": torch.cuda.max_memory_allocated() / 2 ** 30, "reserved GiB": torch.cuda.max_memory_reserved() / 2 ** 30}


def trained(options, stamps, tokens_per_pair, loss):
    """A row from the clock before the first step and behind every step."""
    seconds = [end - start for start, end in zip(stamps, stamps[1:])]
    kept = seconds[WARM_UP:]
    pairs = options.batch / statistics.median(kept)
    return {"pairs/s": pairs, "tokens/s": pairs * tokens_per_pair, **memory(options), "first step s": seconds[0],
            "step s": [statistics.median(kept), min(kept), max(kept)], "tokens a pair": tokens_per_pair, "loss": loss}


def token_ids(options, texts):
    tokenizer = transformers.AutoTokenizer.from_pretrained(options.model)
    return tokenizer(texts, truncation=True, max_length=options.length, padding=False)["input_ids"]


def st_train(options):
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.losses import MultipleNegativesRankingLoss

    queries, documents = zip(*made_pairs(options.batch * (options.steps + 2), options.length // 2))
    sample = [PROMPTS["query"] + text for text in queries[:2000]] + [PROMPTS["document"] + text for text in documents[:2000]]
    tokens = 2 * statistics.mean(map(len, token_ids(options, sample)))
    model = SentenceTransformer(options.model, device=options.device, model_kwargs={"dtype": torch.float32, "attn_implementation": "sdpa"})
    model.max_seq_length = options.length
    stamps = []

    class Clock(transformers.TrainerCallback):
        def on_train_begin(self, *args, **kwargs):
            stamps.append(now(options))

        def on_step_end(self, *args, **kwargs):
            stamps.append(now(options))

    with tempfile.TemporaryDirectory(prefix="peer_gpu") as folder:
        arguments = SentenceTransformerTrainingArguments(
            output_dir=folder, max_steps=options.steps, per_device_train_batch_size=options.batch, bf16=True, optim="adamw_torch_fused",
            learning_rate=2e-5, max_grad_norm=1.0, prompts=PROMPTS, dataloader_num_workers=options.workers, dataloader_drop_last=True,
            eval_strategy="no", save_strategy="no", logging_strategy="no", report_to="none", disable_tqdm=True,
            use_cpu=options.device == "cpu")
        data = Dataset.from_dict({"query": queries, "document": documents})
        loss = MultipleNegativesRankingLoss(model, scale=SCALE)
        trainer = SentenceTransformerTrainer(model=model, args=arguments, train_dataset=data, loss=loss, callbacks=[Clock()])
        loss = trainer.train().training_loss
    return trained(options, stamps, tokens, loss)


def attend(query, key, value, starts, longest):
    """Attention within each packed text: all of them [tokens, heads, width]."""
    if query.is_cuda:
        from torch.nn.attention.varlen import varlen_attn
        return varlen_attn(query, key, value, starts, starts, longest, longest)
    return attend_slowly(query, key, value, starts)


@torch.compiler.disable
def attend_slowly(query, key, value, starts):
    """The same text by text, for trying this file without a GPU."""
    bounds = starts.tolist()
    texts = [[x[start:end].transpose(0, 1)[None] for x in (query, key, value)] for start, end in zip(bounds, bounds[1:])]
    return torch.cat([F.scaled_dot_product_attention(*text)[0].transpose(0, 1) for text in texts])


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, inner = config.hidden_size, config.intermediate_size
        self.heads, self.dropout = config.num_attention_heads, config.hidden_dropout_prob
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm, self.last = nn.LayerNorm(width, config.layer_norm_eps), nn.LayerNorm(width, config.layer_norm_eps)

    def forward(self, x, starts, longest):
        query, key, value = self.qkv(x).view(-1, 3, self.heads, x.shape[1] // self.heads).unbind(1)
        attended = self.out(attend(query, key, value, starts, longest).reshape(x.shape))
        x = self.norm(x + F.dropout(attended, self.dropout, self.training))
        return self.last(x + F.dropout(self.down(F.gelu(self.up(x))), self.dropout, self.training))


class Bert(nn.Module):
    """BERT over packed tokens, mean pooled, in float32 with the folder's weights to begin with."""
    def __init__(self, folder):
        super().__init__()
        source = transformers.BertModel.from_pretrained(folder, dtype=torch.float32)
        config, given = source.config, source.state_dict()
        assert config.hidden_act == "gelu", config.hidden_act
        self.dropout = config.hidden_dropout_prob
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        self.positions = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.kind = nn.Parameter(torch.empty(config.hidden_size))
        self.norm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        outer = {"words": "word_embeddings", "positions": "position_embeddings", "norm": "LayerNorm"}
        inner = {"out": "attention.output.dense", "norm": "attention.output.LayerNorm", "up": "intermediate.dense", "down": "output.dense",
                 "last": "output.LayerNorm"}
        names = {ours: f"embeddings.{theirs}" for ours, theirs in outer.items()}
        for i in range(config.num_hidden_layers):
            names |= {f"layers.{i}.{ours}": f"encoder.layer.{i}.{theirs}" for ours, theirs in inner.items()}
        state = {f"{ours}.{part}": given[f"{theirs}.{part}"] for ours, theirs in names.items() for part in ("weight", "bias")
                 if f"{theirs}.{part}" in given}
        state["kind"] = given["embeddings.token_type_embeddings.weight"][0]
        for i in range(config.num_hidden_layers):
            for part in ("weight", "bias"):
                three = [given[f"encoder.layer.{i}.attention.self.{name}.{part}"] for name in ("query", "key", "value")]
                state[f"layers.{i}.qkv.{part}"] = torch.cat(three)
        self.load_state_dict(state)

    def forward(self, ids, positions, owners, starts, count, longest):
        x = self.norm(self.words(ids) + self.positions(positions) + self.kind)
        x = F.dropout(x, self.dropout, self.training)
        for layer in self.layers:
            x = layer(x, starts, longest)
        sums = torch.zeros(count, x.shape[1], device=x.device).index_add(0, owners, x.float())
        return sums / (starts[1:] - starts[:-1])[:, None]


def packed(texts):
    """The token ids, positions, owning texts and starts of texts without padding."""
    lengths = np.array([len(text) for text in texts])
    starts = np.concatenate(([0], lengths.cumsum()))
    owners = np.repeat(np.arange(len(texts)), lengths)
    positions = np.arange(starts[-1]) - starts[owners]
    return [torch.from_numpy(x) for x in (np.concatenate(texts).astype(np.int64), positions, owners, starts.astype(np.int32))]


def varlen_train(options, compiled=False):
    torch.manual_seed(1)
    queries, documents = zip(*made_pairs(options.batch * options.steps, options.length // 2))
    queries = token_ids(options, [PROMPTS["query"] + text for text in queries])
    documents = token_ids(options, [PROMPTS["document"] + text for text in documents])
    spans = [slice(i, i + options.batch) for i in range(0, len(queries), options.batch)]
    batches = [packed(queries[span] + documents[span]) for span in spans]
    if options.device == "cuda":
        batches = [[x.pin_memory() for x in batch] for batch in batches]
    model = Bert(options.model).to(options.device).train()
    masters = [nn.Parameter(weight.detach().clone()) for weight in model.parameters()]
    for master in masters:
        master.grad = torch.zeros_like(master)
    model.to(torch.bfloat16)
    weights = list(model.parameters())
    optimizer = torch.optim.AdamW(masters, lr=2e-5, fused=True)
    encode = torch.compile(model) if compiled else model
    sizes = {len(batch[0]) for batch in batches}
    targets = torch.arange(options.batch, device=options.device)
    stamps = [now(options)]
    for batch in batches:
        batch = [x.to(options.device, non_blocking=True) for x in batch]
        if compiled and len(sizes) > 1:
            for x in batch[:3]:
                torch._dynamo.mark_dynamic(x, 0)
        embeddings = F.normalize(encode(*batch, 2 * options.batch, options.length), dim=1)
        loss = F.cross_entropy(embeddings[: options.batch] @ embeddings[options.batch :].T * SCALE, targets)
        loss.backward()
        torch._foreach_copy_([master.grad for master in masters], [weight.grad for weight in weights])
        nn.utils.clip_grad_norm_(masters, 1.0)
        optimizer.step()
        with torch.no_grad():
            torch._foreach_copy_(weights, masters)
        for weight in weights:
            weight.grad = None
        stamps.append(now(options))
    return trained(options, stamps, sum(len(batch[0]) for batch in batches) / options.batch / options.steps, loss.item())


def st_embed(options, batch):
    texts = [document for _, document in made_pairs(options.texts, options.length)]
    start = now(options)
    model = SentenceTransformer(options.model, device=options.device, model_kwargs={"dtype": torch.bfloat16, "attn_implementation": "sdpa"})
    model.encode(texts[:batch], batch_size=batch, show_progress_bar=False)
    loaded = now(options)
    embeddings = model.encode(texts, batch_size=batch, show_progress_bar=False)
    done = now(options)
    assert len(embeddings) == len(texts) and np.isfinite(embeddings).all()
    texts_s, kinds = len(texts) / (done - loaded), {str(weight.dtype) for weight in model.parameters()}
    ids = model.tokenizer(texts[:1000], truncation=True, max_length=model.max_seq_length, padding=False)["input_ids"]
    tokens = statistics.mean(map(len, ids))
    return {"texts/s": texts_s, "texts/s with imports and load": len(texts) / (done - start + IMPORT_S), "tokens/s": tokens * texts_s,
            **memory(options), "tokens a text": tokens, "imports s": IMPORT_S, "load s": loaded - start, "weights": sorted(kinds)}


def measured(options, what, function, *arguments):
    """Prints one row, or its error, and leaves the device's memory free."""
    try:
        row = function(options, *arguments)
    except Exception as error:
        traceback.print_exc()
        row = {"error": f"{type(error).__name__}: {error}"[:1000]}
    print(json.dumps({"what": what} | row), flush=True)
    torch.compiler.reset()
    gc.collect()
    if options.device == "cuda":
        try:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        except Exception:  # what broke the device has its row above, and so will every row from here on
            traceback.print_exc()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a BERT's folder")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--texts", type=int, default=100000)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--workers", type=int, default=4, help="processes that tokenise for SentenceTransformerTrainer")
    parser.add_argument("--compile", action="store_true", help="varlen train under torch.compile too")
    parser.add_argument("--only", default="st,varlen,embed")
    options = parser.parse_args()
    if options.steps <= WARM_UP:
        parser.error(f"--steps: more than {WARM_UP}")
    only = options.only.split(",")
    device = torch.cuda.get_device_name() if options.device == "cuda" else "cpu"
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    print(json.dumps({"what": "machine", "device": device, **versions}), flush=True)
    if "varlen" in only:
        measured(options, "varlen train", varlen_train)
    if "st" in only:
        measured(options, "st train", st_train)
    if "embed" in only:
        for batch in (128, 512):
            measured(options, f"st embed, batch {batch}", st_embed, batch)
    if "varlen" in only and options.compile:
        measured(options, "varlen train, compiled", varlen_train, True)


if __name__ == "__main__":
    main()
