"""Many runs: points, executors, data sets."""

from __future__ import annotations

import json
import math
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import saltus

G = 9.81
RECORD = {"top": "max(v)", "impact": "event(h < 0).time"}


def study(ball: saltus.Model, **more: object) -> saltus.Sweep:
    points = saltus.grid(e=np.linspace(0.7, 0.9, 60))
    return ball.sweep(points, record=RECORD, stop_time=0.6, **more)


def test_a_sweep_is_the_closed_form(ball: saltus.Model) -> None:
    s = study(ball)
    assert s.names == ["run", "e", "ok", "top", "impact"] and len(s) == 60
    assert s["impact"] == pytest.approx(math.sqrt(2 / G), abs=1e-9)
    assert s["top"] == pytest.approx(s["e"] * math.sqrt(2 * G), rel=1e-6)
    assert not s.failures and s["ok"].all()


def test_the_number_of_threads_does_not_matter(ball: saltus.Model) -> None:
    assert study(ball, jobs=1).tobytes() == study(ball, jobs=3).tobytes()


def test_last_values_are_those_of_runs(ball: saltus.Model) -> None:
    s = ball.sweep({"e": [0.7, 0.8]}, keep=["h", "low"])
    assert s["h"].tolist() == [ball.simulate(e=e).last("h") for e in (0.7, 0.8)]
    assert s["time"].tolist() == [1.5, 1.5]


def test_all_rows_of_all_runs(ball: saltus.Model) -> None:
    s = ball.sweep({"e": [0.7, 0.8]}, trajectories=True, keep=["h"], intervals=10)
    second = ball.simulate(e=0.8, keep=["h"], intervals=10)
    assert s["h"][s["run"] == 1].tolist() == second["h"].tolist()


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_executors_give_the_same_bytes(ball: saltus.Model, kind: str) -> None:
    expected = study(ball).tobytes()
    made = (
        ThreadPoolExecutor(2)
        if kind == "threads"
        else ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    )
    with made as executor:
        assert study(ball, executor=executor, chunk=7).tobytes() == expected


