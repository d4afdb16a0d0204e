"""What users give: the same value in other clothes is the same value, and what is not meant is refused."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import saltus


@pytest.fixture(scope="module")
def chosen() -> saltus.Model:
    s = saltus.Session()
    s.load_text(
        "M.mo",
        """model M
  parameter Real a[3] = {1, 2, 3};
  input Real u;
  output Real y = u + sum(a);
  Real x(start = 0, fixed = true);
equation
  der(x) = u;
end M;""",
    )
    return s.compile("M")


@pytest.mark.parametrize("value", [np.float64(0.8), Fraction(4, 5), np.array(0.8), "0.8"])
def test_numbers(ball: saltus.Model, value: Any) -> None:
    assert ball.simulate(e=value, stop_time=0.1).parameters["e"] == 0.8


@pytest.mark.parametrize("value", [[1, 1, 1], (1.0, 1, 1), np.ones(3, dtype=int), (1 for _ in range(3))])
def test_arrays(chosen: saltus.Model, value: Any) -> None:
    # y = u + sum(a) at the start.
    assert chosen.simulate(a=value, u=2, stop_time=0.1)["y"][0] == 5


def test_what_was_set_is_read_back(chosen: saltus.Model) -> None:
    with chosen.start() as sim:
        sim["u"] = 1
        assert sim["u"] == 1 and sim.time == 0
        sim["a[1]"] = 2.5
        assert sim["a[1]"] == 2.5
        sim.advance(0.5)
        sim["x"] = 4.0
        sim["u"] = 3.0
        # y = u + sum(a) as it was at the last event.
        assert (sim["x"], sim["u"], sim["y"]) == (4.0, 3.0, 8.5)
        sim.advance(0.5)
        # x = 4 + 3*0.5.
        assert sim["x"] == pytest.approx(5.5) and sim["y"] == 10.5


def test_texts() -> None:
    s = saltus.Session()
    s.load_text(
        "T.mo",
        """model T
  parameter String unit = "m";
  parameter String names[2] = {"a", "b"};
  parameter Real k = if unit == "m" then 1 elseif unit == "say \\"km\\"\\\\" then 1000 else 0;
  parameter Boolean swapped = names[1] == "b" and names[2] == "a";
  Real x(start = 0, fixed = true);
equation
  der(x) = k;
end T;""",
    )
    m = s.compile("T")
    assert m.simulate(stop_time=1).last("x") == pytest.approx(1)
    # What stands in it needs no quotes of Modelica.
    assert m.simulate(unit='say "km"\\', stop_time=1).last("x") == pytest.approx(1000)
    assert m.simulate(names=["b", "a"], stop_time=1).parameters["swapped"] == 1
    with m.start(unit="km") as sim:
        assert (sim["unit"], sim["k"]) == ("km", 0.0)
    with pytest.raises(TypeError, match="unit: expected a str or a list of them, found int"):
        m.simulate(unit=3)


def test_series_and_frames(ball: saltus.Model, chosen: saltus.Model) -> None:
    pandas = pytest.importorskip("pandas")
    assert ball.simulate(pandas.Series({"e": 0.8}), stop_time=0.1).parameters["e"] == 0.8
    # x = t²/2 for u = t.
    ramp = pandas.Series([0.0, 1.0], index=[0.0, 1.0])
    assert chosen.simulate(inputs={"u": ramp}, stop_time=1).last("x") == pytest.approx(0.5)
    frame = pandas.DataFrame({"e": [0.7, 0.8]})
    assert ball.sweep(frame, record="max(h)")["e"].tolist() == [0.7, 0.8]
    assert ball.sweep({"e": (one for one in (0.7, 0.8))}, record="max(h)")["e"].tolist() == [0.7, 0.8]


def test_one_name_is_a_list_of_one(ball: saltus.Model, tmp_path: Path) -> None:
    assert ball.jacobian("der(h)", "v").tolist() == [[1.0]]
    r = ball.simulate(stop_time=0.1)
    r.plot(["h", "v"], file=tmp_path / "ball.svg")
    assert [name for name, _ in r.items()] == r.names
    assert ball.search({"e": np.array([0.5, 0.95])}, {"event(h < 0).v": 3.0}, stop_time=0.6)["e"] == pytest.approx(0.67728, abs=1e-5)


def test_what_is_not_meant_is_refused(ball: saltus.Model, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="values: expected values by name, found list"):
        ball.simulate([0.8])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="inputs"):
        ball.simulate(inputs=[1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="package.mo"):
        saltus.Session(files=[tmp_path])
    with pytest.raises(ValueError, match="deviation"):
        saltus.samples(4, e=("normal", 0, -1))


def test_a_pool_that_lost_a_process_says_so(ball: saltus.Model, tmp_path: Path) -> None:
    points = saltus.grid(e=np.linspace(0.7, 0.9, 200))
    expected = ball.sweep(points, record="max(v)", stop_time=1)
    with ProcessPoolExecutor(2) as pool:

        def kill(_done: int, _n: int) -> None:
            for process in list(pool._processes.values()):
                process.kill()

        with pytest.raises(saltus.Error, match="lost a worker"):
            ball.sweep(points, record="max(v)", stop_time=1, executor=pool, chunk=10, to=tmp_path / "study", progress=kill)
    found = ball.sweep(points, record="max(v)", stop_time=1, chunk=10, to=tmp_path / "study")
    assert found.tobytes() == expected.tobytes()
