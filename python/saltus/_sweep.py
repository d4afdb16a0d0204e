"""Many runs of one model: points, executors, data sets that go on where they were interrupted."""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
import threading
import time as _time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from . import _errors, _saltus
from ._result import _Table

if TYPE_CHECKING:
    from ._model import Model

# Runs that a study may have.
MOST_POINTS = 10_000_000
# Seconds that a task of an executor should take: short enough to share out, long enough that the scheduler has little to do.
_TASK_SECONDS = 2.0
_TRIAL_RUNS = 4
_MOST_IN_CHUNK = 5000
_FORMAT = 3


@dataclass(frozen=True)
class Points:
    """Names and, row by row, the values that differ from run to run."""

    names: tuple[str, ...]
    values: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.names:
            raise _errors.UnknownName(f"the points have no parameter `{name}`; there are {', '.join(self.names)}", name, None)
        return self.values[:, self.names.index(name)]


def _axis(name: str, values: Any) -> np.ndarray:
    if isinstance(values, Iterator):
        values = list(values)
    try:
        axis = np.atleast_1d(np.asarray(values, dtype=float))
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected numbers, found {values!r}") from None
    if axis.ndim != 1 or axis.size == 0:
        raise ValueError(f"{name}: expected at least one number, in one dimension")
    if not np.isfinite(axis).all():
        raise ValueError(f"{name}: expected finite numbers")
    return axis


def _made(names: Sequence[str], values: np.ndarray) -> Points:
    return Points(tuple(names), np.ascontiguousarray(values, dtype=float))


def grid(values: Optional[Mapping[str, Any]] = None, **more: Any) -> Points:
    """All combinations; the last parameter varies fastest.

    >>> saltus.grid(e=[0.7, 0.8], v=[1, 2]).values.tolist()
    [[0.7, 1.0], [0.7, 2.0], [0.8, 1.0], [0.8, 2.0]]

    What is not a name of Python goes into a mapping: ``saltus.grid({"motor.J": [1, 2]})``.
    """
    given = {**(values or {}), **more}
    axes = [_axis(name, one) for name, one in given.items()]
    n = math.prod(len(axis) for axis in axes)
    if not axes or n > MOST_POINTS:
        raise ValueError(f"expected 1 to {MOST_POINTS} points, found {n if axes else 0}")
    mesh = np.meshgrid(*axes, indexing="ij")
    return _made(list(given), np.stack([one.ravel() for one in mesh], axis=1))


def points(values: Optional[Mapping[str, Any]] = None, **more: Any) -> Points:
    """The first values of all parameters, then the second ones, …; a single value counts for all points.

    >>> saltus.points(e=[0.7, 0.8], v=1).values.tolist()
    [[0.7, 1.0], [0.8, 1.0]]
    """
    given = {**(values or {}), **more}
    axes = {name: _axis(name, one) for name, one in given.items()}
    n = max((len(axis) for axis in axes.values()), default=0)
    wrong = [name for name, axis in axes.items() if len(axis) not in (1, n)]
    if n == 0 or wrong:
        raise ValueError(f"expected equally many values for each parameter, found {({k: len(a) for k, a in axes.items()})}")
    return _made(list(axes), np.stack([np.broadcast_to(axis, (n,)) for axis in axes.values()], axis=1))


def samples(
    n: int,
    values: Optional[Mapping[str, Any]] = None,
    *,
    method: str = "latin-hypercube",
    seed: int = 0,
    **more: Any,
) -> Points:
    """`n` samples: of (from, to), uniform, or of ``("normal", mean, deviation)``; the same ones for the same seed.

    Parameters:
        method: ``latin-hypercube``, ``sobol`` (needs scipy) or ``random``.

    >>> chosen = saltus.samples(100, e=(0.6, 0.9), mass=("normal", 1.0, 0.1), seed=1)
    >>> len(chosen), bool(chosen["e"].min() >= 0.6)
    (100, True)
    """
    given = {**(values or {}), **more}
    if not given or n < 1 or n > MOST_POINTS:
        raise ValueError(f"samples: expected parameters and 1 to {MOST_POINTS} samples")
    d = len(given)
    if method == "sobol":
        from scipy.stats import qmc

        # A power of two keeps the balance of the sequence; what is beyond n is left out.
        sobol: Any = qmc.Sobol
        try:
            sequence = sobol(d, scramble=True, rng=seed)
        except TypeError:
            # As scipy called it before 1.15.
            sequence = sobol(d, scramble=True, seed=seed)
        unit = sequence.random_base2(max(0, math.ceil(math.log2(n))))[:n]
    elif method in ("latin-hypercube", "random"):
        generator = np.random.Generator(np.random.PCG64(seed))
        unit = generator.random((n, d))
        if method == "latin-hypercube":
            order = np.stack([generator.permutation(n) for _ in range(d)], axis=1)
            unit = (order + unit) / n
    else:
        raise ValueError(f"method: expected latin-hypercube, sobol or random, found {method!r}")
    columns = []
    for i, (name, what) in enumerate(given.items()):
        columns.append(_distributed(name, what, unit[:, i]))
    return _made(list(given), np.stack(columns, axis=1))


