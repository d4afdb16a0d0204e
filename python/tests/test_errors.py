"""What goes wrong: exceptions with positions, never a crash."""

from __future__ import annotations

import math
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import saltus


def compiled(text: str) -> saltus.Model:
    s = saltus.Session()
    s.load_text("M.mo", text)
    return s.compile()


def test_a_syntax_error_has_a_place() -> None:
    with pytest.raises(saltus.CompileError) as caught:
        compiled("model M\n  Real x = 1\nend M;")
    first = caught.value.errors[0]
    assert (first.file, first.line) == ("M.mo", 2) and first.code.startswith("E01")
    assert first.column is not None and first.hints and "^" in str(first) and "M.mo:2:" in str(caught.value)


def test_warnings_are_warnings() -> None:
    with pytest.warns(saltus.ModelicaWarning) as caught:
        compiled("model M parameter Real p; Real x = p; end M;").simulate()
    assert caught[0].message.diagnostic.severity == "warning"


def test_a_failed_run_has_its_result() -> None:
    m = compiled("model M Real x(start = 1, fixed = true); equation der(x) = x^2; annotation(experiment(StopTime = 2)); end M;")
    with pytest.raises(saltus.SimulationError) as caught:
        m.simulate()
    # x = 1/(1 - t)
    assert caught.value.time == pytest.approx(1.0, abs=1e-3)
    r = caught.value.result
    assert r.time[-1] > 0.9 and r.at("x", 0.5) == pytest.approx(2.0, rel=1e-3)
    assert pickle.loads(pickle.dumps(caught.value)).time == caught.value.time


def test_unknown_names_have_suggestions(ball: saltus.Model) -> None:
    for use in (
        lambda: ball.simulate(ee=1),
        lambda: ball.simulate()["hh"],
        lambda: ball.start()["hh"],
        lambda: ball.simulate(inputs={"hh": 1}),
        lambda: ball.jacobian(["hh"], ["h"]),
        lambda: ball.sweep({"ee": [1, 2]}),
    ):
        with pytest.raises(saltus.UnknownName) as caught:
            use()
        assert isinstance(caught.value, KeyError) and "did you mean" in str(caught.value)


@pytest.mark.parametrize(
    "settings",
    [
        {"e": "often"},
        {"e": None},
        {"e": object()},
        {"e": math.nan},
        {"e": math.inf},
        {"e": [1, 2]},
        {"stop_time": math.nan},
        {"stop_time": "x"},
        {"stop_time": -1},
        {"intervals": 0},
        {"intervals": 2**40},
        {"intervals": -3},
        {"tolerance": 0},
        {"tolerance": 5},
        {"solver": "magic"},
        {"keep": 3},
        {"interval": 1e-300},
        {"h": 3},
        {"e": 10**400},
        {"inputs": {"e": 1}},
        {"inputs": 3},
        {"values": 3},
    ],
)
def test_wrong_values_are_refused(ball: saltus.Model, settings: dict) -> None:
    with pytest.raises((saltus.Error, ValueError, TypeError)):
        ball.simulate(**settings)


def test_large_values_are_not_shown_whole() -> None:
    m = compiled("model M parameter Real p[3] = {1, 2, 3}; Real x = sum(p); end M;")
    for wrong in (np.zeros(100_000), np.zeros((3, 1000)), ["?"] * 3, [[1.0]] * 100_000):
        with pytest.raises(saltus.ValueRefused) as caught:
            m.simulate(p=wrong)
        assert len(str(caught.value)) < 1000 and "expected" in str(caught.value)


def test_patterns_that_fit_nothing_are_refused(ball: saltus.Model, tmp_path: Path) -> None:
    result = ball.simulate()
    for use in (
        lambda: ball.simulate(keep=["h", "vv"]),
        lambda: ball.simulate(keep="vv"),
        lambda: ball.start(keep=["vv"], record=True),
        lambda: ball.sweep({"e": [0.7]}, keep=["vv"]),
        lambda: ball.sweep({"e": [0.7]}, keep=["vv"], trajectories=True),
        lambda: result.save(tmp_path / "r.csv", keep=["vv"]),
    ):
        with pytest.raises(saltus.UnknownName, match="did you mean `v`") as caught:
            use()
        assert (caught.value.name, caught.value.similar) == ("vv", "v")
    # The time is in every result, and an empty choice keeps nothing else.
    assert ball.simulate(keep=["time", "h"]).names == ["h"] and ball.simulate(keep=[]).names == []
    result.save(tmp_path / "h.csv", keep="h")
    assert (tmp_path / "h.csv").read_text().splitlines()[0] == '"time","h"'


