"""What keeping few experts in memory costs and saves: WORKER MODEL [--rounds N]. Loopback only, the standard library alone.

MODEL: a run of MoTE or of specialists (or its folder). `faceter-worker serve` with all in memory and with --resident 1, in turn: seconds until it listens,
its resident memory then and after every task was asked, milliseconds of a short text whose expert is there, and of one whose expert is read first.
The median over the tasks and rounds; memory is VmRSS, and its peak VmHWM. Files are in the page cache: a cold disk adds the reading of an expert's bytes.
"""

import argparse
import http.client
import json
import os
import signal
import statistics
import subprocess
import time
from pathlib import Path


def memory_mib(pid, name):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":")) / 1024


def ask(connection, prompt):
    """Milliseconds until the whole answer is there."""
    began = time.monotonic()
    connection.request("POST", "/embed", json.dumps({"inputs": "a short text of ten words or so", "prompt_name": prompt}))
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{answer.status}: {body[:200]}")
    return 1e3 * (time.monotonic() - began)


def prompts_of(connection):
    connection.request("GET", "/info")
    return json.loads(connection.getresponse().read())["models"][0]["prompts"]


def measured(worker, model, resident, rounds):
    began = time.monotonic()
    command = [worker, "serve", model, "--port", "0", "--threads", "1", "--resident", resident]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}) as server:
        try:
            port = int(server.stdout.readline().rsplit(":", 1)[1])
            found = {"start": time.monotonic() - began, "listening": memory_mib(server.pid, "VmRSS")}
            connection = http.client.HTTPConnection("127.0.0.1", port)
            first, later = [], []
            prompts = prompts_of(connection)
            ask(connection, prompts[-1])  # so that the first below is read as well
            for _ in range(rounds):
                for prompt in prompts:
                    first.append(ask(connection, prompt))
                    later += [ask(connection, prompt) for _ in range(3)]
            return {**found, "first": statistics.median(first), "later": statistics.median(later), "asked": memory_mib(server.pid, "VmRSS"),
                    "peak": memory_mib(server.pid, "VmHWM")}
        finally:
            server.send_signal(signal.SIGTERM)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worker")
    parser.add_argument("model")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rows = {"start": "start, s", "first": "expert not there, ms", "later": "expert there, ms", "listening": "listening, MiB",
            "asked": "all tasks asked, MiB", "peak": "peak, MiB"}
    turns = {"all": [], "1": []}
    for _ in range(3):
        for resident, found in turns.items():
            found.append(measured(options.worker, options.model, resident, options.rounds))
    print(f"{'--resident':<26}" + "".join(f"{resident:>10}" for resident in turns))
    for key, title in rows.items():
        print(f"{title:<26}" + "".join(f"{statistics.median(one[key] for one in found):>10.1f}" for found in turns.values()))


if __name__ == "__main__":
    main()