def _distributed(name: str, what: Any, unit: np.ndarray) -> np.ndarray:
    if isinstance(what, (tuple, list)) and len(what) == 3 and what[0] == "normal":
        from statistics import NormalDist

        if not (math.isfinite(float(what[1])) and 0 < float(what[2]) < math.inf):
            raise ValueError(f"{name}: expected a finite mean and a positive deviation, found {what!r}")
        normal = NormalDist(float(what[1]), float(what[2]))
        inside = np.clip(unit, 1e-16, 1 - 1e-16)
        return np.array([normal.inv_cdf(u) for u in inside])
    try:
        low, high = (float(one) for one in what)
    except (TypeError, ValueError):
        raise TypeError(f'{name}: expected (from, to) or ("normal", mean, deviation), found {what!r}') from None
    # Their distance is finite, too.
    if not (low < high and math.isfinite(high - low)):
        raise ValueError(f"{name}: expected from < to, found {what!r}")
    return low + (high - low) * unit


def _recorded(record: Union[None, Sequence[str], Mapping[str, str]]) -> list[tuple[str, str]]:
    """Names and expressions."""
    if record is None:
        return []
    if isinstance(record, str):
        return [(record, record)]
    if isinstance(record, Mapping):
        return [(str(name), str(text)) for name, text in record.items()]
    return [(str(text), str(text)) for text in record]


class Sweep(_Table):
    """The table of many runs: ``run``, the values that differ, ``ok``, and what was recorded.

    ``s["top"]`` is a column. A run that failed has no values (not-a-number) and its reason in `failures`.
    """

    def __init__(self, columns: list[tuple[str, str, np.ndarray]], failures: dict[int, str]) -> None:
        self._columns = {name: (kind, values) for name, kind, values in columns}
        self.failures = failures
        data = [(name, kind, np.ascontiguousarray(values, dtype=float).tobytes()) for name, kind, values in columns]
        self._raw = _saltus.RawTable.from_columns("runs", data)

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(self._columns)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._columns:
            self._raw.column(name)
        return self._columns[name][1]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def to_pandas(self) -> Any:
        """A data frame of pandas."""
        import pandas

        frame = pandas.DataFrame({name: values for name, (_, values) in self._columns.items()})
        return frame.astype({"run": "int64", "ok": "bool"})

    def tobytes(self) -> bytes:
        """All columns one after the other: the same for the same study, however it was shared out."""
        return b"".join(np.ascontiguousarray(values, dtype=float).tobytes() for _, values in self._columns.values())

    def __reduce__(self) -> tuple[Any, ...]:
        return Sweep, ([(name, kind, values) for name, (kind, values) in self._columns.items()], self.failures)

    def __repr__(self) -> str:
        return f"<saltus.Sweep of {len(self)} rows, {len(self.failures)} runs failed>"


@dataclass(frozen=True)
class _Task:
    """What a worker needs to know besides the points. It is the same for all chunks of a variant."""

    key: str
    names: tuple[str, ...]
    values: dict[str, Any]
    settings: dict[str, Any]
    record: list[tuple[str, str]]
    trajectories: bool


Columns = list[tuple[str, str, np.ndarray]]
Part = tuple[Columns, list[bool], list[tuple[int, str]]]

# Models of this process by the hashes of their bytes, so that each travels once.
_models: dict[str, _saltus.RawModel] = {}
_models_lock = threading.Lock()
_MOST_MODELS = 32


