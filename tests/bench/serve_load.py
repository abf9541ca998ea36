"""What serving costs beside embedding: WORKER [MODEL] [--texts N] [--clients N]. Loopback only, the standard library alone.

Clients send single texts to `faceter-worker serve`; the user CPU seconds a text of the server alone (start and loading taken off) are put beside those of
`faceter-worker embed` on the same texts, in turn, three times. CPU seconds, since a busy machine lies about time.
"""

import argparse
import http.client
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import tempfile
import threading
from pathlib import Path

WORDS = "model text vector query document cat river stone engine winter garden light forest market bridge paper house music".split()


def texts_of(count, words):
    drawn = random.Random(1)
    return [" ".join(drawn.choice(WORDS) for _ in range(words)) for _ in range(count)]


def cpu_seconds(pid):
    """User seconds of a process that lives."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")


def ask(port, model, texts):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for text in texts:
        connection.request("POST", "/v1/embeddings", json.dumps({"model": model, "input": text}), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {body[:200]}")
    connection.close()


def served(worker, model, texts, clients):
    with subprocess.Popen([worker, "serve", model, "--port", "0", "--threads", "1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            port = int(server.stdout.readline().rsplit(":", 1)[1])
            ask(port, "", texts[:8])
            before = cpu_seconds(server.pid)
            threads = [threading.Thread(target=ask, args=(port, "", texts[i::clients])) for i in range(clients)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return (cpu_seconds(server.pid) - before) / len(texts)
        finally:
            server.send_signal(signal.SIGTERM)


def embedded(worker, model, texts):
    def seconds(some):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "texts.txt"
            file.write_text("\n".join(some) + "\n")
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run([worker, "embed", "--model", model, "--threads", "1", "--output", f"{folder}/v.npy", str(file)], check=True, capture_output=True)
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    return (seconds(texts) - seconds(texts[:8])) / (len(texts) - 8)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worker")
    parser.add_argument("model", nargs="?", default="minilm")
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--words", type=int, default=24)
    parser.add_argument("--clients", type=int, default=16)
    options = parser.parse_args()
    texts = texts_of(options.texts, options.words)
    ratios = []
    for turn in range(3):
        server, offline = served(options.worker, options.model, texts, options.clients), embedded(options.worker, options.model, texts)
        ratios.append(server / offline)
        print(f"{turn + 1}: serve {1e3 * server:.2f} ms of user CPU a text, embed {1e3 * offline:.2f} ms, {server / offline:.2f} of it", flush=True)
    print(f"median of the three: {statistics.median(ratios):.2f} ({options.clients} clients, single texts of {options.words} words, {options.model})")


if __name__ == "__main__":
    main()
