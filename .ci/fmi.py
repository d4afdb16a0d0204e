#!/usr/bin/env python3
"""Exports models, and lets FMPy validate and simulate them: 2.0 and 3.0, model exchange and co-simulation.

    python .ci/fmi.py --saltus target/release/saltus --work DIR --list MODELS.txt [--library DIR] [--references DIR]

A result is compared by `saltus compare` with the reference of the model, if there is one, else with `saltus simulate`.
Each model runs in a process of its own, and limits are processor time, so that other work on the machine changes nothing.
Out: one JSON object a model in DIR/results.jsonl, and a table.
"""

import argparse
import csv
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

RUNS = [("2.0", "ModelExchange"), ("2.0", "CoSimulation"), ("3.0", "ModelExchange"), ("3.0", "CoSimulation")]
MOST_SIGNALS = 60
# The one setting. Communication and output points are those of the reference: the interval and the tolerance of its settings, or of the model.
# CVode gets a hundredth of that tolerance, because it controls the error of a step and what is compared is the sum of them.
# No less than 1e-12, where rounding decides about the error test of CVode.
ME_TOLERANCE = 1e-2
LEAST_TOLERANCE = 1e-12
USUAL_INTERVALS = 5000
USUAL_TOLERANCE = 1e-6
# Longest time on the clock, as a multiple of the limit: for processes that wait for something that never comes.
MOST_WAITING = 50


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--saltus", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--list", help="a file with the name of a class on each line")
    parser.add_argument("--library", action="append", default=[])
    parser.add_argument("--references")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds of processor time a model; half of it a run")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--linked", help="link this runtime into extracted FMUs, instead of compressing it into each")
    parser.add_argument("--resume", action="store_true", help="go on after the models that DIR/results.jsonl has, if they are of the same build")
    parser.add_argument("--one", help="this class alone; prints its JSON")
    return parser.parse_args()


def reference_of(given, name):
    if not given.references:
        return None
    parts = name.split(".")
    path = Path(given.references, *parts, parts[-1] + ".csv")
    return path if path.exists() else None