def _model_of(key: str, data: Optional[bytes], permissions: tuple[bool, bool]) -> Optional[_saltus.RawModel]:
    with _models_lock:
        model = _models.get(key)
        if model is None and data is not None:
            model = _saltus.RawModel.from_bytes(data, *permissions)
            while len(_models) >= _MOST_MODELS:
                _models.pop(next(iter(_models)))
            _models[key] = model
        return model


def _run_chunk(
    task: _Task, points: np.ndarray, data: Optional[bytes], permissions: tuple[bool, bool], jobs: int = 1
) -> Union[Part, str]:
    """One chunk in a worker. Without the bytes of the model, and without having seen them before, it says what it misses."""
    model = _model_of(task.key, data, permissions)
    if model is None:
        return task.key
    return _run(model, task, points, jobs)


def _run(
    model: _saltus.RawModel,
    task: _Task,
    points: np.ndarray,
    jobs: int,
    progress: Optional[Callable[[int, int], object]] = None,
) -> Part:
    points = np.ascontiguousarray(points, dtype=float)
    if task.names:
        data = points.tobytes()
    else:
        # Runs that differ in structural parameters only have nothing to be set.
        data = np.zeros(len(points)).tobytes()
    columns, ok, failures = model.run_many(
        list(task.names), data, task.values, task.settings, task.record, task.trajectories, jobs, progress
    )
    return [(name, kind, np.asarray(array)) for name, kind, array in columns], ok, failures


def _threads(jobs: Optional[int]) -> int:
    if jobs is not None:
        if jobs < 1:
            raise ValueError(f"jobs: expected a positive int, found {jobs}")
        return jobs
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


@dataclass
class _Variant:
    """Points that share a program."""

    model: _saltus.RawModel
    task: _Task
    index: np.ndarray
    points: np.ndarray


def _variants(
    model: Model, given: Points, values: dict[str, Any], settings: dict[str, Any], record: list[tuple[str, str]], trajectories: bool
) -> list[_Variant]:
    """Groups of points with the same values of structural parameters, each compiled once."""
    raw = model._raw
    structural = [i for i, name in enumerate(given.names) if raw.unchangeable(name) is not None]
    fixed = [name for name in values if raw.unchangeable(name) is not None and name not in given.names]
    free = [i for i in range(len(given.names)) if i not in structural]
    names = tuple(given.names[i] for i in free)
    if len(set(given.names)) < len(given.names):
        raise ValueError("a parameter is varied twice")

    def task(of: _saltus.RawModel, rest: dict[str, Any]) -> _Task:
        key = hashlib.sha256(of.to_bytes()).hexdigest()
        return _Task(key, names, rest, settings, record, trajectories)

    if not structural and not fixed:
        every = np.arange(len(given))
        return [_Variant(raw, task(raw, values), every, given.values[:, free])]
    rest = {name: value for name, value in values.items() if name not in fixed}
    groups: dict[tuple[float, ...], list[int]] = {}
    for i, row in enumerate(given.values):
        groups.setdefault(tuple(row[structural]), []).append(i)
    variants = []
    for key, members in groups.items():
        chosen: dict[str, Any] = {name: values[name] for name in fixed}
        for i, value in zip(structural, key):
            chosen[given.names[i]] = _typed(model, given.names[i], value)
        for name in chosen:
            _known(raw, name)
        own = raw.variant(chosen)
        index = np.array(members)
        variants.append(_Variant(own, task(own, rest), index, given.values[index][:, free]))
    return _with_own_patterns(variants, settings)


def _with_own_patterns(variants: list[_Variant], settings: dict[str, Any]) -> list[_Variant]:
    """What only some variants have is recorded there; a pattern that fits nothing in any of them is left to be refused."""
    keep = settings.get("keep")
    if keep is None:
        return variants
    patterns = [keep] if isinstance(keep, str) else list(keep)
    idle = [set(variant.model.idle_patterns(patterns)) for variant in variants]
    if set.intersection(*idle):
        return variants
    for variant, own in zip(variants, idle):
        kept = {**settings, "keep": [pattern for pattern in patterns if pattern not in own]}
        variant.task = replace(variant.task, settings=kept)
    return variants


