#!/usr/bin/env python3
"""Imports the Reference-FMUs of the Modelica Association, alone and coupled, and compares them with their published results and with closed forms.

    cmake -S REFERENCE-FMUS -B B2 -DFMI_VERSION=2 && cmake --build B2        and the same with 3 for B3
    python .ci/reference_fmus.py --saltus target/release/saltus --source REFERENCE-FMUS --built B2/fmus --built B3/fmus --work DIR

Co-simulation is compared point by point with `NAME_out.csv`: both take the same fixed steps, so that the numbers should be equal. Model exchange is
compared with closed forms, or with the same equations written in Modelica. Out: a line for each check; the status is 1 if one fails.
"""

import argparse
import csv
import math
import subprocess
import sys
from pathlib import Path

NAMES = ["BouncingBall", "Dahlquist", "Feedthrough", "Resource", "Stair", "VanDerPol"]
STEPS = {"BouncingBall": 1e-2, "Dahlquist": 0.1, "Feedthrough": 0.1, "Resource": 1.0, "Stair": 0.2, "VanDerPol": 1e-2, "StateSpace": 1.0}

# An FMU and components of Modelica in one system; `e` is what should be zero, or `k` a number that is known.
COUPLED = {
    # A spring between the oscillator of the FMU and a mass, against the same with the equations written out.
    "VanDerPol": """
model Coupled
  VanDerPol f;
  Real y0(start = 2, fixed = true), y1(start = 0, fixed = true);
  Real a(start = 0, fixed = true), b(start = 0, fixed = true);
  Real e;
equation
  der(y0) = y1;
  der(y1) = (1 - y0*y0)*y1 - y0;
  der(a) = f.x0 - a;
  der(b) = y0 - b;
  e = a - b;
end Coupled;
""",
    # The FMU bounces; each impact starts a decay in Modelica.
    "BouncingBall": """
model Coupled
  BouncingBall f;
  Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = -x;
  when f.v > 0 then
    n = pre(n) + 1;
    reinit(x, pre(x) + 1);
  end when;
  annotation (experiment(StopTime = 1.5));
end Coupled;
""",
    "Dahlquist": """
model Coupled
  Dahlquist f(k = 2);
  Real x(start = 0, fixed = true);
  Real e;
equation
  der(x) = f.x - 2*x;
  e = x - time*exp(-2*time);
end Coupled;
""",
    "Stair": """
model Coupled
  Stair f;
  Real x(start = 0, fixed = true);
equation
  der(x) = f.counter;
  annotation (experiment(StopTime = 9));
end Coupled;
""",
    # The FMU in a loop, and discrete values that pass through it. Inputs that nobody gives a value have their start.
    "Feedthrough": """
model Coupled
  Feedthrough f;
  Real x(start = 1, fixed = true);
  Real e;
  Boolean p, q;
equation
  f.Float64_continuous_input = x;
  der(x) = -f.Float64_continuous_output;
  e = x - exp(-time);
  f.Float64_discrete_input = if time < 0.5 then 1 else 2;
  f.Int32_input = if time < 0.5 then 3 else -4;
  f.Boolean_input = time > 0.25;
  f.Enumeration_input = 2;
  p = f.Float64_discrete_output < 1.5 and f.Int32_output == 3;
  q = f.Boolean_output;
OTHERS
end Coupled;
""",
    "Resource": """
model Coupled
  Resource f;
  Real x(start = 0, fixed = true);
equation
  der(x) = f.y;
  annotation (experiment(StopTime = 1));
end Coupled;
""",
}


def table(path):
    with open(path, newline="") as file:
        rows = csv.reader(file)
        names = [name.strip().strip("'") for name in next(rows)]
        rows = [row for row in rows if row]
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def numbers(values):
    return [float({"true": 1, "false": 0}.get(v, v)) for v in values]


class Checks:
    def __init__(self, given):
        self.given = given
        self.n_bad = 0

    def say(self, what, error, limit):
        is_good = error <= limit
        self.n_bad += not is_good
        print(f"{'ok  ' if is_good else 'BAD '} {what}: {error:.3g} (limit {limit:g})", flush=True)

    def simulate(self, files, *words):
        out = Path(self.given.work, "out.csv")
        command = [self.given.saltus, *files, "--allow-external", "--output", str(out), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=self.given.timeout)
        if done.returncode != 0:
            self.n_bad += 1
            print("BAD ", " ".join(command), done.stderr.splitlines()[:2], flush=True)
            return None
        return table(out)


def last_at(found, name):
    """The last row of each time."""
    return dict(zip(numbers(found["time"]), numbers(found[name])))


