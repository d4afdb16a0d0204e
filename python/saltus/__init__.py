"""Saltus: a Modelica compiler and hybrid simulator.

    import saltus
    s = saltus.Session()
    s.load_text("Ball.mo", '''
    model Ball
      parameter Real e = 0.7;
      Real h(start = 1, fixed = true), v(start = 0, fixed = true);
    equation
      der(h) = v;
      der(v) = -9.81;
      when h < 0 then
        reinit(v, -e*pre(v));
      end when;
    end Ball;
    ''')
    m = s.compile("Ball")
    r = m.simulate(stop_time=1.5, e=0.8)
    r["h"], r.time, r.events

A `Session` holds texts and libraries, a `Model` is a compiled class, a `Result` is what a run came to, and a `Simulation` is a run that goes on step by
step. Errors are exceptions with positions; warnings go to the module ``warnings``.
"""

from __future__ import annotations

from typing import Any

from ._errors import (
    Busy,
    Closed,
    CompileError,
    DamagedData,
    Diagnostic,
    Error,
    ModelicaWarning,
    SimulationError,
    StateError,
    UnknownName,
    ValueRefused,
)
from ._model import Found, Model, Variable, result
from ._result import Event, Result, SignalInfo
from ._saltus import Simulation, State, __version__
from ._session import Session
from ._sweep import Points, Sweep, grid, points, samples

__all__ = [
    "Busy",
    "Closed",
    "CompileError",
    "DamagedData",
    "Diagnostic",
    "Error",
    "Event",
    "Found",
    "Model",
    "ModelicaWarning",
    "Points",
    "Result",
    "Session",
    "SignalInfo",
    "Simulation",
    "SimulationError",
    "State",
    "StateError",
    "Sweep",
    "UnknownName",
    "ValueRefused",
    "Variable",
    "__version__",
    "grid",
    "points",
    "result",
    "samples",
]


def load_ipython_extension(ipython: Any) -> None:
    """Called by ``%load_ext saltus``: adds the cell magic ``%%modelica``."""
    from ._jupyter import load

    load(ipython)
