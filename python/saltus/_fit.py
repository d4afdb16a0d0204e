"""Parameters from measured data, by least squares.

The optimiser is ``scipy.optimize.least_squares``. Its Jacobian comes from sensitivities along one run: the equations are differentiated, and at
events of relations the sensitivities jump as the times of the events move. Where that cannot be followed (a ``reinit``, another structure, a slide along
a threshold) the rows behind it come from differences of runs. Before they are relied upon, sensitivities are compared with a difference along one
direction; if they disagree, differences take over, and `FitResult.remark` says so.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence

import numpy as np

from . import _errors
from ._sweep import _threads

if TYPE_CHECKING:
    from ._model import Model

# How far sensitivities may be from a difference of runs, relative to it.
_AGREEMENT = 0.05


@dataclass(frozen=True)
class FitResult:
    """What a fit has found."""

    parameters: dict[str, float]
    deviations: dict[str, float]
    """Standard deviations, from the linear model at the solution; infinite where the data does not determine a parameter."""
    covariance: np.ndarray
    confidence: dict[str, tuple[float, float]]
    """Intervals of 95 %, from Student's distribution."""
    sigma: dict[str, float]
    """Standard deviations of the measurements, given or estimated."""
    residuals: dict[str, np.ndarray]
    """Model minus measurement, by variable."""
    runs: int
    """Runs of the model altogether."""
    difference_runs: int
    """Of these: for differences."""
    valid_until: float
    """The time up to which sensitivities were followed at the solution."""
    success: bool
    message: str
    remark: Optional[str] = None
    """Why differences were used, if they were, and what makes deviations doubtful."""
    undetermined: tuple[str, ...] = ()
    """Parameters that the data does not determine, alone or together with others."""

    def __getitem__(self, name: str) -> float:
        return self.parameters[name]

    def __repr__(self) -> str:
        lines = [f"  {name} = {value:.6g} ± {self.deviations[name]:.2g}" for name, value in self.parameters.items()]
        return "\n".join([f"<saltus.FitResult: {self.runs} runs, {self.message}", *lines]) + ">"