def published(checks, fmu, name, version):
    """Co-simulation against the results that come with the FMU."""
    reference = table(Path(checks.given.source, name, f"{name}_out.csv"))
    step, end = STEPS[name], float(reference["time"][-1])
    words = ["--fmu-kind", "cs", "--set", f"communicationStep={step!r}", "--interval", repr(step), "--stop-time", repr(end)]
    found = checks.simulate(["fmu", "simulate", str(fmu)], *words)
    if found is None:
        return
    worst, n = 0.0, 0
    for signal, values in reference.items():
        if signal == "time" or signal.startswith(("String", "Binary")) or not (signal in found or f"{signal}[1]" in found):
            continue
        columns = [signal] if signal in found else [f"{signal}[{i + 1}]" for i in range(len(values[0].split()))]
        for k, column in enumerate(columns):
            ours = sorted(last_at(found, column).items())
            for t, value in zip(numbers(reference["time"]), values):
                expected = numbers(value.split())[k]
                near = [v for at, v in ours if abs(at - t) <= 1e-9 * max(1.0, t)]
                worst = max(worst, min((abs(v - expected) for v in near), default=math.inf))
                n += 1
    checks.say(f"{name} {version} CS, {n} published values", worst, 0.0)


def bounces(n):
    t, v = math.sqrt(2 / 9.81), math.sqrt(2 * 9.81)
    for _ in range(n):
        yield t
        v *= 0.7
        t += 2 * v / 9.81


def closed(checks, fmu, name, version):
    """Model exchange against closed forms."""
    found = checks.simulate(["fmu", "simulate", str(fmu)], "--fmu-kind", "me", "--tolerance", "1e-10")
    if found is None:
        return
    times = numbers(found["time"])
    what = f"{name} {version} ME"
    if name == "BouncingBall":
        events = [t for t, after in zip(times, times[1:]) if t == after and t > 0]
        checks.say(f"{what}, 15 impacts", max(abs(a - b) for a, b in zip(events, bounces(15))), 1e-12)
    elif name == "Dahlquist":
        checks.say(f"{what}, exp(-t)", max(abs(x - math.exp(-t)) for t, x in zip(times, numbers(found["x"]))), 1e-9)
    elif name == "Stair":
        after = last_at(found, "counter")
        expected = {t: min(10, 1 + math.floor(t + 1e-9)) for t in after}
        checks.say(f"{what}, {len(after)} points", max(abs(after[t] - expected[t]) for t in after), 0.0)
    elif name == "Resource":
        checks.say(f"{what}, letter in its file", max(abs(y - 97) for y in numbers(found["y"])), 0.0)


def coupled(checks, fmu, name, version, kind):
    if name not in COUPLED:
        return
    model = Path(checks.given.work, "Coupled.mo")
    text = COUPLED[name]
    if name == "Feedthrough":
        given = ["Float32_continuous", "Float32_discrete", "Int8", "UInt8", "Int16", "UInt16", "UInt32", "Int64", "UInt64"]
        text = text.replace("OTHERS", "\n".join(f"  f.{i}_input = 0;" for i in given) if version == "3" else "")
    model.write_text(text)
    words = ["--fmu-kind", kind, "--tolerance", "1e-9"]
    found = checks.simulate(["simulate", str(model), str(fmu), "Coupled"], *words)
    if found is None:
        return
    what = f"{name} {version} {kind.upper()} coupled"
    times = numbers(found["time"])
    if name == "BouncingBall" and kind == "me":
        jumps = list(bounces(20))
        end = times[-1]
        expected = sum(math.exp(-(end - t)) for t in jumps if t < end)
        checks.say(f"{what}, decays started by {int(numbers(found['n'])[-1])} impacts", abs(numbers(found["x"])[-1] - expected), 1e-8)
    elif name == "Stair" and kind == "me":
        checks.say(f"{what}, integral of the counter", abs(numbers(found["x"])[-1] - 45), 1e-7)
    elif name == "Resource":
        checks.say(f"{what}, integral", abs(numbers(found["x"])[-1] - 97), 1e-6)
    elif name == "Feedthrough" and kind == "cs":
        # Outputs follow inputs at the next communication point.
        late = STEPS[name] * (1 + 1e-9)
        wrong = [t for t, p, q in zip(times, numbers(found["p"]), numbers(found["q"]))
                 if bool(p) != (t < 0.5) and not 0.5 <= t <= 0.5 + late or bool(q) != (t > 0.25) and not 0.25 <= t <= 0.25 + late]
        checks.say(f"{what}, points at which a discrete value is later than a step", len(wrong), 0)
    elif "e" in found and kind == "me":
        checks.say(f"{what}, against Modelica", max(map(abs, numbers(found["e"]))), 1e-6)


