from __future__ import annotations

import pytest

import saltus

BALL = """model Ball "Bounces"
  parameter Real e = 0.7 "Part of the speed that is left";
  Real h(start = 1, fixed = true, unit = "m") "Height";
  Real v(start = 0, fixed = true, unit = "m/s");
  Boolean low = h < 0.5;
equation
  der(h) = v;
  der(v) = -9.81;
  when h < 0 then
    reinit(v, -e*pre(v));
  end when;
  annotation(experiment(StopTime = 1.5));
end Ball;
"""

# w = t² with k = 2 and u = t.
DRIVE = """model Drive
  parameter Real k = 1;
  parameter Integer n = 2;
  input Real u;
  output Real y = 2*w;
  Real w(start = 0, fixed = true);
  Real x[n] = fill(w, n);
equation
  der(w) = k*u;
end Drive;
"""


@pytest.fixture(scope="session")
def session() -> saltus.Session:
    s = saltus.Session()
    s.load_text("Ball.mo", BALL)
    s.load_text("Drive.mo", DRIVE)
    return s


@pytest.fixture(scope="session")
def ball(session: saltus.Session) -> saltus.Model:
    return session.compile("Ball")


@pytest.fixture(scope="session")
def drive(session: saltus.Session) -> saltus.Model:
    return session.compile("Drive")
