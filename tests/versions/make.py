#!/usr/bin/env python3
"""Writes what this version of Faceter leaves on a disk, so that later versions can be held to open it:

    tests/versions/make.py build/release/bin/faceter tests/versions/0.1.0

A tiny random BERT, texts, a project with a finished run of each method that shapes a model and one that was stopped, exported folders, and
the embeddings that each gave. Paths stand as @FOLDER@. Never run it over a folder that a released version wrote.
"""
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

WIDTH, LAYERS, INNER, POSITIONS = 8, 2, 12, 24
LETTERS = "abcdefghijklmnop"
WORDS = [a + b + c + d for a, c in ("bd", "fg", "kl", "mn") for b, d in ("ae", "oi", "eo", "ia", "oo", "ee")]
METHODS = {
    "mote": {"method": "mote", "placement": "every"},
    "lora": {"method": "task_lora", "rank": 2},
    "routed": {"method": "token_routed_moe", "experts": 2},
    "gates": {"method": "router_retriever", "rank": 2},
    "encoders": {"method": "specialists"},
}


def values(rng, name, *shape):
    count = 1
    for size in shape:
        count *= size
    spread = 1.2 / shape[-1] ** 0.5 if len(shape) > 1 else 0.1
    centre = 1.0 if len(shape) == 1 and name.endswith(".weight") else 0.0
    return name, shape, struct.pack(f"<{count}f", *(rng.gauss(centre, spread) for _ in range(count)))


def tensors(rng, vocabulary):
    yield values(rng, "embeddings.word_embeddings.weight", vocabulary, WIDTH)
    yield values(rng, "embeddings.position_embeddings.weight", POSITIONS, WIDTH)
    yield values(rng, "embeddings.token_type_embeddings.weight", 2, WIDTH)
    norms = ["embeddings.LayerNorm"]
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}."
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            yield values(rng, layer + part + ".weight", WIDTH, WIDTH)
            yield values(rng, layer + part + ".bias", WIDTH)
        yield values(rng, layer + "intermediate.dense.weight", INNER, WIDTH)
        yield values(rng, layer + "intermediate.dense.bias", INNER)
        yield values(rng, layer + "output.dense.weight", WIDTH, INNER)
        yield values(rng, layer + "output.dense.bias", WIDTH)
        norms += [layer + "attention.output.LayerNorm", layer + "output.LayerNorm"]
    for norm in norms:
        yield values(rng, norm + ".weight", WIDTH)
        yield values(rng, norm + ".bias", WIDTH)


def write_safetensors(path, parts):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, shape, content in parts:
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n")


def write_model(folder):
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *("##" + letter for letter in LETTERS), *WORDS]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": POSITIONS})
    write_json(folder / "config.json", {
        "architectures": ["BertModel"], "model_type": "bert", "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": 2,
        "intermediate_size": INNER, "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "vocab_size": len(vocabulary),
        "hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": 0, "torch_dtype": "float32"})
    write_json(folder / "modules.json", [
        {"idx": i, "name": str(i), "path": path, "type": "sentence_transformers.models." + kind}
        for i, (path, kind) in enumerate([("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")])])
    write_json(folder / "1_Pooling/config.json", {"word_embedding_dimension": WIDTH, "pooling_mode_mean_tokens": True})
    write_safetensors(folder / "model.safetensors", tensors(random.Random(1), len(vocabulary)))


def write_texts(folder):
    rng = random.Random(2)
    sentence = lambda length: " ".join(rng.choice(WORDS) for _ in range(length))
    folder.mkdir()
    pairs = [(query, query + " " + sentence(3)) for query in (sentence(3) for _ in range(24))]
    labelled = [{"text": sentence(4), "label": i % 2, "label_text": f"topic {i % 2}"} for i in range(24)]
    lines = lambda records: "".join(json.dumps(record) + "\n" for record in records)
    (folder / "pairs.jsonl").write_text(lines({"query": query, "document": document} for query, document in pairs))
    (folder / "topics.jsonl").write_text(lines(labelled))
    (folder / "embed.jsonl").write_text(lines({"text": sentence(length)} for length in (1, 2, 5, 30)))
    write_json(folder / "similar/dataset.json", {"name": "similar", "task": "sts"})
    (folder / "similar/test.jsonl").write_text(
        lines({"sentence1": query, "sentence2": document, "score": i % 5} for i, (query, document) in enumerate(pairs[:12])))