def saltus(given, *words):
    library = [word for path in given.library for word in ("--library", path)]
    command = [given.saltus, *words, *library]
    environment = dict(os.environ)
    if given.linked:
        environment["SALTUS_FMU_RUNTIME"] = os.devnull
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def processor_time():
    """Of this process and of those that it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def first_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[0].strip()[:300] if lines else ""


def header_and_times(path):
    with open(path, newline="") as file:
        rows = csv.reader(file)
        names = [name.strip() for name in next(rows)]
        times = [float(row[0]) for row in rows if row]
    return names[1:], times


def columns(description, wanted):
    """For each wanted name its variable, and the index in it if it is an array."""
    shapes = {}
    for variable in description.modelVariables:
        shapes[variable.name] = variable
    found = {}
    for name in wanted:
        if name in shapes and not shapes[name].shape:
            found[name] = (name, None)
        elif name.endswith("]"):
            base, _, index = name[:-1].rpartition("[")
            variable = shapes.get(base)
            if variable is not None and variable.shape:
                found[name] = (base, tuple(int(i) - 1 for i in index.split(",")))
    return found


def write_result(path, result, found):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["time", *found])
        for row in result:
            values = [row[variable] if index is None else row[variable][index] for variable, index in found.values()]
            writer.writerow([repr(float(row["time"]))] + [repr(float(value)) for value in values])


def linked(given, fmu):
    """The FMU as a directory, with the runtime in the place of the empty one."""
    directory = fmu.with_suffix("")
    if not directory.exists() or directory.stat().st_mtime < fmu.stat().st_mtime:
        import shutil
        import zipfile
        shutil.rmtree(directory, ignore_errors=True)
        with zipfile.ZipFile(fmu) as archive:
            archive.extractall(directory)
        for library in directory.glob("binaries/*/*"):
            library.unlink()
            library.symlink_to(os.path.abspath(given.linked))
    return directory


def reduced(path, found, to, with_events):
    """The reference with these signals alone, with or without the rows at events."""
    with open(path, newline="") as file, open(to, "w", newline="") as out:
        rows = csv.reader(file)
        names = [name.strip() for name in next(rows)]
        places = [i for i, name in enumerate(names) if i == 0 or name in found]
        writer = csv.writer(out)
        writer.writerow([names[i] for i in places])
        rows = [row for row in rows if row]
        twice = {row[0] for row, after in zip(rows, rows[1:]) if row[0] == after[0]}
        kept = [row for row in rows if with_events or row[0] not in twice]
        # A model that does nothing but events, or nothing at all, has no other rows.
        writer.writerows([row[i] for i in places] for row in (kept or rows))
    return to


def setting(given, name, description, span):
    """Interval and tolerance of the reference or, without one, of the model."""
    if given.references and Path(given.references, "settings.json").exists():
        with open(Path(given.references, "settings.json")) as file:
            found = json.load(file).get(name)
        if found:
            return found["interval"], found["tolerance"]
    experiment = description.defaultExperiment
    step = experiment and experiment.stepSize
    tolerance = experiment and experiment.tolerance
    return float(step or span / USUAL_INTERVALS), float(tolerance or USUAL_TOLERANCE)


def run(given, outcome, label, fmu, kind, version, times, tolerance, found, reference, work):
    """One simulation by FMPy, and its comparison."""
    from fmpy import simulate_fmu

    said = []

    def logger(*words):
        said.append(words[-1].decode() if isinstance(words[-1], bytes) else str(words[-1]))

    start, stop, interval = times
    in_event_mode = version == "3.0" and kind == "CoSimulation"
    began = time.process_time()
    limit = given.timeout / 2
    try:
        result = simulate_fmu(
            str(fmu), validate=False, start_time=start, stop_time=stop, fmi_type=kind, solver="CVode",
            relative_tolerance=tolerance, output_interval=interval,
            output=sorted({variable for variable, _ in found.values()}),
            record_events=True, logger=logger, step_finished=lambda *_: time.process_time() - began < limit,
            use_event_mode=in_event_mode, early_return_allowed=in_event_mode,
        )
    except Exception as error:
        outcome["runs"][label] = "fails: " + first_line(f"{error}") + " | " + first_line(" ".join(said[-1:]))
        return
    outcome[f"{label} seconds"] = round(time.process_time() - began, 2)
    path = work / f"{label.replace(' ', '-')}.csv"
    write_result(path, result, found)
    if result["time"][-1] < stop - 1e-6 * (stop - start):
        why = "after the limit of processor time" if time.process_time() - began >= limit else ""
        outcome["runs"][label] = f"stops at {result['time'][-1]} {why}".strip()
        return
    chosen = reference
    if outcome["reference"] != "published" or label == "2.0 CS":
        # Between communication points of 2.0 nothing is seen of an event: the rows of the reference at events are left out.
        chosen = reduced(reference, found, work / "chosen.csv", label != "2.0 CS")
    done = subprocess.run([given.saltus, "compare", str(chosen), str(path)], capture_output=True, text=True)
    text = done.stdout + done.stderr
    outcome["runs"][label] = "ok" if done.returncode == 0 else "differs: " + " / ".join(text.splitlines()[:4])[:400]


def shape(name):
    """A name with the same tokens, each as short as can be; names in quotes stay as they are."""
    if "'" in name:
        return name
    start = "der(" if name.startswith("der(") else ""
    return start + re.sub(r"[0-9]+", "1", re.sub(r"[A-Za-z_][A-Za-z0-9_]*", "a", name[len(start):]))


def validated(fmu):
    """The problems that FMPy finds. Its grammar of names takes 20 ms a name: each sequence of tokens is parsed once."""
    from fmpy.validation import validate_fmu
    from lark import Lark

    parse, parsed = Lark.parse, set()

    def once(self, text, *words, **named):
        if shape(text) not in parsed:
            parse(self, shape(text), *words, **named)
            parsed.add(shape(text))

    Lark.parse = once
    try:
        return [str(problem)[:300] for problem in validate_fmu(str(fmu))]
    finally:
        Lark.parse = parse


def check(given, name):
    """What came of one model."""
    from fmpy import read_model_description

    work = Path(given.work, name)
    work.mkdir(parents=True, exist_ok=True)
    outcome = {"model": name, "runs": {}}
    reference = reference_of(given, name)
    outcome["reference"] = "published" if reference else "saltus simulate"
    if reference is None:
        reference = work / "reference.csv"
        done = saltus(given, "simulate", name, "--output", str(reference))
        if done.returncode != 0:
            outcome["error"] = "simulate: " + first_line(done.stderr)
            return outcome
    names, times = header_and_times(reference)
    start, stop = times[0], times[-1]
    for version, kind in RUNS:
        label = f"{version} {'ME' if kind == 'ModelExchange' else 'CS'}"
        fmu = work / f"{version}.fmu"
        if kind == "ModelExchange":
            began = processor_time()
            done = saltus(given, "export", name, "--fmi", version, "--output", str(fmu))
            if done.returncode != 0 and "E1081" in done.stderr:
                outcome["co-simulation only"] = True
                done = saltus(given, "export", name, "--fmi", version, "--kind", "cs", "--output", str(fmu))
            if done.returncode != 0:
                outcome["error"] = "export: " + first_line(done.stderr)
                return outcome
            outcome[f"{version} seconds"] = round(processor_time() - began, 3)
            outcome[f"{version} bytes"] = fmu.stat().st_size
            began = processor_time()
            outcome[f"{version} problems"] = validated(fmu)
            outcome[f"{version} validation seconds"] = round(processor_time() - began, 2)
            print(json.dumps(outcome), flush=True)
        if given.linked:
            fmu = linked(given, fmu)
        description = read_model_description(str(fmu), validate=False)
        if kind == "ModelExchange" and description.modelExchange is None:
            continue
        found = columns(description, names)
        changing = {v.name for v in description.modelVariables if v.variability in ("continuous", "discrete")}
        if outcome["reference"] != "published":
            kept = [n for n in found if found[n][0] in changing]
            found = {n: found[n] for n in kept[:MOST_SIGNALS]}
        interval, tolerance = setting(given, name, description, stop - start)
        if kind == "ModelExchange":
            tolerance = max(ME_TOLERANCE * tolerance, LEAST_TOLERANCE)
        outcome[f"{label} with"] = [interval, tolerance]
        run(given, outcome, label, fmu, kind, version, (start, stop, interval), tolerance, found, reference, work)
        print(json.dumps(outcome), flush=True)
    return outcome


def in_process(given, name):
    """In a directory of its own: models may write files where they are run."""
    path = os.path.abspath
    written = Path(given.work, "written")
    written.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, path(__file__), "--saltus", path(given.saltus), "--work", path(given.work), "--one", name,
             "--timeout", str(given.timeout)]
    words += [word for library in given.library for word in ("--library", path(library))]
    words += ["--references", path(given.references)] if given.references else []
    words += ["--linked", path(given.linked)] if given.linked else []
    seconds = int(given.timeout) + 1

    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))

    started = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=written, preexec_fn=limited)
    why = None
    try:
        said, errors = started.communicate(timeout=MOST_WAITING * given.timeout)
    except subprocess.TimeoutExpired:
        started.kill()
        said, errors = started.communicate()
        why = f"waits for longer than {MOST_WAITING * given.timeout} s"
    if started.returncode == -signal.SIGXCPU:
        why = f"takes longer than {given.timeout} s of processor time"
    elif started.returncode != 0 and why is None:
        why = f"the process ended with {started.returncode}: {errors[-300:]}"
    # What was found until the process ended.
    last = said.strip().splitlines()[-1:] or [""]
    try:
        outcome = json.loads(last[0])
    except ValueError:
        outcome = {"model": name, "runs": {}}
        why = why or f"it says nothing: {errors[-300:]}"
    return outcome if why is None else {**outcome, "error": why}


def is_good(outcome):
    runs = outcome.get("runs", {})
    problems = outcome.get("2.0 problems") or outcome.get("3.0 problems")
    return bool(runs) and not problems and "error" not in outcome and all(r == "ok" for r in runs.values())


def table(outcomes):
    packages = {}
    for outcome in outcomes:
        parts = outcome["model"].split(".")
        packages.setdefault(".".join(parts[:2]), []).append(outcome)
    labels = ["2.0 ME", "2.0 CS", "3.0 ME", "3.0 CS"]
    print("| package | models | valid | " + " | ".join(labels) + " |")
    print("|---|---|---|" + "---|" * len(labels))
    rows = sorted(packages.items()) + [("all", outcomes)]
    for package, members in rows:
        valid = sum("2.0 problems" in o and not o["2.0 problems"] and not o.get("3.0 problems", ["?"]) for o in members)
        counts = []
        for label in labels:
            ran = [o["runs"][label] for o in members if label in o.get("runs", {})]
            counts.append(f"{sum(r == 'ok' for r in ran)}/{len(ran)}")
        print(f"| {package} | {len(members)} | {valid} | " + " | ".join(counts) + " |")
    for outcome in outcomes:
        if not is_good(outcome):
            bad = {k: v for k, v in outcome.get("runs", {}).items() if v != "ok"}
            problems = (outcome.get("2.0 problems") or []) + (outcome.get("3.0 problems") or [])
            print(f"- {outcome['model']}: {outcome.get('error', '')} {problems[:2] or ''} {bad or ''}")


def build(given):
    """What says that two results are of one build: a hash of the program and of the runtime that was given."""
    found = hashlib.sha256(Path(given.saltus).read_bytes())
    if given.linked:
        found.update(Path(given.linked).read_bytes())
    return found.hexdigest()[:16]


def known(given):
    """What an earlier run of the same build has found."""
    path = Path(given.work, "results.jsonl")
    outcomes = [json.loads(line) for line in open(path)] if path.exists() else []
    others = {outcome.get("build") for outcome in outcomes} - {build(given)}
    if others:
        sys.exit(f"{path} has results of another build: give another --work")
    return outcomes


def main():
    given = arguments()
    Path(given.work).mkdir(parents=True, exist_ok=True)
    if given.one:
        print(json.dumps(check(given, given.one)))
        return
    names = [line.strip() for line in open(given.list) if line.strip() and not line.startswith("#")]
    outcomes = known(given) if given.resume else []
    done = {outcome["model"] for outcome in outcomes}
    with ThreadPoolExecutor(given.jobs) as pool, open(Path(given.work, "results.jsonl"), "a" if given.resume else "w") as file:
        for outcome in pool.map(lambda name: in_process(given, name), [name for name in names if name not in done]):
            outcome["build"] = build(given)
            outcomes.append(outcome)
            print(json.dumps(outcome), file=file, flush=True)
            print(f"{len(outcomes)}/{len(names)} {outcome['model']}: {'ok' if is_good(outcome) else 'NOT OK'}", flush=True)
    table(outcomes)
    sys.exit(0 if all(is_good(outcome) for outcome in outcomes) else 1)


if __name__ == "__main__":
    main()
