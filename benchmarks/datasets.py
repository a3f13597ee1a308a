"""Time and memory of every data set that is at hand: `SUREFOOT_DATA=folder python benchmarks/datasets.py`.

Each load runs in a process of its own; imports are not counted. `raw` parses the raw files into an empty cache,
`cache` loads what that kept; `sum` adds a pass over all values, which reads every page. `peak` is the memory that
the first load needed at most, as a multiple of the table. Nothing is gated.
"""

import json
import os
import subprocess
import sys
import tempfile

from surefoot import datasets

LOAD = """
import json, resource, sys, time
from surefoot import datasets
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
begin = time.perf_counter()
data = datasets.load(sys.argv[1])
loaded = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
data.X.sum()
size = data.X.nbytes + data.y.nbytes
print(json.dumps([loaded - begin, time.perf_counter() - begin, peak * 1024 / size, size]))
"""


def load(name, cache):
    environment = {**os.environ, "SUREFOOT_CACHE": cache}
    done = subprocess.run([sys.executable, "-c", LOAD, name], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def main():
    print(f"{'':16}{'table':>9}{'raw':>9}{'cache':>9}{'sum':>9}{'peak':>9}")
    for name in datasets.names():
        if datasets.presence(name).kind not in ("raw files", "package"):
            print(f"{name:16}{'not here':>9}")
            continue
        with tempfile.TemporaryDirectory() as cache:
            first, *_, peak, size = load(name, cache)
            again, summed, *_ = load(name, cache)
        print(f"{name:16}{size / 1e6:6.0f} MB{first:7.2f} s{again:7.3f} s{summed:7.2f} s{peak:8.2f}x")


if __name__ == "__main__":
    main()
