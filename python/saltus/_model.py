"""Compiled models."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Optional, Sequence, Union

from . import _errors, _saltus
from ._result import Result
from ._runtime import runtime as _own_runtime
from ._saltus import Simulation

if TYPE_CHECKING:
    import numpy as np

    from ._fit import FitResult
    from ._linear import Linearization
    from ._sweep import Sweep

Path = Union[str, "os.PathLike[str]"]
Values = Optional[Mapping[str, Any]]
"""Values by name: numbers, bools, names of literals, lists."""
Signal = Union[float, Callable[[float], float], tuple[Any, ...]]
"""A number, a function of time, or (times, values) with or without "hold" behind them."""

_SETTINGS = frozenset(
    "start_time stop_time interval intervals tolerance solver max_step fixed_step step_rows on_zeno events mixed engine time_limit keep".split()
)


def _texts(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Values as Modelica expressions, to be compiled in."""
    return [(name, _text(name, value)) for name, value in values.items()]


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
        return _text(name, value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"{name}: expected a finite number, found {value}")
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(_text(name, one) for one in value) + "}"
    raise TypeError(f"{name}: expected a number, bool, str or a list of them, found {type(value).__name__}")


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same without arrays."""
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in values.items()}


def _by_name(what: str, given: Any) -> dict[str, Any]:
    """What was given by name: a mapping, or a series or data frame of pandas or polars."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return dict(given)
    names = getattr(given, "columns", None)
    if names is None and hasattr(given, "keys"):
        names = given.keys()
    if names is None:
        raise TypeError(f"{what}: expected values by name, found {type(given).__name__}")
    return {name: given[name] for name in names}