def _typed(model: Model, name: str, value: float) -> Any:
    """A value that is compiled in, as its type writes it."""
    variable = model.variables.get(name)
    if variable is not None and variable.type == "Boolean":
        if value not in (0, 1):
            raise ValueError(f"{name}: expected true or false, found {value:g}")
        return bool(value)
    if variable is not None and variable.literals:
        if value not in range(1, len(variable.literals) + 1):
            raise ValueError(f"{name}: expected the position of a literal, found {value:g}")
        return variable.literals[int(value) - 1]
    return int(value) if value == int(value) else value


def _known(raw: _saltus.RawModel, name: str) -> None:
    """Raises for names that no variable has; `h.start` is an attribute of one."""
    why = raw.unchangeable(name)
    is_attribute = name.rsplit(".", 1)[-1] in ("start", "fixed", "min", "max", "nominal")
    if why is not None and "has no variable" in why and not is_attribute:
        raise _errors.UnknownName(why, name, None)


def sweep(
    model: Model,
    given: Any,
    record: Union[None, Sequence[str], Mapping[str, str]],
    values: dict[str, Any],
    settings: dict[str, Any],
    executor: Any,
    jobs: Optional[int],
    chunk: Optional[int],
    retries: int,
    trajectories: bool,
    to: Any,
    progress: Any,
) -> Sweep:
    """See `Model.sweep`."""
    from ._model import _by_name

    if not isinstance(given, Points):
        given = points(_by_name("points", given))
    expressions = _recorded(record)
    if trajectories and expressions:
        raise ValueError("trajectories and record exclude each other")
    reserved = {"run", "ok"} & ({name for name, _ in expressions} | set(given.names))
    if reserved:
        raise ValueError(f"{sorted(reserved)[0]!r} is the name of a column of its own")
    if chunk is not None and chunk < 1:
        raise ValueError(f"chunk: expected a positive int, found {chunk}")
    variants = _variants(model, given, values, settings, expressions, trajectories)
    teller = _Teller(progress, len(given))
    if to is None and executor is None:
        parts = []
        for variant in variants:
            part = _run(variant.model, variant.task, variant.points, _threads(jobs), teller.function)
            parts.append((variant.index, part))
            teller.add(len(variant.index))
    else:
        chunks = _chunks(variants, chunk, executor, jobs, to is not None)
        places = [variants[at].index[first:last] for at, first, last in chunks]
        store = _Store(to, model, given, values, settings, expressions, trajectories, places) if to is not None else None
        parts = _shared_out(variants, chunks, store, executor, jobs, retries, teller, model._raw.permissions)
    teller.end()
    return _together(given, parts, trajectories)


def _chunks(
    variants: list[_Variant], chunk: Optional[int], executor: Any, jobs: Optional[int], is_stored: bool
) -> list[tuple[int, int, int]]:
    """Variant, first and last point of each task. Only the study and `chunk` decide, so that an interrupted study fits."""
    size = chunk
    if size is None and is_stored:
        size = max(1, min(1000, math.ceil(sum(len(v.index) for v in variants) / 64)))
    if size is None:
        size = _measured(variants[0])
    chunks = []
    for number, variant in enumerate(variants):
        n = len(variant.index)
        chunks += [(number, first, min(first + size, n)) for first in range(0, n, size)]
    return chunks


def _measured(variant: _Variant) -> int:
    """Runs that take about as long as a task should."""
    trial = variant.points[:_TRIAL_RUNS]
    started = _time.perf_counter()
    _run(variant.model, variant.task, trial, 1)
    each = max(1e-6, (_time.perf_counter() - started) / max(1, len(trial)))
    return max(1, min(_MOST_IN_CHUNK, int(_TASK_SECONDS / each)))