def experiment(folder, steps):
    data = lambda name, more={}: [{"name": name, "source": "file", "path": f"{folder}/texts/{name}.jsonl", **more}]
    return {
        "name": "kept", "model": f"{folder}/model", "max_length": 16, "threads": 1,
        "tasks": {
            "retrieval": {"instructions": {"query": WORDS[0] + " ", "document": WORDS[1] + " "}, "train": data("pairs")},
            "classification": {"instructions": {"text": WORDS[2] + " "}, "train": data("topics", {"format": "labelled"})}},
        "variants": METHODS,
        "training": {"batch_size": 4, "steps": steps, "learning_rate": 1e-3, "checkpoint_every_steps": 1000000, "keep_checkpoints": 1},
        "evaluation": {"baseline": False, "datasets": [{"name": "similar", "source": "folder", "path": f"{folder}/texts/similar"}]}}


def call(*arguments):
    done = subprocess.run([str(argument) for argument in arguments], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def wait_for_step(run):
    journal = run / "journal/1/rank-0.jsonl"
    while not journal.exists() or '"step"' not in journal.read_text():
        time.sleep(0.005)


def make_stopped(faceter, folder, project):
    """A run that was told to stop after a few steps: it has a checkpoint and goes on from there."""
    settings = {**experiment(folder, 1000), "name": "stopped", "variants": {"mote": METHODS["mote"]}}
    settings["training"]["batch_size"] = 24
    write_json(folder / "stopped.yaml", settings)
    runs = json.loads(call(faceter, "run", folder / "stopped.yaml", "--project", project, "--detach", "--json"))["runs"]
    run = pathlib.Path(runs[0]["folder"])
    wait_for_step(run)
    call(faceter, "stop", run.name, "--project", project)
    while '"stopped"' not in (run / "journal/1/rank-0.jsonl").read_text():
        time.sleep(0.05)
    return run


def make_finished(faceter, folder, project):
    write_json(folder / "kept.yaml", experiment(folder, 4))
    runs = json.loads(call(faceter, "run", folder / "kept.yaml", "--project", project, "--json"))["runs"]
    for run in (pathlib.Path(run["folder"]) for run in runs):
        variant = json.loads((run / "run.json").read_text())["variant"]
        shutil.rmtree(run / "checkpoints", ignore_errors=True)
        route = ["--task", "retrieval.query"] if variant in ("lora", "encoders") else []
        call(faceter, "export", run.name, folder / "exports" / variant, "--project", project, *route)
        (folder / "vectors").mkdir(exist_ok=True)
        call(faceter, "embed", "--threads", 1, "--model", run.name, "--project", project, "--task", "retrieval.query", "--output",
             folder / "vectors" / (variant + ".npy"), folder / "texts/embed.jsonl")


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def journal_line(event):
    """As the journal writes it (core/record/journal.cpp), without what tells one machine from another."""
    for key in ("crc", "pid_start", "machine_id", "pid_namespace", "host", "pid"):
        event.pop(key, None)
    if "machine" in event:
        event["machine"] = {}
    body = json.dumps(event, separators=(",", ":"), ensure_ascii=False)[:-1]
    return f'{body},"crc":"{crc32c(body.encode()):08x}"}}\n'


def leave_out_this_machine(folder, programs):
    """Paths, and what says where and on what it was made."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".json", ".jsonl", ".yaml", ".txt") or not path.is_file():
            continue
        text = path.read_text().replace(str(folder), "@FOLDER@").replace(str(programs), "@PROGRAMS@")
        if path.name.startswith("rank-"):
            text = "".join(journal_line(json.loads(line)) for line in text.splitlines())
        path.write_text(text)


def main():
    faceter, target = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    if target.exists():
        sys.exit(f"{target} is there already")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "kept"
        folder.mkdir()
        write_model(folder / "model")
        write_texts(folder / "texts")
        make_finished(faceter, folder, folder / "project")
        make_stopped(faceter, folder, folder / "project")
        time.sleep(1)  # the supervisor writes how the run ended
        leave_out_this_machine(folder, faceter.parent)
        ignored = shutil.ignore_patterns("*.sqlite*", "logs", "control", "done", "ended", "*.lock", "lock", "log")
        shutil.copytree(folder, target, ignore=ignored)


main()