@dataclass
class _Problem:
    model: Model
    names: list[str]
    times: np.ndarray
    variables: list[str]
    measured: np.ndarray
    known: np.ndarray
    weights: np.ndarray
    values: dict[str, Any]
    settings: dict[str, Any]
    scales: np.ndarray
    upper: np.ndarray
    uses_differences: bool
    most_runs: int
    follower: Any = None
    runs: int = 0
    difference_runs: int = 0
    valid_until: float = float("inf")
    remark: Optional[str] = None
    is_checked: bool = False
    at_bound: list[str] = field(default_factory=list)
    cache: dict[bytes, np.ndarray] = field(default_factory=dict)

    def outputs(self, x: np.ndarray) -> np.ndarray:
        """The variables at the times."""
        key = x.tobytes()
        if key not in self.cache:
            if self.runs >= self.most_runs:
                raise _Enough
            self.runs += 1
            self.remember(x, self.run(x))
        return self.cache[key]

    def run(self, x: np.ndarray) -> Any:
        if self.follower is not None:
            return self.follower.values(x.tolist())
        # Structural parameters: a program for each value.
        given = {**self.values, **self.named(x)}
        return self.model._raw.follower(self.variables, [], self.times.tolist(), given, self.settings).values([])

    def table(self, flat: Any) -> np.ndarray:
        """Times × variables."""
        made = np.asarray(flat).reshape(len(self.times), len(self.variables))
        ended = np.isnan(made).any(axis=1)
        if ended.any():
            time = float(self.times[ended][0])
            raise _errors.SimulationError(f"the model ends by itself before {time:g} s, and there are measurements later", "[]", time)
        return made

    def remember(self, x: np.ndarray, flat: Any) -> None:
        made = self.table(flat)
        if len(self.cache) > 64:
            self.cache.clear()
        self.cache[x.tobytes()] = made

    def named(self, x: np.ndarray) -> dict[str, float]:
        return dict(zip(self.names, (float(one) for one in x)))

    def residuals(self, x: np.ndarray) -> np.ndarray:
        difference = (self.outputs(x) - self.measured) / self.weights
        return np.asarray(difference[self.known])

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        shape = (len(self.times), len(self.variables), len(self.names))
        whole = np.full(shape, np.nan)
        if not self.uses_differences:
            whole = self.sensitivities(x, shape)
            if not self.is_checked:
                self.is_checked = True
                if not self.agrees(x, whole):
                    self.uses_differences = True
                    self.remark = "sensitivities disagree with differences of runs, which are used instead"
                    whole = np.full(shape, np.nan)
        rows = np.isnan(whole).any(axis=(1, 2))
        if rows.any():
            whole[rows] = self.differences(x)[rows]
        return np.asarray((whole / self.weights[None, :, None])[self.known])

    def sensitivities(self, x: np.ndarray, shape: tuple[int, int, int]) -> np.ndarray:
        self.runs += 1
        assert self.follower is not None
        values, flat, self.valid_until, why = self.follower.follow(x.tolist())
        self.remember(x, values)
        if why is not None:
            self.remark = f"differences of runs from {self.valid_until:g} s on: {why}"
        derivatives = np.asarray(flat)
        return derivatives.reshape(shape).copy() if derivatives.size else np.full(shape, np.nan)

    def tolerance(self) -> float:
        return float(self.settings.get("tolerance") or self.model._raw.experiment()[3])

    def step(self) -> float:
        return float(max(1e-5, min(1e-2, self.tolerance() ** 0.5)))

    def differences(self, x: np.ndarray) -> np.ndarray:
        here = self.outputs(x)
        points = []
        for j, h in enumerate(self.steps(x)):
            other = x.copy()
            other[j] += h if x[j] + h <= self.upper[j] else -h
            points.append(other)
        self.difference_runs += len(x)
        new = [other for other in points if other.tobytes() not in self.cache]
        if self.follower is not None:
            if self.runs + len(new) > self.most_runs:
                raise _Enough
            self.runs += len(new)
            made = self.follower.values_at([other.tolist() for other in new], _threads(None))
            moved = dict(zip((other.tobytes() for other in new), (self.table(flat) for flat in made)))
        else:
            moved = {other.tobytes(): self.outputs(other) for other in new}
        columns = [
            (moved.get(other.tobytes(), self.cache.get(other.tobytes())) - here) / (other[j] - x[j]) for j, other in enumerate(points)
        ]
        return np.stack(columns, axis=2)

    def steps(self, x: np.ndarray) -> np.ndarray:
        """How far each parameter is moved for a difference."""
        return np.asarray(self.step() * np.maximum(np.abs(x), self.scales))

    def noise(self, x: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
        """How wrong columns of the Jacobian may be, as parts of their lengths.

        Runs are accurate to the tolerance. A difference divides their error by its step; sensitivities are as wrong as if the step were the
        parameter itself.
        """
        is_difference = self.uses_differences or np.isfinite(self.valid_until)
        reach = self.steps(x) if is_difference else np.maximum(np.abs(x), self.scales)
        size = float(np.linalg.norm((self.outputs(x) / self.weights)[self.known]))
        lengths = np.linalg.norm(jacobian, axis=0) * reach
        return np.asarray(np.divide(self.tolerance() * size, lengths, out=np.full(len(x), np.inf), where=lengths > 0))

    def agrees(self, x: np.ndarray, whole: np.ndarray) -> bool:
        """Sensitivities against a central difference along one direction."""
        valid = np.asarray(~np.isnan(whole).any(axis=(1, 2)))
        if not valid.any():
            return True
        signs = np.where(np.random.Generator(np.random.PCG64(len(x))).random(len(x)) < 0.5, -1.0, 1.0)
        direction = signs * np.maximum(np.abs(x), self.scales)
        h = self.step()
        try:
            plus, minus = self.outputs(x + h * direction), self.outputs(x - h * direction)
        except _errors.Error:
            return True
        self.difference_runs += 2
        known = self.known & valid[:, None]
        expected = (((plus - minus) / (2 * h)) / self.weights)[known]
        found = ((whole @ direction) / self.weights)[known]
        # The median: differences are wild near the times of events, which move.
        size = np.sqrt(np.mean(expected**2))
        return bool(np.median(np.abs(found - expected)) <= _AGREEMENT * max(size, 1e-300))


class _Enough(Exception):
    pass


def _table(data: Any, time: str) -> dict[str, np.ndarray]:
    """Columns by name, from a mapping or a data frame."""
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):
        names = [str(name) for name in data.columns]
        table = {name: np.asarray(data[name], dtype=float) for name in names}
        if time not in table and getattr(getattr(data, "index", None), "name", None) == time:
            table[time] = np.asarray(data.index, dtype=float)
    elif isinstance(data, Mapping):
        table = {str(name): np.asarray(values, dtype=float) for name, values in data.items()}
    else:
        raise TypeError(f"data: expected columns by name, found {type(data).__name__}")
    if time not in table:
        raise ValueError(f"data: expected a column {time!r} of times, found {sorted(table)}")
    if any(column.shape != table[time].shape or column.ndim != 1 for column in table.values()):
        raise ValueError("data: expected columns of one length")
    return table