def _shared_out(
    variants: list[_Variant],
    chunks: list[tuple[int, int, int]],
    store: Optional[_Store],
    executor: Any,
    jobs: Optional[int],
    retries: int,
    teller: _Teller,
    permissions: tuple[bool, bool],
) -> list[tuple[np.ndarray, Part]]:
    parts: dict[int, Part] = {}
    if store is not None:
        for number in range(len(chunks)):
            part = store.read(number)
            if part is not None:
                parts[number] = part
                teller.add(chunks[number][2] - chunks[number][1])
    missing = [number for number in range(len(chunks)) if number not in parts]

    def done(number: int, part: Part) -> None:
        # A task that was given out twice counts once.
        if number in parts:
            return
        if store is not None:
            store.write(number, part)
        parts[number] = part
        teller.add(chunks[number][2] - chunks[number][1])

    if executor is None:
        for number in missing:
            at, first, last = chunks[number]
            variant = variants[at]
            done(number, _run(variant.model, variant.task, variant.points[first:last], _threads(jobs)))
    else:
        from ._executors import share

        share(executor, variants, chunks, missing, done, retries, permissions)
    ordered = []
    for number, (at, first, last) in enumerate(chunks):
        ordered.append((variants[at].index[first:last], parts[number]))
    return ordered


def _together(
    given: Points, parts: list[tuple[np.ndarray, Part]], trajectories: bool, numbers: Optional[np.ndarray] = None
) -> Sweep:
    """One table in the order of the points, which may have numbers of a larger study."""
    n = len(given)
    numbers = np.arange(n) if numbers is None else numbers
    ok = np.zeros(n)
    failures: dict[int, str] = {}
    heads: dict[str, str] = {}
    for index, (columns, fine, failed) in parts:
        ok[index] = fine
        failures.update({int(index[i]): why for i, why in failed})
        for name, kind, _ in columns:
            heads.setdefault(name, kind)
    heads.pop("run", None)
    failures = dict(sorted(failures.items()))
    if trajectories:
        runs = np.concatenate([index[np.asarray(_column(part, "run"), dtype=int)] for index, part in parts] or [[]])
        order = np.argsort(runs, kind="stable")
        place = runs[order].astype(int)
        table: Columns = [("run", "Integer", numbers[place].astype(float))]
        table += [(name, "Real", given.values[place, i]) for i, name in enumerate(given.names)]
        table.append(("ok", "Boolean", ok[place]))
        for name, kind in heads.items():
            pieces = [_column(part, name) for _, part in parts]
            table.append((_free(name, given), kind, np.concatenate(pieces)[order]))
        return Sweep(table, failures)
    table = [("run", "Integer", numbers.astype(float))]
    table += [(name, "Real", given.values[:, i]) for i, name in enumerate(given.names)]
    table.append(("ok", "Boolean", ok))
    for name, kind in heads.items():
        whole = np.full(n, np.nan)
        for index, part in parts:
            values = _column(part, name)
            whole[index] = values if len(values) else np.nan
        table.append((_free(name, given), kind, whole))
    return Sweep(table, failures)


def _free(name: str, given: Points) -> str:
    """A variable that is called as a varied parameter is, which happens if that is structural."""
    return f"{name} (recorded)" if name in given.names or name in ("run", "ok") else name


def _column(part: Part, name: str) -> np.ndarray:
    for other, _, values in part[0]:
        if other == name:
            return values
    n = len(part[0][0][2]) if part[0] else 0
    return np.full(n, np.nan)


class _Teller:
    """Tells how far a study is."""

    def __init__(self, progress: Any, n: int) -> None:
        self._n = n
        self._done = 0
        self._shown = 0.0
        self._tell: Optional[Callable[[int, int], object]] = None
        if progress is True:
            self._tell = self._line
        elif progress:
            if not callable(progress):
                raise TypeError("progress: expected True or a function of two numbers")
            self._tell = progress
        self.function = None if self._tell is None else self._inside

    def _inside(self, done: int, _n: int) -> None:
        if self._tell is not None:
            self._tell(self._done + done, self._n)

    def _line(self, done: int, n: int) -> None:
        now = _time.monotonic()
        if now - self._shown > 0.2 or done == n:
            self._shown = now
            sys.stderr.write(f"\r{done} of {n} runs ({100 * done // max(1, n)} %)")
            sys.stderr.flush()

    def add(self, n: int) -> None:
        self._done += n
        if self._tell is not None:
            self._tell(self._done, self._n)

    def end(self) -> None:
        if self._tell == self._line:
            sys.stderr.write("\n")