def _names(given: Union[str, Iterable[str]]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _signals(given: Any) -> dict[str, Any]:
    """Values of inputs over time; of a series of pandas the index is the time."""

    def signal(value: Any) -> Any:
        is_series = hasattr(value, "index") and hasattr(value, "to_numpy") and getattr(value, "ndim", 0) == 1
        return (value.index.to_numpy(), value.to_numpy()) if is_series else value

    return {name: signal(value) for name, value in _by_name("inputs", given).items()}


def _split(values: Values, rest: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values of variables and settings of the run, which keyword arguments mix."""
    settings = {key: rest.pop(key) for key in list(rest) if key in _SETTINGS}
    return _plain({**_by_name("values", values), **rest}), settings


@dataclass(frozen=True)
class Variable:
    """A variable of a model and its attributes."""

    name: str
    type: str
    causality: str
    variability: str
    description: str
    unit: str
    display_unit: str
    quantity: str
    start: Optional[float]
    fixed: Optional[bool]
    min: Optional[float]
    max: Optional[float]
    nominal: Optional[float]
    literals: tuple[str, ...]
    is_state: bool
    is_changeable: bool
    """Whether it can be set without compiling again."""


class Model:
    """A compiled class: it needs no session any more, can be used by several threads at once, and can be pickled.

    Keyword arguments of its methods are settings of the run, or else values of parameters:

    * ``start_time``, ``stop_time``, ``interval`` or ``intervals`` of output points, ``tolerance``,
    * ``solver``: auto, dopri5, dop853, rodas, bdf, liqss2, euler, rk4 or implicit-euler; ``max_step``, ``fixed_step``, ``step_rows``,
    * ``events``: fast, proved or exhaustive; ``on_zeno``: auto, stop, slide or continue; ``mixed``; ``engine``: auto, jit or interpreter,
    * ``time_limit`` in seconds, ``keep``: names or patterns of variables to record.

    What is not a name of Python goes into `values`: ``m.simulate({"motor.J": 2, "n.start": 1})``. So does a parameter that is called as a
    setting is.
    """

    _raw: _saltus.RawModel

    def __init__(self) -> None:
        raise TypeError("models are made by Session.compile or Model.load")

    @classmethod
    def _of(cls, raw: _saltus.RawModel) -> Model:
        model = cls.__new__(cls)
        model._raw = raw
        return model

    @property
    def name(self) -> str:
        """The name of its class."""
        return self._raw.name

    @cached_property
    def variables(self) -> dict[str, Variable]:
        """All variables, by name, in the order of their declaration."""
        all_of_them = json.loads(self._raw.variables())
        return {v["name"]: Variable(**{**v, "literals": tuple(v["literals"])}) for v in all_of_them}

    @property
    def parameters(self) -> list[str]:
        """Parameters that can be set without compiling again."""
        return [v.name for v in self.variables.values() if v.variability == "parameter" and v.is_changeable]

    @property
    def inputs(self) -> list[str]:
        """Inputs of the model itself."""
        return [v.name for v in self.variables.values() if v.causality == "input"]

    @property
    def outputs(self) -> list[str]:
        """Outputs of the model itself."""
        return [v.name for v in self.variables.values() if v.causality == "output"]

    @property
    def states(self) -> list[str]:
        """Variables that the integrator integrates."""
        return [v.name for v in self.variables.values() if v.is_state]

    def simulate(self, values: Values = None, *, inputs: Optional[Mapping[str, Signal]] = None, **settings: Any) -> Result:
        """Run the model from start to stop time.

        Parameters:
            values: Values of parameters and start values, by name.
            inputs: Values of inputs over time: a number, a function of time, a series of pandas whose index is the time, or (times, values),
                on lines between them, with a third part "hold" in steps.
            settings: Settings of the run and further values of parameters; see `Model`.

        Raises:
            SimulationError: the run has failed; its `result` is what was computed until then.
            UnknownName, ValueRefused: a value cannot be set.

        >>> r = m.simulate(stop_time=0.4, e=0.8)
        >>> round(r.last("h"), 4), r.parameters["e"]
        (0.2152, 0.8)
        """
        given, chosen = _split(values, settings)
        raw, told = self._raw.simulate(given, _signals(inputs), chosen)
        _errors.warn(told)
        return Result(raw)

    def start(
        self,
        values: Values = None,
        *,
        inputs: Optional[Mapping[str, Signal]] = None,
        record: bool = False,
        **settings: Any,
    ) -> Simulation:
        """Begin a run that goes on step by step: ``with m.start() as sim: sim.advance(0.1)``.

        Without a ``stop_time`` it goes on as long as it is asked to. With `record` rows are kept, and ``saltus.result(sim)`` gives them.

        >>> with m.start(e=0.8) as sim:
        ...     while sim.time < 0.35:
        ...         _ = sim.advance(0.1)
        ...     round(sim["h"], 4)
        0.2152
        """
        given, chosen = _split(values, settings)
        return self._raw.start(given, _signals(inputs), chosen, record)

    def linearize(self, at: Optional[float] = None, values: Values = None, **settings: Any) -> Linearization:
        """The linear model at a time of a run; at its start without one.

        >>> m.linearize(at=0.2).A.tolist()
        [[0.0, 1.0], [0.0, 0.0]]
        """
        from ._linear import Linearization

        given, chosen = _split(values, settings)
        return Linearization._of(self._raw.linearize(given, chosen, at))

    def jacobian(
        self, of: Union[str, Sequence[str]], by: Union[str, Sequence[str]], at: Optional[float] = None, values: Values = None, **settings: Any
    ) -> np.ndarray:
        """Derivatives of variables by states and inputs at a time of a run, exact where the program can be differentiated."""
        import numpy

        given, chosen = _split(values, settings)
        of, by = _names(of), _names(by)
        rows = self._raw.jacobian(of, by, given, chosen, at)
        return numpy.array(rows, dtype=float).reshape(len(of), len(by))

    def export_fmu(
        self,
        path: Optional[Path] = None,
        *,
        version: str = "3.0",
        kinds: Union[str, Sequence[str]] = ("me", "cs"),
        runtimes: Optional[Mapping[str, Path]] = None,
    ) -> str:
        """Write an FMU and give its path; without one it is the last part of the name, with ``.fmu``.

        Parameters:
            version: "2.0" or "3.0".
            kinds: "me" for model exchange, "cs" for co-simulation, or both.
            runtimes: Libraries `saltus-fmu` by platform ("x86_64-linux", …); otherwise the one of the package, for this platform.
        """
        kinds = _names(kinds)
        wrong = [kind for kind in kinds if kind not in ("me", "cs")]
        if wrong or not kinds:
            raise ValueError(f"kinds: expected \"me\", \"cs\" or both, found {kinds!r}")
        target = os.fspath(path) if path is not None else self.name.rsplit(".", 1)[-1] + ".fmu"
        if not target.endswith(".fmu"):
            raise ValueError(f"expected a file name that ends in .fmu, found {target!r}")
        if runtimes is not None:
            chosen = [(platform, os.fspath(file)) for platform, file in runtimes.items()]
        else:
            own = os.environ.get("SALTUS_FMU_RUNTIME") or _own_runtime()
            if own is None:
                raise _errors.Error(
                    "this package was built without the runtime of FMUs; name one by runtimes= or SALTUS_FMU_RUNTIME"
                )
            chosen = [("", own)]
        data, _, _, cannot_start = self._raw.export(version, list(kinds), chosen)
        with open(target, "wb") as out:
            out.write(data)
        if cannot_start is not None:
            import warnings

            warnings.warn(f"the model cannot be initialised as it is: {cannot_start}", stacklevel=2)
        return target

    def sweep(
        self,
        points: Any,
        *,
        record: Union[None, Sequence[str], Mapping[str, str]] = None,
        values: Values = None,
        executor: Any = None,
        jobs: Optional[int] = None,
        chunk: Optional[int] = None,
        retries: int = 2,
        trajectories: bool = False,
        to: Optional[Path] = None,
        progress: Any = None,
        **settings: Any,
    ) -> Sweep:
        """Run the model at many points, in parallel; the table comes in the order of the points.

        Parameters:
            points: What differs from run to run: ``saltus.grid(e=[…], v0=[…])``, ``saltus.points(e=[…], …)``, ``saltus.samples(…)``, or
                equally many values by name: a mapping or a data frame.
            record: Expressions as in studies, by name or not: ``{"top": "max(h)", "impact": "event(h < 0).time"}``. Without them the last values
                of all variables, or those of ``keep``.
            values: Values for all runs.
            executor: None for threads of this process; a ``concurrent.futures.Executor``, a ``dask.distributed.Client``, or the module
                ``ray``. The model travels once to each worker.
            jobs: Threads; as many as there are cores otherwise.
            chunk: Runs of one task of an executor; chosen otherwise.
            retries: How often a task is given out again when its worker is lost.
            trajectories: All rows of each run instead of one.
            to: A directory for a Parquet data set, written as chunks are done. The same study, given again, goes on where it was interrupted.
            progress: True for a line on the standard error stream, or a function of the numbers of runs that are done and of all runs.

        >>> study = m.sweep(saltus.grid(e=[0.7, 0.8]), record={"rise": "event(h < 0).v"}, stop_time=0.6)
        >>> study["rise"].round(4).tolist()
        [3.1006, 3.5436]
        """
        from ._sweep import sweep

        given, chosen = _split(values, settings)
        return sweep(self, points, record, given, chosen, executor, jobs, chunk, retries, trajectories, to, progress)

    def search(
        self,
        unknowns: Mapping[str, Any],
        targets: Mapping[str, float],
        *,
        within: Optional[float] = None,
        max_runs: int = 500,
        record: Union[None, Sequence[str], Mapping[str, str]] = None,
        values: Values = None,
        **settings: Any,
    ) -> Found:
        """Find parameters with which expressions meet targets.

        Parameters:
            unknowns: (min, max), (start, min, max) or a start value for each parameter.
            targets: What expressions shall be: ``{"max(h)": 1.0}``. More of them than unknowns are met as nearly as possible.
            within: How close is close enough; otherwise a billionth.

        >>> round(m.search({"e": (0.5, 0.95)}, {"event(h < 0).v": 3.0}, stop_time=0.6)["e"], 4)
        0.6773
        """
        from ._sweep import _recorded

        given, chosen = _split(values, settings)
        if not targets:
            raise ValueError("targets: expected at least one")
        if within is not None and not 0 < within < float("inf"):
            raise ValueError(f"within: expected a positive number, found {within!r}")
        wrong = [text for text, value in targets.items() if not abs(float(value)) < float("inf")]
        if wrong:
            raise ValueError(f"targets: expected a finite number for {wrong[0]!r}, found {targets[wrong[0]]!r}")
        aims = [(text, float(value), within or 1e-9 * max(abs(float(value)), 1e-3)) for text, value in targets.items()]
        _positive("max_runs", max_runs)
        data = self._raw.seek(_unknowns(unknowns), aims, None, False, 1e-9, max_runs, given, chosen, _recorded(record))
        return Found._of(data, unknowns, record)

    def optimize(
        self,
        unknowns: Mapping[str, Any],
        *,
        minimize: Optional[str] = None,
        maximize: Optional[str] = None,
        tolerance: float = 1e-6,
        max_runs: int = 2000,
        record: Union[None, Sequence[str], Mapping[str, str]] = None,
        values: Values = None,
        **settings: Any,
    ) -> Found:
        """Find parameters within bounds that make an expression smallest or largest, without derivatives."""
        from ._sweep import _recorded

        if (minimize is None) == (maximize is None):
            raise TypeError("optimize: expected either minimize= or maximize=")
        if not 0 < tolerance < float("inf"):
            raise ValueError(f"tolerance: expected a positive number, found {tolerance!r}")
        _positive("max_runs", max_runs)
        given, chosen = _split(values, settings)
        objective = minimize if minimize is not None else maximize
        data = self._raw.seek(
            _unknowns(unknowns), [], objective, maximize is not None, tolerance, max_runs, given, chosen, _recorded(record)
        )
        return Found._of(data, unknowns, record)

    def fit(
        self,
        data: Any,
        unknowns: Mapping[str, Any],
        *,
        time: Optional[str] = None,
        sigma: Optional[Mapping[str, float]] = None,
        method: str = "auto",
        max_runs: int = 500,
        values: Values = None,
        **settings: Any,
    ) -> FitResult:
        """Fit parameters to measured data by least squares (needs scipy).

        Parameters:
            data: Columns by names of variables, with one for the times: a mapping, a data frame of pandas or polars. Missing values are
                not-a-number.
            unknowns: (min, max), (start, min, max) or a start value for each parameter.
            time: The name of the column of times; ``time`` otherwise.
            sigma: Standard deviations of the measurements, by variable; otherwise they are estimated from the residuals.
            method: ``auto`` takes sensitivities along the run where they are valid and differences of runs elsewhere, ``differences`` only these.
        """
        from ._fit import fit

        given, chosen = _split(values, settings)
        _positive("max_runs", max_runs)
        return fit(self, data, unknowns, time or "time", sigma, method, max_runs, given, chosen)

    def to_bytes(self) -> bytes:
        """The binary form, which the same version of Saltus reads on any machine."""
        return self._raw.to_bytes()

    @staticmethod
    def from_bytes(data: bytes, *, allow_io: bool = False, allow_external: bool = False) -> Model:
        """A model from its binary form."""
        return Model._of(_saltus.RawModel.from_bytes(bytes(data), allow_io, allow_external))

    def save(self, path: Path) -> None:
        """Write the binary form to a file, as ``saltus compile`` does."""
        with open(path, "wb") as out:
            out.write(self.to_bytes())

    @staticmethod
    def load(path: Path, *, allow_io: bool = False, allow_external: bool = False) -> Model:
        """A model from a file of ``save`` or ``saltus compile``."""
        with open(path, "rb") as file:
            return Model.from_bytes(file.read(), allow_io=allow_io, allow_external=allow_external)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.to_bytes(), *self._raw.permissions)

    def __repr__(self) -> str:
        return f"<saltus.Model {self.name}: {len(self.variables)} variables, {len(self.states)} states>"


def _restored(data: bytes, allow_io: bool, allow_external: bool) -> Model:
    return Model.from_bytes(data, allow_io=allow_io, allow_external=allow_external)


def _positive(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"{name}: expected a positive int, found {value!r}")


def _unknowns(given: Mapping[str, Any]) -> list[tuple[str, float, float, float]]:
    """Name, start, min and max."""
    infinite = float("inf")
    unknowns = []
    if not given:
        raise ValueError("expected at least one unknown")
    for name, value in given.items():
        try:
            numbers = [float(one) for one in value] if hasattr(value, "__len__") and not isinstance(value, str) else [float(value)]
        except (TypeError, ValueError):
            raise TypeError(f"{name}: expected numbers, found {value!r}") from None
        if len(numbers) == 1:
            start, low, high = numbers[0], -infinite, infinite
        elif len(numbers) == 2:
            low, high = numbers
            start = 0.5 * (low + high)
        elif len(numbers) == 3:
            start, low, high = numbers
        else:
            raise TypeError(f"{name}: expected a start value, (min, max) or (start, min, max), found {value!r}")
        if not (low < high and low <= start <= high and abs(start) < infinite):
            raise ValueError(f"{name}: expected min <= start <= max with finite start, found {value!r}")
        unknowns.append((name, start, low, high))
    return unknowns


@dataclass(frozen=True)
class Found:
    """What a search or an optimisation has found."""

    parameters: dict[str, float]
    value: Optional[float]
    """The objective, or the root of the sum of squares."""
    runs: int
    remark: Optional[str]
    """Why it may not be the best."""
    recorded: dict[str, float]

    @staticmethod
    def _of(data: str, unknowns: Mapping[str, Any], record: Any) -> Found:
        from ._sweep import _recorded

        d = json.loads(data)
        names = [name for name, _ in _recorded(record)]
        return Found(dict(zip(unknowns, d["found"])), d["value"], d["runs"], d["remark"], dict(zip(names, d["recorded"])))

    def __getitem__(self, name: str) -> float:
        return self.parameters[name] if name in self.parameters else self.recorded[name]


def result(simulation: Simulation) -> Result:
    """What a run that was started with ``record=True`` has recorded so far."""
    return Result(simulation.table())