def _within(model: Model, name: str, start: float, low: float, high: float) -> tuple[str, float, float, float]:
    """An unknown, which does not leave what its declaration allows."""
    variable = model.variables.get(name)
    if variable is None:
        return name, start, low, high
    if variable.type != "Real":
        raise ValueError(f"{name}: expected a Real parameter, found one of type {variable.type}")
    least = -np.inf if variable.min is None else variable.min
    most = np.inf if variable.max is None else variable.max
    is_outside = start < least or start > most or (np.isfinite(low) and low < least) or (np.isfinite(high) and high > most)
    if is_outside:
        raise ValueError(f"{name}: expected bounds within {least:g} … {most:g}, which it is declared with, found {low:g} … {high:g}")
    return name, start, max(low, least), min(high, most)


def fit(
    model: Model,
    data: Any,
    unknowns: Mapping[str, Any],
    time: str,
    sigma: Optional[Mapping[str, float]],
    method: str,
    max_runs: int,
    values: dict[str, Any],
    settings: dict[str, Any],
) -> FitResult:
    """See `Model.fit`."""
    from ._model import _unknowns

    if method not in ("auto", "differences"):
        raise ValueError(f"method: expected auto or differences, found {method!r}")
    table = _table(data, time)
    times = table.pop(time)
    order = np.argsort(times, kind="stable")
    times = times[order]
    if not table or not times.size or not np.isfinite(times).all():
        raise ValueError("data: expected finite times and at least one variable")
    variables = list(table)
    measured = np.stack([table[name][order] for name in variables], axis=1)
    known = ~np.isnan(measured)
    if not np.isfinite(measured[known]).all():
        raise ValueError("data: expected finite values, and not-a-number for missing ones")
    spread = np.array([np.std(measured[known[:, i], i]) if known[:, i].any() else 0.0 for i in range(len(variables))])
    if sigma is not None:
        strange = [str(name) for name in sigma if name not in variables]
        if strange:
            raise ValueError(f"sigma: there are no measurements of {_listed(strange)}")
        wrong = [name for name in variables if not 0 < float(sigma.get(name, 0.0)) < np.inf]
        if wrong:
            raise ValueError(f"sigma: expected a positive deviation for each variable, not for {wrong}")
    chosen = [_within(model, *one) for one in _unknowns(unknowns)]
    wanted = np.array([float(sigma[name]) for name in variables]) if sigma is not None else np.where(spread > 0, spread, 1)
    start = np.array([one[1] for one in chosen])
    lower = np.array([one[2] for one in chosen])
    upper = np.array([one[3] for one in chosen])
    widths = np.where(np.isfinite(upper - lower), 0.25 * (upper - lower), np.abs(start))
    problem = _Problem(
        model=model,
        names=[one[0] for one in chosen],
        times=times,
        variables=variables,
        measured=measured,
        known=known,
        weights=wanted,
        values=values,
        settings=settings,
        scales=np.where(widths > 0, widths, 1.0) * 1e-3,
        upper=upper,
        uses_differences=method == "differences",
        most_runs=max_runs,
    )
    structural = [name for name in problem.names if model._raw.unchangeable(name) is not None]
    if structural:
        problem.uses_differences = True
        problem.remark = f"differences of runs: {structural[0]} decides about the structure of the program"
    else:
        problem.follower = model._raw.follower(variables, problem.names, times.tolist(), values, settings)
    if known.sum() < len(chosen):
        raise ValueError(f"data: {int(known.sum())} measurements do not determine {len(chosen)} parameters")
    x_scale = np.maximum(np.abs(start), np.where(widths > 0, widths, 1.0))
    solution, message, success = _solve(problem, start, lower, upper, x_scale)
    if sigma is None and len(variables) > 1:
        # Variables count by their noise, which is known only now. That takes a run at most.
        problem.most_runs += 1
        problem.weights = _noise(problem, solution)
        solution, message, success = _solve(problem, solution, lower, upper, x_scale)
    return _finished(problem, solution, message, success, sigma is not None)


def _solve(
    problem: _Problem, start: np.ndarray, lower: np.ndarray, upper: np.ndarray, x_scale: np.ndarray
) -> tuple[np.ndarray, str, bool]:
    from scipy import optimize

    least_squares: Any = optimize.least_squares
    last = [start]

    def residuals(x: np.ndarray) -> np.ndarray:
        try:
            made = problem.residuals(x)
        except _errors.SimulationError:
            # As if it were far worse: the optimiser turns back.
            if np.array_equal(x, start):
                raise
            return np.full(int(problem.known.sum()), 1e6)
        last[0] = x.copy()
        return made

    try:
        found = least_squares(
            residuals, start, jac=problem.jacobian, bounds=(lower, upper), x_scale=x_scale, xtol=1e-10, ftol=1e-10, gtol=1e-10
        )
    except _Enough:
        return last[0], f"stopped after {problem.runs} runs", False
    problem.at_bound = [name for name, side in zip(problem.names, found.active_mask) if side]
    return np.asarray(found.x), str(found.message), bool(found.success)