def test_what_is_not_a_list_of_numbers_is_refused() -> None:
    m = compiled("model M parameter Real p[3] = {1, 2, 3}; parameter Integer n = 1; Real x = sum(p) + n; end M;")
    for wrong in (b"abc", bytearray(b"abc"), {1, 2, 3}, frozenset((1, 2, 3)), {1: 1, 2: 2, 3: 3}):
        with pytest.raises(TypeError):
            m.simulate(p=wrong)
    # 2⁵³ + 1 would become 2⁵³ in memory.
    for wrong in ({"n": 2**53 + 1}, {"n": -(2**60)}, {"p[1]": "inf"}, {"p": "{1, 2, inf}"}):
        with pytest.raises(saltus.ValueRefused):
            m.simulate(wrong)
    assert m.simulate(n=2**53 - 1).parameters["n"] == 2**53 - 1


def test_an_input_has_one_value(drive: saltus.Model) -> None:
    with pytest.raises(saltus.ValueRefused, match="`u` has a value"):
        drive.simulate({"u": 3.0}, inputs={"u": 1.0})


def test_values_of_a_structural_parameter_have_its_type() -> None:
    text = "model M parameter Boolean b = false annotation(Evaluate = true); Real y; equation if b then y = 2*time; else y = time; end if; end M;"
    m = compiled(text)
    assert m.simulate(b=True).last("y") == 2.0
    for use in (lambda: m.simulate(b=1), lambda: compiled(text.replace("= false", "= 1")), lambda: m.sweep({"b": [0.5]})):
        with pytest.raises((saltus.CompileError, ValueError)):
            use()
    assert m.sweep({"b": [True, False]}, record=["y"])["y"].tolist() == [2.0, 1.0]


def test_searches_without_sense_are_refused(ball: saltus.Model) -> None:
    e = {"e": (0.5, 0.95)}
    for use in (
        lambda: ball.search(e, {}),
        lambda: ball.search(e, {"h": math.nan}),
        lambda: ball.search(e, {"h": 0.1}, within=-1.0),
        lambda: ball.search(e, {"h": 0.1}, max_runs=0),
        lambda: ball.optimize(e, minimize="h", tolerance=math.nan),
        lambda: ball.optimize(e, minimize="h", max_runs=-1),
        lambda: ball.linearize(at=math.inf),
        lambda: saltus.samples(4, e=("normal", math.nan, 1.0)),
        lambda: saltus.samples(4, e=(-1e308, 1.5e308)),
    ):
        with pytest.raises(ValueError):
            use()


def test_states_of_other_models_are_refused(ball: saltus.Model, drive: saltus.Model) -> None:
    with ball.start() as one, drive.start() as other:
        one.advance(0.1)
        with pytest.raises(saltus.StateError, match="another model"):
            other.restore(one.state())
        other.advance(0.1)


def test_closed_simulations_say_so(ball: saltus.Model) -> None:
    sim = ball.start()
    sim.advance(0.1)
    sim.close()
    sim.close()
    for use in (lambda: sim.advance(0.1), lambda: sim["h"], lambda: sim.state(), lambda: sim.time):
        with pytest.raises(saltus.Closed):
            use()
    assert "closed" in repr(sim)