class _Store:
    """A directory with a Parquet file for each chunk and a manifest, from which an interrupted study goes on."""

    def __init__(
        self,
        to: Any,
        model: Model,
        given: Points,
        values: dict[str, Any],
        settings: dict[str, Any],
        record: list[tuple[str, str]],
        trajectories: bool,
        places: list[np.ndarray],
    ) -> None:
        self._dir = os.fspath(to)
        self._given = given
        self._places = places
        self._trajectories = trajectories
        study = {
            "format": _FORMAT,
            "version": _saltus.__version__,
            "model": model.name,
            "program": hashlib.sha256(model.to_bytes()).hexdigest(),
            "names": list(given.names),
            "points": hashlib.sha256(given.values.tobytes()).hexdigest(),
            "n": len(given),
            "values": {name: repr(value) for name, value in sorted(values.items())},
            "settings": {name: repr(value) for name, value in sorted(settings.items())},
            "record": record,
            "trajectories": trajectories,
            "chunks": len(places),
            # Where each of them ends: as many chunks of other sizes are another study.
            "layout": hashlib.sha256(np.array([len(place) for place in places]).tobytes()).hexdigest(),
        }
        self._study = hashlib.sha256(json.dumps(study, sort_keys=True).encode()).hexdigest()
        os.makedirs(self._dir, exist_ok=True)
        self._manifest = os.path.join(self._dir, "manifest.json")
        known = self._known()
        if known is None:
            self._done: dict[str, str] = {}
            self._write_manifest(study)
        elif known.get("study") != self._study:
            raise _errors.Error(
                f"{self._dir!r} has the data set of another study (model, points, settings or chunks differ); take another directory"
            )
        else:
            self._done = {}
        self._description = study

    def _known(self) -> Optional[dict[str, Any]]:
        try:
            with open(self._manifest, encoding="utf-8") as file:
                known: dict[str, Any] = json.load(file)
                return known
        except FileNotFoundError:
            if any(name.endswith(".parquet") for name in os.listdir(self._dir)):
                raise _errors.Error(f"{self._dir!r} has Parquet files and no manifest; take another directory") from None
            return None
        except ValueError:
            raise _errors.Error(f"the manifest of {self._dir!r} is damaged; remove the directory") from None

    def _write_manifest(self, study: dict[str, Any]) -> None:
        _replace(self._manifest, json.dumps({"study": self._study, **study}, indent=1).encode())

    def _paths(self, number: int) -> tuple[str, str]:
        stem = os.path.join(self._dir, f"part-{number:06}")
        return stem + ".parquet", stem + ".done"

    def read(self, number: int) -> Optional[Part]:
        """A chunk that is complete; its record is written last, with a checksum and the size of the table."""
        table, record = self._paths(number)
        try:
            with open(record, "rb") as file:
                data = file.read()
            digest, body = data[:32], data[32:]
            if hashlib.sha256(body).digest() != digest:
                return None
            kept = json.loads(body[: body.index(b"\n")])
            if os.path.getsize(table) != kept["size"]:
                return None
            raw = body[body.index(b"\n") + 1 :]
        except (OSError, ValueError, KeyError):
            return None
        columns: Columns = []
        place = 0
        for name, kind, n in kept["columns"]:
            columns.append((name, kind, np.frombuffer(raw, dtype=float, count=n, offset=place)))
            place += 8 * n
        return columns, kept["ok"], [(int(i), why) for i, why in kept["failed"]]

    def write(self, number: int, part: Part) -> None:
        columns, ok, failed = part
        index = self._places[number]
        table, record = self._paths(number)
        scratch = table + ".new.parquet"
        # Its rows of the whole table, with the numbers and the values of their points.
        own = Points(self._given.names, self._given.values[index])
        _together(own, [(np.arange(len(index)), part)], self._trajectories, index).save(scratch)
        os.replace(scratch, table)
        head = {"columns": [(name, kind, len(values)) for name, kind, values in columns], "ok": [bool(one) for one in ok]}
        size = os.path.getsize(table)
        body = json.dumps({**head, "failed": failed, "points": [int(index[0]), int(index[-1])], "size": size}).encode() + b"\n"
        body += b"".join(np.ascontiguousarray(values, dtype=float).tobytes() for _, _, values in columns)
        _replace(record, hashlib.sha256(body).digest() + body)


def _replace(path: str, data: bytes) -> None:
    """The file is complete or not there."""
    scratch = path + ".new"
    with open(scratch, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(scratch, path)

