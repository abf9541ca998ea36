"""Faceter in a notebook: embed texts, score models, read the runs of a project.

Everything is done by the program `faceter`, which this package carries; it takes libtorch from the `torch` of this environment.

    >>> import faceter
    >>> vectors = faceter.embed(["a text", "another"], model="quickstart-mote", project="my-project", task="retrieval.document")
    >>> with faceter.Model("minilm") as model:       # stays loaded between calls
    ...     vectors = model.embed(["a text", "another"])
    >>> faceter.runs("my-project", where="variant = mote")
"""
from __future__ import annotations

import base64
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import weakref
from typing import IO, TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Optional, Union

if TYPE_CHECKING:
    import numpy

__all__ = ["FaceterError", "Model", "call", "embed", "evaluate", "runs"]


class FaceterError(RuntimeError):
    """What the program said, and its exit code (3 wrong settings, 4 wrong data or checkpoint, 5 failed, 7 out of memory ...)."""

    def __init__(self, code: int, message: str):
        super().__init__(message.strip() or f"faceter ended with {code}")
        self.code = code


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.metadata.version("faceter")
    raise AttributeError(name)


def _program(name: str = "faceter") -> pathlib.Path:
    return pathlib.Path(__file__).resolve().parent / "programs" / name


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
    to use, such as 'retrieval.document'. prefix: only the first elements (Matryoshka models). The model is opened at each call; Model keeps
    it.
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


_MOST_TEXTS, _MOST_CHARACTERS = 4096, 4_000_000  # of one request, whose line has at most 64 MiB, twelve bytes a character at worst
_EXIT_CODES = {"usage": 2, "settings": 3, "data": 4, "failed": 5, "cancelled": 6, "out_of_memory": 7, "peer_lost": 8}


def _in_requests(texts: List[str]) -> Iterator[List[str]]:
    part: List[str] = []
    characters = 0
    for text in texts:
        if part and (len(part) == _MOST_TEXTS or characters + len(text) > _MOST_CHARACTERS):
            yield part
            part, characters = [], 0
        part.append(text)
        characters += len(text)
    yield part  # also of no texts: the answer says how wide a vector is


def _end(owner: int, process: "subprocess.Popen[bytes]", errors: IO[bytes]) -> None:
    if owner != os.getpid():  # a fork ends, and the model is its parent's
        return
    for pipe in (process.stdin, process.stdout):
        if pipe:
            try:
                pipe.close()
            except OSError:  # what it had not read
                pass
    process.terminate()
    process.wait()
    errors.close()


_after_fork = threading.Lock()  # a thread that held it may not be in the fork


def _renew_lock() -> None:
    global _after_fork
    _after_fork = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


class Model:
    """A model that stays open: `faceter-worker session` runs beside this process and answers each embed() at once.

    model, project, compute, max_length, threads, device: as of embed(). The model is opened by the first embed(), with all of its tasks.
    close() ends it, as does the end of a `with` block or of this process. Threads may share one; a process that was forked from this one
    opens the model again for itself, at its first embed().

        >>> with faceter.Model("quickstart-mote", project="my-project") as model:
        ...     query = model.embed(["how do I ...?"], task="retrieval.query")
        ...     documents = model.embed(texts, task="retrieval.document")
    """

    def __init__(self, model: str, *, project: Optional[str] = None, compute: Optional[str] = None, max_length: Optional[int] = None,
                 threads: Optional[int] = None, device: Optional[str] = None):
        asked = {"project": None if project is None else str(project), "compute": compute, "max_length": max_length, "threads": threads,
                 "device": device}
        self._params = {"model": _checked_name(model, "model"), **{name: value for name, value in asked.items() if value is not None}}
        self._lock = threading.Lock()
        self._asked = 0
        self._start()

    def _start(self) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()
        # In a session of its own: Ctrl-C is for this process, which ends it and starts another.
        self._process = subprocess.Popen([str(_program("faceter-worker")), "session"], env=_environment(), stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=self._errors, start_new_session=True)
        self._finalizer = weakref.finalize(self, _end, os.getpid(), self._process, self._errors)
        self._owner = os.getpid()  # last: who reads it finds the others

    def embed(self, texts: Iterable[str], *, task: Optional[str] = None, instruction: Optional[str] = None) -> "numpy.ndarray[Any, Any]":
        """Embeddings of the texts in their order: a NumPy array, float32 [N, D]. task, instruction: as of faceter.embed()."""
        checked = _checked_texts(texts)
        import numpy

        asked = {name: value for name, value in (("task", task), ("instruction", instruction)) if value is not None}
        rows = []
        for part in _in_requests(checked):
            result = self._ask("embed", {**self._params, **asked, "texts": part, "encoding_format": "base64"})
            rows.append(numpy.frombuffer(base64.b64decode(result["vectors"]), dtype="<f4").reshape(len(part), result["dim"]))
        return numpy.concatenate(rows).astype(numpy.float32, copy=False)

    def close(self) -> None:
        """Ends the program. What is asked afterwards is an error."""
        self._finalizer()

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def _start_after_fork(self) -> None:
        """The pipes are those of the parent, whose answers would be taken for ours; its lock may be held by a thread that is not here."""
        self._inherited = self._process  # whose pipes lead nowhere from here on, also what is buffered in them
        nowhere = os.open(os.devnull, os.O_RDWR)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe and not pipe.closed:
                os.dup2(nowhere, pipe.fileno(), inheritable=False)
        os.close(nowhere)
        self._lock = threading.Lock()
        self._finalizer.detach()
        self._start()

    def _ask(self, method: str, params: Dict[str, Any]) -> Dict[str, Any]:
        if self._owner != os.getpid():
            with _after_fork:
                if self._owner != os.getpid() and self._finalizer.alive:
                    self._start_after_fork()
        with self._lock:
            if not self._finalizer.alive:
                raise FaceterError(2, "this model was closed; open another Model")
            self._asked += 1
            try:
                self._send({"id": self._asked, "method": method, "params": params})
                return self._answer(self._asked)
            except FaceterError:
                raise
            except BaseException:  # a signal's, say: half a request cannot be taken back, nor half an answer
                if self._finalizer.alive:  # not closed meanwhile by another thread
                    self.close()
                    self._start()
                raise

    def _send(self, message: Dict[str, Any]) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None

    def _answer(self, number: int) -> Dict[str, Any]:
        """Past what it says of its progress."""
        assert self._process.stdout
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") in (number, None) and "error" in message:
                raise FaceterError(_EXIT_CODES.get(message["error"]["code"], 5), message["error"]["message"])
            if message.get("id") == number and "result" in message:
                result: Dict[str, Any] = message["result"]
                return result
        raise self._ended()

    def _ended(self) -> FaceterError:
        code = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip()
        self.close()
        return FaceterError(code if code > 0 else 5, said or f"faceter-worker ended with {code}")


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