def others(checks, built):
    """StateSpace, Roberts, Clocks exist in 3.0 alone."""
    unit = built / "StateSpace.fmu"
    found = checks.simulate(["fmu", "simulate", str(unit)], "--fmu-kind", "me", "--tolerance", "1e-10")
    if found:
        # A, B, C, D are identities and x starts at zero: x = u (e^t - 1), y = x + u
        worst = max(abs(float(y) / (i + 1) / math.exp(t) - 1) for i in range(3) for t, y in zip(numbers(found["time"]), found[f"y[{i + 1}]"]))
        checks.say("StateSpace 3 ME, y = u e^t, relative", worst, 1e-8)
    published(checks, unit, "StateSpace", "3")
    model = Path(checks.given.work, "Coupled.mo")
    model.write_text("""
model Coupled "An oscillator, whose output is fed back by a gain in Modelica"
  StateSpace s(A = {{0, 1, 0}, {-1, 0, 0}, {0, 0, -1}}, B = {{0, 0, 0}, {1, 0, 0}, {0, 0, 0}}, D = zeros(3, 3));
  Real e;
equation
  s.u = {4 - 3*s.y[1], 0, 0};
  e = s.y[1] - (1 - cos(2*time));
  annotation (experiment(StopTime = 5));
end Coupled;
""")
    found = checks.simulate(["simulate", str(model), str(unit), "Coupled"], "--fmu-kind", "me", "--tolerance", "1e-10")
    if found:
        checks.say("StateSpace 3 ME coupled, closed form", max(map(abs, numbers(found["e"]))), 1e-7)

    roberts = built / "Roberts.fmu"
    model = Path(checks.given.work, "Robertson.mo")
    model.write_text("""
model Robertson
  Real y1(start = 1, fixed = true), y2(start = 0, fixed = true), y3 = 1 - y1 - y2;
equation
  der(y1) = -0.04*y1 + 1e4*y2*y3;
  der(y2) = 0.04*y1 - 1e4*y2*y3 - 3e7*y2*y2;
end Robertson;
""")
    for end in ("40", "1e8"):
        words = ["--stop-time", end, "--tolerance", "1e-10"]
        ours = checks.simulate(["simulate", str(model)], *words)
        theirs = checks.simulate(["fmu", "simulate", str(roberts)], "--fmu-kind", "me", "--start-time", "0", *words)
        if ours and theirs:
            worst = max(abs(float(theirs[y][-1]) / float(ours[y][-1]) - 1) for y in ("y1", "y2", "y3"))
            checks.say(f"Roberts 3 ME at {end} s, against Modelica, relative", worst, 1e-6)
    # Its co-simulation has steps of 1e-3 s and no others: 1e8 s would be 1e11 of them.
    ours = checks.simulate(["simulate", str(model)], "--stop-time", "40", "--tolerance", "1e-10")
    theirs = checks.simulate(["fmu", "simulate", str(roberts)], "--fmu-kind", "cs", "--start-time", "0", "--stop-time", "40")
    if ours and theirs:
        worst = max(abs(float(theirs[y][-1]) / float(ours[y][-1]) - 1) for y in ("y1", "y2", "y3"))
        checks.say("Roberts 3 CS at 40 s (its Euler steps), against Modelica, relative", worst, 1e-4)

    clocks = built / "Clocks.fmu"
    found = checks.simulate(["fmu", "simulate", str(clocks)])
    if found:
        # inClock1 ticks at 0, 1, 2, …; it is a periodic clock of 1 s
        ticks = last_at(found, "inClock1Ticks")
        checks.say("Clocks 3 SE, ticks of the periodic clock", max(abs(n - (math.floor(t + 1e-9) + 1)) for t, n in ticks.items()), 0.0)
        sums = [float(found["totalInClockTicks"][i]) - sum(float(found[f"inClock{k}Ticks"][i]) for k in (1, 2, 3)) for i in range(len(found["time"]))]
        checks.say("Clocks 3 SE, sum of all ticks", max(map(abs, sums)), 0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--saltus", required=True)
    parser.add_argument("--source", required=True, help="the sources of the Reference-FMUs, which have the published results")
    parser.add_argument("--built", action="append", required=True, help="a directory of FMUs; once for 2.0 and once for 3.0")
    parser.add_argument("--work", required=True)
    parser.add_argument("--timeout", type=float, default=120.0)
    given = parser.parse_args()
    Path(given.work).mkdir(parents=True, exist_ok=True)
    checks = Checks(given)
    for directory in map(Path, given.built):
        version = "3" if (directory / "StateSpace.fmu").exists() else "2"
        for name in NAMES:
            fmu = directory / f"{name}.fmu"
            published(checks, fmu, name, version)
            closed(checks, fmu, name, version)
            for kind in ("me", "cs"):
                coupled(checks, fmu, name, version, kind)
        if version == "3":
            others(checks, directory)
    sys.exit(1 if checks.n_bad else 0)


if __name__ == "__main__":
    main()