def test_two_threads_on_one_simulation(drive: saltus.Model) -> None:
    outcomes: list[str] = []
    with drive.start(max_step=1e-6) as sim:
        sim["u"] = 1.0

        def go() -> None:
            for _ in range(20):
                try:
                    sim.advance(0.002)
                    outcomes.append("ok")
                except saltus.Busy:
                    outcomes.append("busy")

        threads = [threading.Thread(target=go) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert "ok" in outcomes and len(outcomes) == 60
        assert sim["w"] == pytest.approx(0.002 * outcomes.count("ok"), rel=1e-9)


def test_damaged_bytes_are_refused(ball: saltus.Model) -> None:
    good = ball.to_bytes()
    with ball.start() as sim:
        sim.advance(0.1)
        state = sim.state().to_bytes()
    result = ball.simulate()._raw.to_bytes()
    chance = random.Random(3)
    for data, read in ((good, saltus.Model.from_bytes), (state, saltus.State.from_bytes)):
        for i in range(200):
            damaged = bytearray(data)
            place = chance.randrange(len(damaged))
            damaged[place] ^= 1 << chance.randrange(8)
            with pytest.raises(saltus.DamagedData):
                read(bytes(damaged[: len(damaged) - (i % 3)]))
    from saltus._result import _restored

    for i in range(0, len(result), max(1, len(result) // 300)):
        damaged = bytearray(result[: len(result) - i % 2])
        damaged[i % len(damaged)] ^= 0xFF
        try:
            # There is no checksum: what can be read has columns of one length.
            again = _restored(bytes(damaged))
            assert all(len(again[name]) == len(again.time) for name in again)
        except saltus.DamagedData:
            pass


def test_exceptions_of_inputs_come_through(drive: saltus.Model) -> None:
    def wrong(t: float) -> float:
        if t > 0.5:
            raise LookupError("no more")
        return 1.0

    with pytest.raises(LookupError, match="no more"):
        drive.simulate(inputs={"u": wrong})
    with pytest.raises(ValueError, match="is NaN"):
        drive.simulate(inputs={"u": lambda t: math.nan})
    with pytest.raises(TypeError):
        drive.simulate(inputs={"u": lambda t: "x"})
    with drive.start(inputs={"u": wrong}) as sim, pytest.raises(LookupError):
        sim.advance(1)


def test_exceptions_of_progress_come_through(ball: saltus.Model) -> None:
    def wrong(done: int, n: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        ball.sweep(saltus.grid(e=np.linspace(0.5, 0.9, 200)), progress=wrong)


LONG = "model M parameter Real k = 1; Real x(start = 1, fixed = true), v(start = 0, fixed = true); equation der(x) = v; der(v) = -k*x; end M;"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(
    "what", ["simulate", "advance", "sweep", "search", "optimize", "fit", "differences", "linearize", "compile", "check"]
)
def test_control_c_ends_what_is_running(what: str) -> None:
    m = compiled(LONG)
    far = {"stop_time": 1e9, "intervals": 10}
    times = np.linspace(1, 1e8, 9)
    data = {"time": times, "x": np.cos(times)}
    # Takes several seconds to compile: an iterator as a number takes the loop apart.
    large = saltus.Session()
    large.load_text("M.mo", "model M Real x[40000](each start = 1, each fixed = true); equation for i in 1:40000 loop der(x[i]) = -x[i]/i; end for; end M;")
    uses = {
        "simulate": lambda: m.simulate(**far),
        "advance": lambda: m.start().advance(1e9),
        "sweep": lambda: m.sweep({"k": [1.0]}, record=["x"], **far),
        "search": lambda: m.search({"k": (0.5, 2)}, {"x": 0.3}, **far),
        "optimize": lambda: m.optimize({"k": (0.5, 2)}, minimize="x", **far),
        "fit": lambda: m.fit(data, {"k": (1, 0.5, 2)}),
        "differences": lambda: m.fit(data, {"k": (1, 0.5, 2)}, method="differences"),
        "linearize": lambda: m.linearize(at=1e9),
        "compile": lambda: large.compile("M"),
        "check": lambda: large.check("M"),
    }
    if what in ("fit", "differences"):
        pytest.importorskip("scipy")
    is_compiling = what in ("compile", "check")
    timer = threading.Timer(0.1 if is_compiling else 0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    started = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            uses[what]()
    finally:
        timer.cancel()
    assert time.monotonic() - started < 30
    # It can be used afterwards.
    if is_compiling:
        large.load_text("M.mo", LONG)
        m = large.compile("M")
    assert m.simulate(stop_time=1).last("x") == pytest.approx(math.cos(1), abs=1e-4)


def test_an_interpreter_leaves_while_threads_are_at_work() -> None:
    text = f"""
import saltus, threading, time
s = saltus.Session()
s.load_text("M.mo", {LONG.replace("model M", "model M input Real u;").replace("= -k", "= u - k")!r})
m = s.compile()
for work in (
    lambda: m.simulate(stop_time=1e8, intervals=5),
    lambda: m.start().advance(1e8),
    lambda: m.sweep({{"u": [1.0, 2.0]}}, stop_time=1e8, intervals=5, progress=lambda done, n: None),
    lambda: m.simulate(stop_time=1e7, inputs={{"u": lambda t: 0.0}}, intervals=5),
):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.5)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "Fatal" not in done.stderr, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_can_simulate(ball: saltus.Model) -> None:
    expected = ball.simulate().last("h")
    child = os.fork()
    if child == 0:
        os._exit(0 if ball.simulate().last("h") == expected else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_text_that_changed_does_not_make_variants() -> None:
    s = saltus.Session()
    s.load_text("M.mo", "model M parameter Integer n = 1; Real x[n] = fill(time, n); end M;")
    m = s.compile()
    s.load_text("M.mo", "model M parameter Integer n = 1; Real x[n] = fill(2*time, n); end M;")
    with pytest.raises(saltus.ValueRefused, match="changed"):
        m.simulate(n=2)
    assert s.compile().simulate(n=2).last("x[2]") == 2.0


def test_deep_recursion_is_an_error_in_any_thread() -> None:
    text = """model M
  function f input Real x; output Real y; algorithm y := if x < 0 then 1e30 else f(x + 1); end f;
  Real y = f(time);
end M;"""
    m = compiled(text)
    caught: list[BaseException] = []

    def run() -> None:
        for use in (m.simulate, lambda: m.start().advance(0.1)):
            try:
                use()
            except saltus.Error as error:
                caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert len(caught) == 2
