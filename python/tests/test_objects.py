"""Sessions, models, results and simulations."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import saltus

G = 9.81


def test_the_ball_falls_and_bounces(ball: saltus.Model) -> None:
    r = ball.simulate(stop_time=1.0, e=0.8)
    impact = math.sqrt(2 / G)
    state = [event for event in r.events if event.cause == "h < 0.0"]
    assert state[0].time == pytest.approx(impact, abs=1e-9)
    assert state[0].changes["v"] == pytest.approx((-G * impact, 0.8 * G * impact), rel=1e-9)
    # Free flight after the impact.
    t = 1.0 - impact
    assert r.last("h") == pytest.approx(0.8 * G * impact * t - G * t * t / 2, abs=1e-6)
    assert r.parameters["e"] == 0.8
    assert r["e"].shape == r.time.shape and r["e"].strides == (0,)
    assert r.info("h").unit == "m" and r.info("h").description == "Height"
    assert r.statistics["steps"] > 0


def test_arrays_are_views(ball: saltus.Model) -> None:
    r = ball.simulate()
    first, second = r["h"], r["h"]
    assert first.ctypes.data == second.ctypes.data and not first.flags.owndata and not first.flags.writeable
    address, copy = first.ctypes.data, first.copy()
    del r, second
    assert first.ctypes.data == address and np.array_equal(first, copy)


def test_times_beside_the_run_have_no_values(ball: saltus.Model) -> None:
    r = ball.simulate(stop_time=0.4)
    # Between rows the parabola of the fall, not its chords.
    assert r.at("h", [0.1001, 0.3998]) == pytest.approx([1 - G * 0.1001**2 / 2, 1 - G * 0.3998**2 / 2], abs=1e-9)
    for wrong in (0.5, -0.1, math.nan, [0.1, math.inf]):
        with pytest.raises(ValueError, match="expected times from 0 to 0.4 s"):
            r.at("h", wrong)


def test_arrow_streams_do_not_copy(ball: saltus.Model) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    r = ball.simulate()
    table = pyarrow.table(r)
    assert table.column_names[0] == "time"
    assert table["h"].chunk(0).buffers()[1].address == r["h"].ctypes.data
    assert table["low"].to_pylist() == [bool(value) for value in r["low"]]
    assert table.schema.field("h").metadata == {b"unit": b"m", b"description": b"Height"}


def test_data_frames(ball: saltus.Model) -> None:
    polars = pytest.importorskip("polars")
    pytest.importorskip("pandas")
    r = ball.simulate()
    frame = r.to_polars()
    assert frame["h"].to_list() == r["h"].tolist() and frame["low"].dtype == polars.Boolean
    pandas_frame = r.to_pandas()
    assert np.shares_memory(pandas_frame["h"].to_numpy(), r["h"])


def test_enumerations_and_integers_have_types_in_tables(session: saltus.Session) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    session.load_text(
        "Kinds.mo",
        "model Kinds type E = enumeration(slow, fast); E e = if time > 0.5 then E.fast else E.slow;"
        " Integer n = if time > 0.5 then -3 else 4; end Kinds;",
    )
    table = pyarrow.table(session.compile("Kinds").simulate(stop_time=1, intervals=2))
    assert table["e"].to_pylist()[0] == "slow" and table["e"].to_pylist()[-1] == "fast"
    assert table["n"].to_pylist()[0] == 4 and table["n"].to_pylist()[-1] == -3


@pytest.mark.parametrize("ending", ["csv", "mat", "parquet"])
def test_results_are_saved(ball: saltus.Model, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"ball.{ending}"
    ball.simulate().save(path)
    assert path.stat().st_size > 1000


def test_pictures(ball: saltus.Model, tmp_path: Path) -> None:
    r = ball.simulate()
    r.plot("h", "v", file=tmp_path / "ball.svg")
    assert (tmp_path / "ball.svg").read_text().startswith("<svg")
    assert "iframe" in r._repr_html_() and "<script" not in r._repr_html_()
    with pytest.raises(saltus.UnknownName, match="did you mean `h`"):
        r.plot("hh")


def test_stepping_follows_the_closed_form(drive: saltus.Model) -> None:
    with drive.start(k=2.0) as sim:
        for i in range(1000):
            sim["u"] = 1.0 if i < 500 else 0.0
            assert sim.advance(0.001)
        # Two units a second for half of it.
        assert sim["w"] == pytest.approx(1.0, abs=1e-9) and sim["y"] == pytest.approx(2.0, abs=1e-9)
        assert sim.time == pytest.approx(1.0, abs=1e-15)


def test_equal_steps_do_not_drift(drive: saltus.Model) -> None:
    with drive.start() as sim:
        for _ in range(10_000):
            sim.advance(0.1)
        assert sim.time == 10_000 * 0.1


def test_a_state_goes_on_bit_by_bit(ball: saltus.Model) -> None:
    with ball.start(e=0.8) as sim, ball.start() as other:
        sim.advance_to(0.7)
        kept = pickle.loads(pickle.dumps(sim.state()))
        sim.advance_to(1.2)
        expected = sim["h"], sim["v"]
        sim.restore(kept)
        sim.advance_to(1.2)
        assert (sim["h"], sim["v"]) == expected
        other.restore(kept)
        other.advance_to(1.2)
        assert (other["h"], other["v"]) == expected


def test_a_state_brings_its_inputs_back(drive: saltus.Model) -> None:
    with drive.start() as sim:
        sim["u"] = 12.0
        sim.advance(0.5)
        state = sim.state()
        sim["u"] = 0.0
        sim.advance(0.5)
        assert sim["w"] == pytest.approx(6.0)
        sim.restore(state)
        sim.advance(0.5)
        assert sim["w"] == pytest.approx(12.0)


def test_a_stepped_run_is_the_run(ball: saltus.Model) -> None:
    with ball.start(record=True, stop_time=1.5) as sim:
        while sim.advance(0.01):
            pass
        assert sim.is_over
        stepped = saltus.result(sim)
    whole = ball.simulate(stop_time=1.5)
    assert np.array_equal(stepped["h"], whole["h"]) and np.array_equal(stepped.time, whole.time)


def test_models_travel(ball: saltus.Model, tmp_path: Path) -> None:
    copy = pickle.loads(pickle.dumps(ball))
    assert np.array_equal(copy.simulate(e=0.75)["h"], ball.simulate(e=0.75)["h"])
    ball.save(tmp_path / "ball.saltus")
    assert saltus.Model.load(tmp_path / "ball.saltus").name == "Ball"
    result = ball.simulate()
    again = pickle.loads(pickle.dumps(result))
    assert np.array_equal(again["v"], result["v"]) and again.events == result.events


def test_models_outlive_their_session() -> None:
    with saltus.Session() as s:
        s.load_text("M.mo", "model M parameter Integer n = 1; Real x[n] = fill(time, n); end M;")
        m = s.compile()
    assert m.simulate().last("x[1]") == 1.0
    with pytest.raises(saltus.Closed):
        s.compile()
    with pytest.raises(saltus.Closed):
        m.simulate(n=2)


def test_structural_parameters_are_compiled_once(drive: saltus.Model) -> None:
    r = drive.simulate(n=5)
    assert "x[5]" in r and "x[6]" not in r
    first, second = drive._raw.variant({"n": 5}), drive._raw.variant({"n": 5})
    assert first.to_bytes() == second.to_bytes()
    copy = pickle.loads(pickle.dumps(drive))
    with pytest.raises(saltus.ValueRefused, match="no session"):
        copy.simulate(n=5)


def test_inputs_are_numbers_tables_and_functions(drive: saltus.Model) -> None:
    settings = {"k": 2.0, "stop_time": 1.0, "tolerance": 1e-9}
    assert drive.simulate(inputs={"u": 3.0}, **settings).last("w") == pytest.approx(6.0)
    assert drive.simulate(inputs={"u": lambda t: t}, **settings).last("w") == pytest.approx(1.0, abs=1e-8)
    assert drive.simulate(inputs={"u": ([0, 1], [0, 2])}, **settings).last("w") == pytest.approx(2.0, abs=1e-8)
    held = drive.simulate(inputs={"u": ([0, 0.5], [0, 2], "hold")}, **settings)
    assert held.last("w") == pytest.approx(2.0, abs=1e-8)


def test_linear_models(drive: saltus.Model, session: saltus.Session) -> None:
    linear = drive.linearize(k=3.0)
    assert (linear.A == 0).all() and linear.B.tolist() == [[3.0]] and linear.C.tolist() == [[2.0]]
    session.load_text("Square.mo", "model Square Real x(start = 2, fixed = true); equation der(x) = -x^2; end Square;")
    square = session.compile("Square")
    assert square.jacobian(["der(x)"], ["x"], at=1.0)[0, 0] == pytest.approx(-2 / (0.5 + 1.0), rel=1e-5)


def test_searches(ball: saltus.Model) -> None:
    # After the first impact the ball rises to e².
    found = ball.search({"e": (0.5, 0.99)}, {"event(h < 0).v": 0.8 * math.sqrt(2 * G)}, stop_time=0.75)
    assert found["e"] == pytest.approx(0.8, abs=1e-7)
    best = ball.optimize({"e": (0.5, 0.99)}, minimize="(event(h < 0).v - 3)^2", stop_time=0.75)
    assert best["e"] == pytest.approx(3 / math.sqrt(2 * G), abs=1e-4)


def test_threads_share_a_model(ball: saltus.Model) -> None:
    expected = {e: ball.simulate(e=e)["h"] for e in (0.7, 0.75, 0.8, 0.85)}
    found: dict[float, np.ndarray] = {}
    threads = [threading.Thread(target=lambda e=e: found.update({e: ball.simulate(e=e)["h"]})) for e in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(found[e], expected[e]) for e in expected)


def test_the_program_is_in_the_package(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "saltus", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.split()[0] == "saltus"
    (tmp_path / "M.mo").write_text("model M Real x = time end M;")
    done = subprocess.run([sys.executable, "-m", "saltus", "check", str(tmp_path / "M.mo")], capture_output=True, text=True)
    assert done.returncode == 1 and "M.mo:1:" in done.stderr


def test_derivatives_belong_to_the_variant_that_is_run(drive: saltus.Model) -> None:
    """With other sizes variables have other places in memory."""
    for n in (2, 7):
        assert drive.jacobian(["der(w)", "y", "x[2]"], ["u", "w"], values={"n": n, "k": 3.0}).tolist() == [[3, 0], [0, 2], [0, 1]]


def test_nothing_is_derived_behind_the_end() -> None:
    s = saltus.Session()
    s.load_text("M.mo", "model M Real x(start = 1, fixed = true); equation der(x) = -x; when x < 0.5 then terminate(\"enough\"); end when; end M;")
    with pytest.raises(ValueError, match="ends by itself at 0.69"):
        s.compile().jacobian(["der(x)"], ["x"], at=0.9)


def test_steps_go_on_without_a_stop_time(drive: saltus.Model) -> None:
    with drive.start() as sim:
        sim["u"] = 1.0
        n = 0
        while sim.time < 3.0 and n < 10_000:
            sim.step()
            n += 1
        assert sim.time >= 3.0 and sim["w"] == pytest.approx(sim.time)


def test_rows_behind_a_restored_state_are_forgotten(drive: saltus.Model) -> None:
    with drive.start(record=True, interval=0.1, stop_time=10) as sim:
        sim["u"] = 1.0
        sim.advance(1.0)
        state = sim.state()
        sim["u"] = 5.0
        sim.advance(2.0)
        sim.restore(state)
        sim.advance(1.0)
        r = saltus.result(sim)
    assert (np.diff(r.time) >= 0).all() and r.time[-1] == 2.0
    # u was 1 all the time, as far as the run remembers.
    assert r.at("w", [0.5, 1.5, 2.0]) == pytest.approx([0.5, 1.5, 2.0]) and max(e.time for e in r.events) <= 2.0


def test_warnings_travel_between_processes() -> None:
    warning = saltus.ModelicaWarning(saltus.Diagnostic("W0001", "warning", "careful", line=3))
    again = pickle.loads(pickle.dumps(warning))
    assert again.diagnostic == warning.diagnostic and "careful" in str(again)
