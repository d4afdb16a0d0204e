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


def test_sensitivities_of_a_decay() -> None:
    times = [0.0, 0.5, 1.0, 2.0]
    values, flat, until, why = compiled(DECAY)._raw.sensitivities(
        ["x"], [("k", 1.5), ("a", 3.0)], times, {}, {"tolerance": 1e-10}
    )
    t = np.array(times)
    s = np.asarray(flat).reshape(4, 2)
    assert why is None and until == math.inf
    assert np.asarray(values) == pytest.approx(3 * np.exp(-1.5 * t), rel=1e-8)
    assert s[:, 0] == pytest.approx(-3 * t * np.exp(-1.5 * t), abs=1e-7)
    assert s[:, 1] == pytest.approx(np.exp(-1.5 * t), rel=1e-6)


def test_sensitivities_follow_events() -> None:
    # Speed 2 up to x = c, then speed 1: x = c + (t - c/2), so that dx/dc = 1/2 afterwards.
    m = compiled("model M parameter Real c = 1; Real x(start = 0, fixed = true); equation der(x) = if x < c then 2 else 1; end M;")
    _, flat, _, why = m._raw.sensitivities(["x"], [("c", 1.0)], [0.25, 0.75, 1.0], {}, {})
    assert why is None
    assert np.asarray(flat) == pytest.approx([0, 0.5, 0.5], abs=1e-6)


def test_sensitivities_follow_timers() -> None:
    # Speed 1 up to t = c, then 3: x = c + 3 (t - c), so that dx/dc = -2 afterwards.
    m = compiled("model M parameter Real c = 0.5; Real x(start = 0, fixed = true); equation der(x) = if time < c then 1 else 3; end M;")
    _, flat, _, why = m._raw.sensitivities(["x"], [("c", 0.5)], [0.25, 0.75, 1.0], {}, {})
    assert why is None
    assert np.asarray(flat) == pytest.approx([0, -2, -2], abs=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "model M parameter Real k = 1; Real x(start = 1, fixed = true); discrete Real u; equation der(x) = u;"
        " when sample(0, 0.1) then u = -k*x; end when; end M;",
        "model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*delay(x, 0.2); end M;",
    ],
)
def test_what_remembers_is_left_to_differences(text: str) -> None:
    _, flat, until, why = compiled(text)._raw.sensitivities(["x"], [("k", 1.0)], [0.5], {}, {})
    assert until == -math.inf and why is not None and np.isnan(np.asarray(flat)).all()


def test_a_jump_of_a_state_is_left_to_differences(ball: saltus.Model) -> None:
    _, flat, until, why = ball._raw.sensitivities(["h"], [("e", 0.8)], [0.2, 0.6], {}, {})
    s = np.asarray(flat)
    assert s[0] == pytest.approx(0, abs=1e-9) and np.isnan(s[1])
    assert until == pytest.approx(math.sqrt(2 / 9.81), abs=1e-6) and "jumps" in (why or "")


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


def test_the_ball_is_fitted_by_differences_behind_the_impact(ball: saltus.Model) -> None:
    truth = ball.simulate(e=0.83, tolerance=1e-8)
    t = np.linspace(0.05, 0.9, 40)
    chance = np.random.default_rng(2)
    h = truth.at("h", t) + 1e-3 * chance.standard_normal(40)
    found = ball.fit({"time": t, "h": h}, {"e": (0.75, 0.5, 0.95)}, tolerance=1e-8)
    low, high = found.confidence["e"]
    assert low < 0.83 < high and found.difference_runs > 0 and "jumps" in (found.remark or "")


def test_wrong_data_is_refused(ball: saltus.Model) -> None:
    for data, unknowns in (
        ({"h": [1.0]}, {"e": 0.7}),
        ({"time": [0.0, 1.0], "h": [1.0]}, {"e": 0.7}),
        ({"time": [0.0], "hh": [1.0]}, {"e": 0.7}),
        ({"time": [0.0], "h": [1.0]}, {}),
        ({"time": [0.0], "h": [1.0]}, {"e": (2, 1)}),
        ({"time": [math.nan], "h": [1.0]}, {"e": 0.7}),
        ({"time": [0.1], "h": [math.nan]}, {"e": 0.7}),
        (3, {"e": 0.7}),
    ):
        with pytest.raises((ValueError, TypeError, saltus.Error)):
            ball.fit(data, unknowns)
