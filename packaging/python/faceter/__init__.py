"""Faceter in a notebook: embed texts, score models, read the runs of a project.

Everything is done by the program `faceter`, which this package carries; it takes libtorch from the `torch` of this environment.

    >>> import faceter
    >>> vectors = faceter.embed(["a text", "another"], model="quickstart-mote", project="my-project", task="retrieval.document")
    >>> faceter.runs("my-project", where="variant = mote")
"""
from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Union

if TYPE_CHECKING:
    import numpy

__all__ = ["FaceterError", "call", "embed", "evaluate", "runs"]


class FaceterError(RuntimeError):
    """What the program said, and its exit code (3 wrong settings, 4 wrong data or checkpoint, 5 failed, 7 out of memory ...)."""

    def __init__(self, code: int, message: str):
        super().__init__(message.strip() or f"faceter ended with {code}")
        self.code = code


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.metadata.version("faceter")
    raise AttributeError(name)


def _program() -> pathlib.Path:
    return pathlib.Path(__file__).resolve().parent / "programs" / "faceter"


def _environment() -> Dict[str, str]:
    found = importlib.util.find_spec("torch")
    torch = {"FACETER_TORCH": found.submodule_search_locations[0]} if found and found.submodule_search_locations else {}
    return {**torch, **os.environ}


def call(*arguments: Any) -> str:
    """Runs `faceter ARGUMENT...` and returns what it prints. It asks nothing. Raises FaceterError where it fails."""
    result = subprocess.run([str(_program()), *map(str, arguments)], env=_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
    if result.returncode:
        raise FaceterError(result.returncode, result.stderr)
    return result.stdout


def _options(**options: Any) -> List[str]:
    words: List[str] = []
    for name, value in options.items():
        if value is not None:
            words += ["--" + name.replace("_", "-"), str(value)]
    return words


def _checked_name(value: Any, what: str) -> str:
    """str(None) would be looked up as a model of that name."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{what} is {type(value).__name__}; give a name or a folder")
    return os.fspath(value)


def _checked_texts(texts: Iterable[str]) -> List[str]:
    """A text alone would be taken for its letters."""
    if isinstance(texts, (str, bytes)):
        raise TypeError("embed() takes a list of texts, and this is one text; give [text]")
    texts = list(texts)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"texts[{i}] is {type(text).__name__}, not str")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(f"texts[{i}] has half of a character at {error.start} (a surrogate), which no UTF-8 holds; "
                             "text.encode('utf-8', 'replace').decode() has another in its place") from None
    return texts


def embed(texts: Iterable[str], model: str, *, task: Optional[str] = None, instruction: Optional[str] = None, project: Optional[str] = None,
          compute: Optional[str] = None, max_length: Optional[int] = None, threads: Optional[int] = None, device: Optional[str] = None,
          prefix: Optional[int] = None) -> "numpy.ndarray[Any, Any]":
    """Embeddings of the texts in their order: a NumPy array, float32 [N, D].

    model: a Hugging Face folder, 'minilm', org/name, a run folder, or (with project) the name of a run. task: whose instruction and expert
    to use, such as 'retrieval.document'. prefix: only the first elements (Matryoshka models).
    """
    texts, model = _checked_texts(texts), _checked_name(model, "model")
    import numpy

    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "texts.jsonl"), pathlib.Path(folder, "vectors.npy")
        with source.open("w", encoding="utf-8") as file:
            for text in texts:
                file.write(json.dumps({"text": text}) + "\n")
        call("embed", "--model", model, "--output", target, source,
             *_options(task=task, instruction=instruction, project=project, compute=compute, max_length=max_length, threads=threads,
                       device=device, prefix=prefix))
        vectors: "numpy.ndarray[Any, Any]" = numpy.load(target)
        return vectors


def evaluate(model: str, data: Union[str, os.PathLike, Iterable[Union[str, os.PathLike]]], *, task: Optional[str] = None,
             project: Optional[str] = None, compute: Optional[str] = None, threads: Optional[int] = None,
             device: Optional[str] = None) -> Any:
    """Scores by MTEB's protocols on a folder of evaluation data, or several, as `faceter evaluate --json` prints them."""
    model = _checked_name(model, "model")
    several = [data] if isinstance(data, (str, os.PathLike)) else list(data)
    if not several:
        raise ValueError("evaluate() has no data to score on, as data is empty; give a folder of evaluation data, or a list of them")
    folders = [word for folder in several for word in ("--data", str(folder))]
    return json.loads(call("evaluate", "--model", model, *folders, "--json",
                           *_options(task=task, project=project, compute=compute, threads=threads, device=device)))


def runs(project: str, *, where: Optional[str] = None) -> List[Dict[str, Any]]:
    """The runs of a project, each a dictionary of what `faceter list` shows; where: only those that an expression is true of."""
    listed = call("list", "--project", _checked_name(project, "project"), "--json", *_options(where=where))
    found: List[Dict[str, Any]] = json.loads(listed)["runs"]
    return found


def main() -> None:
    """The program `faceter` of this environment."""
    os.execve(_program(), [str(_program()), *sys.argv[1:]], _environment())