def _noise(problem: _Problem, x: np.ndarray) -> np.ndarray:
    difference = problem.outputs(x) - problem.measured
    noise = []
    for i in range(len(problem.variables)):
        own = difference[problem.known[:, i], i]
        noise.append(float(np.sqrt(np.mean(own**2))) if own.size else 1.0)
    floor = 1e-9 * np.maximum(np.abs(np.nan_to_num(problem.measured)).max(axis=0), 1e-300)
    return np.asarray(np.maximum(np.array(noise), floor))


def _finished(problem: _Problem, x: np.ndarray, message: str, success: bool, is_known: bool) -> FitResult:
    from scipy.stats import t as student

    problem.most_runs += 4 * len(x) + 4
    jacobian = problem.jacobian(x)
    residuals = problem.residuals(x)
    freedom = residuals.size - len(x)
    variance = 1.0 if is_known else float(residuals @ residuals) / freedom if freedom > 0 else np.inf
    inverse, free = _inverse(jacobian, problem.noise(x, jacobian))
    with np.errstate(invalid="ignore"):
        covariance = np.where(inverse == 0, 0.0, variance * inverse)
    deviations = np.sqrt(np.diag(covariance))
    undetermined = tuple(name for name, is_free in zip(problem.names, free) if is_free)
    remarks = [] if problem.remark is None else [problem.remark]
    if undetermined:
        remarks.append(f"the data does not determine {_listed(undetermined)}: other values fit as well")
    if freedom <= 0 and not is_known:
        remarks.append("there are as many parameters as measurements: without sigma nothing is known about deviations")
    if problem.at_bound:
        remarks.append(f"{_listed(problem.at_bound)} ended at a bound: deviations are those without bounds")
    for text in remarks[problem.remark is not None :]:
        warnings.warn(f"fit: {text}", stacklevel=4)
    # With known deviations of the measurements nothing is estimated from few residuals.
    reach = float(student.ppf(0.975, np.inf if is_known else max(1, freedom)))
    named = problem.named(x)
    difference = problem.outputs(x) - problem.measured
    weights = problem.weights * (1.0 if is_known else variance**0.5 if freedom > 0 else np.nan)
    return FitResult(
        parameters=named,
        deviations=dict(zip(problem.names, deviations.tolist())),
        covariance=covariance,
        confidence={n: (float(v - reach * d), float(v + reach * d)) for (n, v), d in zip(named.items(), deviations)},
        sigma=dict(zip(problem.variables, weights.tolist())),
        undetermined=undetermined,
        residuals={name: difference[:, i] for i, name in enumerate(problem.variables)},
        runs=problem.runs,
        difference_runs=problem.difference_runs,
        valid_until=problem.valid_until if not problem.uses_differences else float("-inf"),
        success=success,
        message=message,
        remark="; ".join(remarks) or None,
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _inverse(jacobian: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inverse of the normal matrix, with infinite entries for parameters that it does not determine; which these are.

    Columns have length one, so that units do not matter. By Weyl's theorem errors of the columns move singular values by no more than their
    sum of squares: smaller ones may as well be zero. By Wedin's they turn the directions that belong to them by no more than their ratio.
    """
    n = jacobian.shape[1]
    lengths = np.linalg.norm(jacobian, axis=0)
    free = noise >= 1
    known = np.flatnonzero(~free)
    inverse = np.zeros((n, n))
    if known.size:
        scales = lengths[known]
        _, singular, rows = np.linalg.svd(jacobian[:, known] / scales, full_matrices=True)
        singular = np.concatenate([singular, np.zeros(len(rows) - len(singular))])
        floor = max(float(np.linalg.norm(noise[known])), np.finfo(float).eps * max(jacobian.shape))
        is_fixed = singular > floor
        fixed = rows[is_fixed] / scales
        inverse[np.ix_(known, known)] = np.einsum("ki,k,kj->ij", fixed, 1 / singular[is_fixed] ** 2, fixed)
        share = floor / float(singular[is_fixed].min()) if is_fixed.any() else 0.0
        for direction in rows[~is_fixed]:
            moves = np.abs(direction) > share
            free[known[moves]] = True
            for i, one in zip(known[moves], direction[moves]):
                inverse[i, known[moves]] = np.copysign(np.inf, one * direction[moves])
    inverse[free, free] = np.inf
    return inverse, free