def test_dask_gives_the_same_bytes(ball: saltus.Model) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.Client(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as client:
        assert study(ball, executor=client, chunk=7).tobytes() == study(ball).tobytes()


def test_runs_that_fail_do_not_disturb_others() -> None:
    s = saltus.Session()
    s.load_text("M.mo", "model M parameter Real p = 1; Real x = sqrt(p - time); end M;")
    swept = s.compile().sweep({"p": [0.5, 2.0, 0.1, 3.0]}, record=["x"])
    assert swept["ok"].tolist() == [0, 1, 0, 1] and list(swept.failures) == [0, 2]
    assert np.isnan(swept["x"][0]) and swept["x"][1] == pytest.approx(1.0)
    assert "at time" in swept.failures[0]


def test_structural_variants_come_in_order(drive: saltus.Model) -> None:
    s = drive.sweep({"n": [2, 3, 2, 3], "k": [1, 2, 3, 4]}, values={"u": 1.0}, record=["w", "x[2]"], stop_time=1)
    assert s["w"] == pytest.approx([1, 2, 3, 4]) and s["n"].tolist() == [2, 3, 2, 3]
    with ThreadPoolExecutor(2) as executor:
        again = drive.sweep(
            {"n": [2, 3, 2, 3], "k": [1, 2, 3, 4]}, values={"u": 1.0}, record=["w", "x[2]"], stop_time=1, executor=executor, chunk=1
        )
    assert again.tobytes() == s.tobytes()


def test_variants_record_what_they_have(drive: saltus.Model) -> None:
    s = drive.sweep({"n": [2, 3]}, values={"u": 1.0}, keep=["x[3]", "w"], stop_time=1)
    assert np.isnan(s["x[3]"][0]) and s["x[3]"][1] == pytest.approx(1.0) and s["w"] == pytest.approx([1, 1])
    with pytest.raises(saltus.UnknownName, match="x\\[4\\]"):
        drive.sweep({"n": [2, 3]}, keep=["x[4]", "w"])


def test_structural_enumerations_are_set_by_literals() -> None:
    s = saltus.Session()
    text = """model M
  type E = enumeration(one, two);
  parameter E which = E.one annotation(Evaluate = true);
  Real y;
equation
  if which == E.two then y = 2; else y = 1; end if;
end M;"""
    s.load_text("M.mo", text)
    m = s.compile()
    assert m.simulate(which="two").last("y") == 2.0
    assert m.sweep({"which": [1, 2]}, record=["y"])["y"].tolist() == [1, 2]


def test_an_interrupted_study_goes_on(ball: saltus.Model, tmp_path: Path) -> None:
    whole = study(ball)
    expected = whole.tobytes()
    done: list[int] = []

    def stop(n: int, _: int) -> None:
        done.append(n)
        if n >= 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study(ball, to=tmp_path / "set", chunk=10, progress=stop)
    first = sorted(path.name for path in (tmp_path / "set").glob("*.parquet"))
    times = {name: os.stat(tmp_path / "set" / name).st_mtime_ns for name in first}
    assert len(first) == 3
    # Two parts are damaged: they are made again.
    (tmp_path / "set" / "part-000001.done").write_bytes(b"nonsense")
    table = tmp_path / "set" / "part-000002.parquet"
    table.write_bytes(table.read_bytes()[:-1])
    assert study(ball, to=tmp_path / "set", chunk=10).tobytes() == expected
    after = {name: os.stat(tmp_path / "set" / name).st_mtime_ns for name in first}
    assert after["part-000000.parquet"] == times["part-000000.parquet"]
    assert after["part-000001.parquet"] != times["part-000001.parquet"]
    assert table.read_bytes()[-4:] == b"PAR1"
    assert json.loads((tmp_path / "set" / "manifest.json").read_text())["n"] == 60
    with pytest.raises(saltus.Error, match="another study"):
        ball.sweep({"e": [0.7]}, to=tmp_path / "set")
    pyarrow = pytest.importorskip("pyarrow.dataset")
    table = pyarrow.dataset(tmp_path / "set", format="parquet", exclude_invalid_files=True).to_table()
    # The rows of the data set say which points they belong to.
    order = np.argsort(table["run"].to_numpy())
    assert table["run"].to_numpy()[order].tolist() == list(range(60))
    assert all(np.array_equal(table[name].to_numpy()[order], whole[name], equal_nan=True) for name in table.column_names)


def test_as_many_chunks_of_other_sizes_are_another_study(ball: saltus.Model, tmp_path: Path) -> None:
    # Three chunks of 21, 21 and 18 points, and of 25, 25 and 10.
    study(ball, to=tmp_path / "set", chunk=21)
    with pytest.raises(saltus.Error, match="another study"):
        study(ball, to=tmp_path / "set", chunk=25)


def test_arrays_can_be_set_for_all_runs() -> None:
    s = saltus.Session()
    s.load_text("M.mo", "model M parameter Real p[2] = {1, 2}; parameter Real k = 1; Real x = k*p[2]; end M;")
    assert s.compile().sweep({"k": [1, 2]}, values={"p": [3, 4]}, record=["x"])["x"].tolist() == [4, 8]


@pytest.mark.parametrize("method", ["latin-hypercube", "random", "sobol"])
def test_samples(method: str) -> None:
    if method == "sobol":
        pytest.importorskip("scipy")
    s = saltus.samples(64, a=(1, 3), b=("normal", 5, 2), method=method, seed=4)
    assert len(s) == 64 and s["a"].min() >= 1 and s["a"].max() <= 3
    again = saltus.samples(64, a=(1, 3), b=("normal", 5, 2), method=method, seed=4)
    assert np.array_equal(s.values, again.values)
    if method == "latin-hypercube":
        assert sorted(((s["a"] - 1) / 2 * 64).astype(int)) == list(range(64))


@pytest.mark.parametrize(
    "points", [{}, {"e": []}, {"e": [math.nan]}, {"e": ["x"]}, {"e": [1, 2], "g": [1, 2, 3]}, 3, {"e": [[1, 2]]}, {"h": [1]}]
)
def test_wrong_points_are_refused(ball: saltus.Model, points: object) -> None:
    with pytest.raises((ValueError, TypeError, saltus.Error)):
        ball.sweep(points)


def test_wrong_options_are_refused(ball: saltus.Model) -> None:
    points = {"e": [0.7, 0.8]}
    for more in ({"executor": 3}, {"chunk": 0, "executor": ThreadPoolExecutor(1)}, {"jobs": 0}, {"record": ["maxi(h)"]}, {"progress": 3}):
        with pytest.raises((ValueError, TypeError, saltus.Error)):
            ball.sweep(points, **more)
