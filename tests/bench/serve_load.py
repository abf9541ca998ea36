"""What serving costs beside embedding: WORKER [MODEL] [--texts N] [--clients N] [--peers PYTHON]. Loopback only, the standard library alone.

Clients send single texts to `faceter-worker serve`. User CPU seconds a text of the server alone, and texts a second (start and loading taken off both),
are put beside those of `faceter-worker embed` on the same texts, in turn, three times. Then a request's time alone, and at half of the load that the clients
made, at moments drawn beforehand: the time counts from the moment that was drawn, so a server that falls behind does not look fast. --peers: the same of
sentence-transformers behind uvicorn (peer_serve.py; MODEL is a folder then), in turn. CPU seconds stand on a busy machine too; times do not.
"""

import argparse
import http.client
import json
import math
import os
import random
import resource
import signal
import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

WORDS = "model text vector query document cat river stone engine winter garden light forest market bridge paper house music".split()


def texts_of(count, words):
    drawn = random.Random(1)
    return [" ".join(drawn.choice(WORDS) for _ in range(words)) for _ in range(count)]


def cpu_seconds(pid):
    """User seconds of a process that lives."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")


def request(connection, text):
    """Seconds until the whole answer is there."""
    began = time.monotonic()
    connection.request("POST", "/v1/embeddings", json.dumps({"model": "", "input": text}), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{answer.status}: {body[:200]}")
    return time.monotonic() - began


def ask(port, texts):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    seconds = [request(connection, text) for text in texts]
    connection.close()
    return seconds


def ask_at(port, texts, moments):
    """Seconds from each moment to its answer, late starts included."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.connect()
    seconds = []
    for text, moment in zip(texts, moments):
        time.sleep(max(0.0, moment - time.monotonic()))
        request(connection, text)
        seconds.append(time.monotonic() - moment)
    connection.close()
    return seconds


def together(calls):
    """What each gives, run at once; an error of one is an error."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(*call) for call in calls]]


def p99(seconds):
    return sorted(seconds)[max(0, math.ceil(0.99 * len(seconds)) - 1)]


def half_load(port, texts, rate, clients):
    """Requests at random moments (exponential gaps), `rate` of them a second over all clients."""
    drawn, moment, moments = random.Random(2), time.monotonic() + 0.5, []
    for _ in texts:
        moment += drawn.expovariate(rate)
        moments.append(moment)
    lists = together([(ask_at, port, texts[i::clients], moments[i::clients]) for i in range(clients)])
    return [seconds for one in lists for seconds in one]


def served(command, texts, clients):
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}) as server:
        try:
            port = int(server.stdout.readline().rsplit(":", 1)[1])
            ask(port, texts[:8])
            cpu, began = cpu_seconds(server.pid), time.monotonic()
            together([(ask, port, texts[i::clients]) for i in range(clients)])
            found = {"cpu": (cpu_seconds(server.pid) - cpu) / len(texts), "rate": len(texts) / (time.monotonic() - began)}
            alone = ask(port, texts[: max(20, len(texts) // 10)])
            loaded = half_load(port, texts, found["rate"] / 2, 4 * clients)
            return {**found, "alone": statistics.median(alone), "p99": p99(loaded)}
        finally:
            server.send_signal(signal.SIGTERM)


def embedded(worker, model, texts):
    def seconds(some):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "texts.txt"
            file.write_text("\n".join(some) + "\n")
            cpu, began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.monotonic()
            subprocess.run([worker, "embed", "--model", model, "--threads", "1", "--output", f"{folder}/v.npy", str(file)], check=True, capture_output=True)
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - cpu, time.monotonic() - began

    (cpu, wall), (cpu_few, wall_few) = seconds(texts), seconds(texts[:8])
    count = len(texts) - 8
    return {"cpu": (cpu - cpu_few) / count, "rate": count / (wall - wall_few)}


def say(name, found, offline):
    print(f"   {name}: {1e3 * found['cpu']:.2f} ms of user CPU a text ({found['cpu'] / offline['cpu']:.2f} of embed's), {found['rate']:.0f} texts/s "
          f"({found['rate'] / offline['rate']:.2f} of embed's), alone {1e3 * found['alone']:.1f} ms, p99 at half load {1e3 * found['p99']:.1f} ms "
          f"({found['p99'] / found['alone']:.1f} times)", flush=True)


def one_turn(servers, options, texts):
    offline = embedded(options.worker, options.model, texts)
    print(f"   embed: {1e3 * offline['cpu']:.2f} ms of user CPU a text, {offline['rate']:.0f} texts/s", flush=True)
    ratios = {}
    for name, command in servers.items():
        found = served(command, texts, options.clients)
        say(name, found, offline)
        ratios[name] = (found["cpu"] / offline["cpu"], found["rate"] / offline["rate"], found["p99"] / found["alone"])
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worker")
    parser.add_argument("model", nargs="?", default="minilm")
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--words", type=int, default=24)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--peers", help="a Python with sentence-transformers and uvicorn (packaging/setup.sh --peers)")
    options = parser.parse_args()
    servers = {"faceter serve": [options.worker, "serve", options.model, "--port", "0", "--threads", "1"]}
    if options.peers:
        servers["sentence-transformers, uvicorn"] = [options.peers, str(Path(__file__).with_name("peer_serve.py")), options.model]
    texts = texts_of(options.texts, options.words)
    turns = []
    for turn in range(3):
        print(f"{turn + 1}:")
        turns.append(one_turn(servers, options, texts))
    print(f"medians of the three ({options.clients} clients, single texts of {options.words} words, {options.model}):")
    for name in servers:
        cpu, rate, late = (statistics.median(ratios[name][i] for ratios in turns) for i in range(3))
        print(f"   {name}: {cpu:.2f} of embed's CPU, {rate:.2f} of its throughput, p99 at half load {late:.1f} times a request alone")


if __name__ == "__main__":
    main()
