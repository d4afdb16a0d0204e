"""Parameters from measured data, by least squares.

The optimiser is ``scipy.optimize.least_squares``. Its Jacobian comes from sensitivities along one run: the equations are differentiated, and at
events of relations the sensitivities jump as the times of the events move. Where that cannot be followed (a ``reinit``, another structure, a slide along
a threshold) the rows behind it come from differences of runs. Before they are relied upon, sensitivities are compared with a difference along one
direction; if they disagree, differences take over, and `FitResult.remark` says so.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Mapping, Optional

import numpy as np

from . import _errors

if TYPE_CHECKING:
    from ._model import Model

# How far sensitivities may be from a difference of runs, relative to it.
_AGREEMENT = 0.05


@dataclass(frozen=True)
class FitResult:
    """What a fit has found."""

    parameters: dict[str, float]
    deviations: dict[str, float]
    """Standard deviations, from the linear model at the solution."""
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
    """Why differences were used, if they were."""

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

    def remember(self, x: np.ndarray, flat: Any) -> None:
        made = np.asarray(flat).reshape(len(self.times), len(self.variables))
        ended = np.isnan(made).any(axis=1)
        if ended.any():
            time = float(self.times[ended][0])
            raise _errors.SimulationError(f"the model ends by itself before {time:g} s, and there are measurements later", "[]", time)
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

    def step(self) -> float:
        tolerance = float(self.settings.get("tolerance") or self.model._raw.experiment()[3])
        return float(max(1e-5, min(1e-2, tolerance**0.5)))

    def differences(self, x: np.ndarray) -> np.ndarray:
        here = self.outputs(x)
        step = self.step()

        def moved(j: int) -> np.ndarray:
            h = step * max(abs(x[j]), self.scales[j])
            other = x.copy()
            other[j] += h if x[j] + h <= self.upper[j] else -h
            return np.asarray((self.outputs(other) - here) / (other[j] - x[j]))

        self.difference_runs += len(x)
        with ThreadPoolExecutor(max_workers=max(1, min(len(x), 8))) as threads:
            columns = list(threads.map(moved, range(len(x))))
        return np.stack(columns, axis=2)

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
    known = np.isfinite(measured)
    spread = np.array([np.std(measured[known[:, i], i]) if known[:, i].any() else 0.0 for i in range(len(variables))])
    if sigma is not None:
        wrong = [name for name in variables if not float(sigma.get(name, 0.0)) > 0]
        if wrong:
            raise ValueError(f"sigma: expected a positive deviation for each variable, not for {wrong}")
    chosen = _unknowns(unknowns)
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
        # Variables count by their noise, which is known only now.
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
    freedom = max(1, residuals.size - len(x))
    variance = 1.0 if is_known else float(residuals @ residuals) / freedom
    # By singular values: parameters that the data does not determine have infinite variances, not wrong ones.
    _, singular, rows = np.linalg.svd(jacobian, full_matrices=False)
    floor = np.finfo(float).eps * max(jacobian.shape) * (singular[0] if singular.size else 0)
    with np.errstate(divide="ignore"):
        inverse = np.where(singular > floor, 1 / singular**2, np.inf)
    covariance = variance * np.einsum("ki,k,kj->ij", rows, np.where(np.isinf(inverse), 1e300, inverse), rows)
    deviations = np.sqrt(np.diag(covariance))
    reach = float(student.ppf(0.975, freedom))
    named = problem.named(x)
    difference = problem.outputs(x) - problem.measured
    weights = problem.weights * (1.0 if is_known else variance**0.5)
    return FitResult(
        parameters=named,
        deviations=dict(zip(problem.names, deviations.tolist())),
        covariance=covariance,
        confidence={n: (float(v - reach * d), float(v + reach * d)) for (n, v), d in zip(named.items(), deviations)},
        sigma=dict(zip(problem.variables, weights.tolist())),
        residuals={name: difference[:, i] for i, name in enumerate(problem.variables)},
        runs=problem.runs,
        difference_runs=problem.difference_runs,
        valid_until=problem.valid_until if not problem.uses_differences else float("-inf"),
        success=success,
        message=message,
        remark=problem.remark,
    )
