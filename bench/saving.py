"""What the benchmarks that are scripts share: where things are, free ports, and how results are kept."""

import json
import os
import socket
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
PROGRAM = os.path.join(TARGET, "release", "tollgate")
PICTURE = "![The same as a picture]({}.svg)"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def save(name, text, found, plot):
    """The page, the numbers and the picture, drawn as those of all benchmarks are."""
    drawn = subprocess.run([os.path.join(TARGET, "release", "tollgate-bench"), "picture"],
                           input=json.dumps(plot), capture_output=True, text=True, check=True).stdout
    results = os.environ.get("BENCH_RESULTS", os.path.join(ROOT, "bench", "results"))
    for ending, content in {"md": text, "json": json.dumps(found, indent=2) + "\n", "svg": drawn}.items():
        with open(os.path.join(results, f"{name}.{ending}"), "w") as f:
            f.write(content)
