"""Fitting: sensitivities against closed forms, parameters against the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

import saltus

pytest.importorskip("scipy")


def compiled(text: str) -> saltus.Model:
    s = saltus.Session()
    s.load_text("M.mo", text)
    return s.compile()


DECAY = "model M parameter Real k = 1, a = 2; Real x(start = a, fixed = true); equation der(x) = -k*x; end M;"


def followed(m: saltus.Model, of: str, by: dict[str, float], times: list[float]) -> tuple[np.ndarray, np.ndarray, float, str | None]:
    follower = m._raw.follower([of], list(by), times, {}, {"tolerance": 1e-9})
    values, flat, until, why = follower.follow(list(by.values()))
    return np.asarray(values), np.asarray(flat).reshape(len(times), len(by)), until, why


# More closed forms are in crates/saltus/tests/sensitivity.rs.
def test_sensitivities_of_a_decay() -> None:
    t = np.array([0.0, 0.5, 1.0, 2.0])
    values, s, until, why = followed(compiled(DECAY), "x", {"k": 1.5, "a": 3.0}, t.tolist())
    assert why is None and until == math.inf
    assert values == pytest.approx(3 * np.exp(-1.5 * t), rel=1e-7)
    assert s[:, 0] == pytest.approx(-3 * t * np.exp(-1.5 * t), abs=1e-6)
    assert s[:, 1] == pytest.approx(np.exp(-1.5 * t), rel=1e-6)


def test_sensitivities_follow_a_jump(ball: saltus.Model) -> None:
    # Behind the impact at t1 the ball is at e g t1 r - g r²/2 with r = t - t1, whatever else depends on e.
    t1 = math.sqrt(2 / 9.81)
    _, s, _, why = followed(ball, "h", {"e": 0.8}, [0.2, 0.6])
    assert why is None
    assert s[:, 0] == pytest.approx([0, 9.81 * t1 * (0.6 - t1)], abs=1e-6)


def test_what_remembers_is_left_to_differences() -> None:
    m = compiled("model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*delay(x, 0.2); end M;")
    _, s, until, why = followed(m, "x", {"k": 1.0}, [0.5])
    assert until == -math.inf and why is not None and np.isnan(s).all()
    # x = 1 - k t up to 0.2, as x was 1 before.
    t = np.linspace(0.01, 0.19, 10)
    found = m.fit({"time": t, "x": 1 - 0.7 * t}, {"k": (1, 0.1, 5)})
    assert found["k"] == pytest.approx(0.7, rel=1e-4) and "delays" in (found.remark or "")


def test_a_model_that_ends_by_itself_is_not_fitted_behind_its_end() -> None:
    m = compiled(
        "model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x;"
        " when x < 0.5 then terminate(\"enough\"); end when; end M;"
    )
    with pytest.raises(saltus.SimulationError, match="ends by itself"):
        m.fit({"time": [0.1, 2.0], "x": [0.9, 0.1]}, {"k": (1, 0.5, 2)})


def test_a_structural_parameter_is_fitted_by_differences() -> None:
    m = compiled(
        "model M parameter Real k = 1 annotation(Evaluate = true); Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;"
    )
    t = np.linspace(0, 1, 20)
    found = m.fit({"time": t, "x": np.exp(-1.5 * t)}, {"k": (1, 0.1, 5)}, tolerance=1e-8)
    assert found["k"] == pytest.approx(1.5, rel=1e-4)


def test_a_fit_finds_the_truth() -> None:
    m = compiled(DECAY)
    chance = np.random.default_rng(1)
    t = np.linspace(0, 2, 60)
    x = 3 * np.exp(-1.5 * t) + 0.02 * chance.standard_normal(60)
    found = m.fit({"time": t, "x": x}, {"k": (1, 0.1, 5), "a": (1, 0.1, 10)})
    for name, truth in (("k", 1.5), ("a", 3.0)):
        low, high = found.confidence[name]
        assert low < truth < high and found.deviations[name] < 0.05
    assert found.sigma["x"] == pytest.approx(0.02, rel=0.3) and found.success and found.remark is None
    plain = m.fit({"time": t, "x": x}, {"k": (1, 0.1, 5), "a": (1, 0.1, 10)}, method="differences")
    assert plain["k"] == pytest.approx(found["k"], rel=1e-4)


def test_the_ball_is_fitted_over_its_impacts(ball: saltus.Model) -> None:
    truth = ball.simulate(e=0.83, tolerance=1e-8)
    t = np.linspace(0.05, 1.4, 40)
    chance = np.random.default_rng(2)
    h = truth.at("h", t) + 1e-3 * chance.standard_normal(40)
    found = ball.fit({"time": t, "h": h}, {"e": (0.75, 0.5, 0.95)}, tolerance=1e-8)
    low, high = found.confidence["e"]
    # Two differences of runs are the check.
    assert low < 0.83 < high and found.difference_runs == 2 and found.remark is None


@pytest.mark.parametrize("method", ["auto", "differences"])
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_what_the_data_does_not_determine_is_told(method: str, noise: float) -> None:
    """Only the product of a and b is in the data, and nothing of c."""
    m = compiled("model M parameter Real k = 1, a = 2, b = 1, c = 1; Real x(start = a*b, fixed = true); equation der(x) = -k*x; end M;")
    t = np.linspace(0, 2, 40)
    data = {"time": t, "x": 3 * np.exp(-1.5 * t) + noise * np.random.default_rng(0).standard_normal(40)}
    for others, free in (({"b": (1.5, 0.1, 10)}, ("a", "b")), ({"c": (1, 0.1, 10)}, ("c",))):
        with pytest.warns(UserWarning, match="does not determine `"):
            found = m.fit(data, {"k": (1, 0.1, 5), "a": (1, 0.1, 10), **others}, method=method)
        assert found.undetermined == free and "does not determine" in (found.remark or "")
        assert all(found.deviations[name] == math.inf for name in free)
        # What is determined has the deviation that it has without the others.
        alone = m.fit(data, {"k": (1, 0.1, 5), "a": (1, 0.1, 10)}, method=method)
        assert alone.remark is None and found["k"] == pytest.approx(1.5, abs=0.03)
        assert found.deviations["k"] == pytest.approx(alone.deviations["k"], rel=0.05)


def test_deviations_are_those_of_linear_regression() -> None:
    m = compiled("model M parameter Real a = 1; Real x = a*time; end M;")
    t = np.linspace(0, 2, 40)
    x = 2 * t + 0.1 * np.random.default_rng(0).standard_normal(40)
    found = m.fit({"time": t, "x": x}, {"a": (1, -10, 10)})
    slope = (t @ x) / (t @ t)
    variance = ((x - slope * t) ** 2).sum() / 39
    assert found["a"] == pytest.approx(slope) and found.deviations["a"] == pytest.approx(math.sqrt(variance / (t @ t)))
    known = m.fit({"time": t, "x": x}, {"a": (1, -10, 10)}, sigma={"x": 0.1})
    low, high = known.confidence["a"]
    # 1.96 is the quantile of the normal distribution: no noise had to be estimated.
    assert high - low == pytest.approx(2 * 1.959964 * 0.1 / math.sqrt(t @ t), rel=1e-6)


def test_one_measurement_says_nothing_about_deviations() -> None:
    m = compiled(DECAY)
    with pytest.warns(UserWarning, match="as many parameters as measurements"):
        found = m.fit({"time": [1.0], "x": [0.5]}, {"k": (1, 0.1, 5)})
    # x = 2 exp(-k)
    assert found["k"] == pytest.approx(math.log(4), rel=1e-5)
    assert found.confidence["k"] == (-math.inf, math.inf) and math.isnan(found.sigma["x"])
    known = m.fit({"time": [1.0], "x": [0.5]}, {"k": (1, 0.1, 5)}, sigma={"x": 0.1})
    # dx/dk = -x
    assert known.deviations["k"] == pytest.approx(0.1 / 0.5, rel=1e-4)


def test_bounds_are_told_and_kept() -> None:
    t = np.linspace(0, 1, 20)
    m = compiled("model M parameter Real k(min = 0) = 1; parameter Integer n = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;")
    # It grows, and would need a negative k.
    with pytest.warns(UserWarning, match="`k` ended at a bound"):
        found = m.fit({"time": t, "x": np.exp(0.5 * t)}, {"k": 1.0})
    assert 0 <= found["k"] < 1e-6
    for unknowns in ({"k": (-1, 1)}, {"n": (1, 5)}):
        with pytest.raises(ValueError):
            m.fit({"time": t, "x": np.exp(-t)}, unknowns)


def test_wrong_data_is_refused(ball: saltus.Model) -> None:
    for data, unknowns in (
        ({"h": [1.0]}, {"e": 0.7}),
        ({"time": [0.0, 1.0], "h": [1.0]}, {"e": 0.7}),
        ({"time": [0.0], "hh": [1.0]}, {"e": 0.7}),
        ({"time": [0.0], "h": [1.0]}, {}),
        ({"time": [0.0], "h": [1.0]}, {"e": (2, 1)}),
        ({"time": [math.nan], "h": [1.0]}, {"e": 0.7}),
        ({"time": [0.1], "h": [math.nan]}, {"e": 0.7}),
        ({"time": [0.1, 0.2], "h": [1.0, math.inf]}, {"e": 0.7}),
        (3, {"e": 0.7}),
    ):
        with pytest.raises((ValueError, TypeError, saltus.Error)):
            ball.fit(data, unknowns)
    for sigma in ({"h": 1.0, "v": 1.0}, {"h": math.inf}, {"h": 0.0}, {}):
        with pytest.raises(ValueError, match="sigma"):
            ball.fit({"time": [0.1, 0.2], "h": [1.0, 0.9]}, {"e": 0.7}, sigma=sigma)


def test_friction_takes_fewer_runs_than_differences() -> None:
    """The block of the book sticks and breaks loose eight times; the truth is what its data was made of."""
    block = saltus.Session().compile("Saltus.Examples.E1997.RoughBlock")
    truth = block.simulate(tolerance=1e-9)
    times = np.linspace(0.02, 5, 250)
    chance = np.random.default_rng(1)
    data = {
        "time": times,
        "block1.s": truth.at("block1.s", times) + 1e-4 * chance.standard_normal(250),
        "spring.f": truth.at("spring.f", times) + 1e-2 * chance.standard_normal(250),
    }
    unknowns = {
        "spring.c": (85, 20, 300),
        "block1.m": (1.3, 0.2, 5),
        "air.d": (0.3, 0, 5),
        "surface.f0": (1.8, 0.5, 5),
        "surface.peak": (1.35, 1, 2),
    }
    found = block.fit(data, unknowns, tolerance=1e-9)
    differences = block.fit(data, unknowns, tolerance=1e-9, method="differences")
    assert found.remark is None and found.valid_until == math.inf
    assert found.difference_runs == 2 and 2 * found.runs < differences.runs
    for name, expected in [("spring.c", 100), ("block1.m", 1), ("air.d", 0.5), ("surface.f0", 2), ("surface.peak", 1.25)]:
        low, high = found.confidence[name]
        assert low <= expected <= high, name
