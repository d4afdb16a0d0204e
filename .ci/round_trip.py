#!/usr/bin/env python3
"""Exports models, imports them again and compares their runs with those of the originals: values and times of events.

    python .ci/round_trip.py --saltus target/release/saltus --work DIR --list MODELS.txt [--tolerance 1e-10]

Both runs use the same method with the same tolerance. An FMU has a Jacobian by differences of its own and other step sizes, so that runs differ
by errors of integration. Out: a line for each model (events, largest distance between an event of one run and the nearest of the other as a
part of the time span, largest difference of a state as a part of its size) and how many are within 1e-9.
"""

import argparse
import bisect
import csv
import subprocess
from pathlib import Path

LIMIT = 1e-9


def load(path):
    with open(path, newline="") as file:
        rows = csv.reader(file)
        names = [name.strip().strip("'") for name in next(rows)]
        values = [[float(v) if v else float("nan") for v in row] for row in rows if row]
    return names, values


def events(rows):
    """Times that have two rows."""
    return sorted({a[0] for a, b in zip(rows, rows[1:]) if a[0] == b[0]})


def farthest(times, others):
    worst = 0.0
    for t in times:
        k = bisect.bisect(others, t)
        near = [abs(t - others[i]) for i in (k - 1, k) if 0 <= i < len(others)]
        worst = max(worst, min(near, default=float("inf")))
    return worst


def compared(given, name, version):
    fmu, own, other = (Path(given.work, f"{name}-{version}{end}") for end in (".fmu", ".own.csv", ".fmu.csv"))
    tolerance = ["--tolerance", str(given.tolerance)]

    def run(*words):
        return subprocess.run([given.saltus, *words], capture_output=True, text=True, timeout=given.timeout)

    done = run("export", name, "--fmi", version, "--kind", "me", "--quiet", "--output", str(fmu))
    if done.returncode != 0:
        return "no model exchange: " + done.stderr.splitlines()[0][:100]
    for words in (["simulate", name, *tolerance, "-o", str(own)],
                  ["fmu", "simulate", str(fmu), "--allow-external", *tolerance, "-o", str(other)]):
        done = run(*words)
        if done.returncode != 0:
            return f"{words[0]} fails: " + done.stderr.splitlines()[0][:200]
    (names, a), (their_names, b) = load(own), load(other)
    span = a[-1][0] - a[0][0] or 1.0
    mine, theirs = events(a), events(b)
    # The importer may see events that change nothing, and models mark events that the FMU handles in the next instant.
    distance = farthest(mine, theirs) / span
    last = {row[0]: row for row in b}
    signals = [(i, their_names.index(n)) for i, n in enumerate(names) if n in their_names and i > 0 and not n.startswith("der(")]
    sizes = {i: max(max(abs(row[i]) for row in a), 1e-300) for i, _ in signals}
    points = {row[0]: row for row in a}
    worst = max((abs(row[i] - last[t][j]) / sizes[i] for t, row in points.items() if t in last and t not in mine
                 for i, j in signals), default=0.0)
    return len(mine), len(theirs), distance, worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--saltus", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--list", required=True)
    parser.add_argument("--tolerance", type=float, default=1e-10)
    parser.add_argument("--timeout", type=float, default=120.0)
    given = parser.parse_args()
    Path(given.work).mkdir(parents=True, exist_ok=True)
    names = [line.strip() for line in open(given.list) if line.strip() and not line.startswith("#")]
    for version in ("2.0", "3.0"):
        counts = [0, 0, 0]
        for name in names:
            try:
                found = compared(given, name, version)
            except subprocess.TimeoutExpired:
                found = "takes too long"
            print(version, name, found, flush=True)
            if isinstance(found, tuple) and found[0] > 0:
                counts[0] += 1
                counts[1] += found[2] <= LIMIT
                counts[2] += found[2] <= LIMIT and found[3] <= 1e-6
        print(f"{version}: {counts[0]} hybrid models, events of {counts[1]} within {LIMIT}, of these states of {counts[2]} within 1e-6", flush=True)


if __name__ == "__main__":
    main()
