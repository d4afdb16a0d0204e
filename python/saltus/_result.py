"""Results: arrays over time, events, tables for other packages, pictures."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Iterator, Optional, Sequence, Union

from . import _saltus

if TYPE_CHECKING:
    import numpy as np

Path = Union[str, "os.PathLike[str]"]

# Bytes of a page above which a notebook gets a still picture instead.
_LARGEST_PAGE = 4_000_000


@dataclass(frozen=True)
class Event:
    """Something that happened at one time."""

    time: float
    kind: str
    """`start`, `state`, `time`, `terminal`, `outside`, `configuration`, …"""
    cause: Optional[str]
    """The relation, sample or clock, as in the source."""
    line: Optional[int]
    """Where that is in the source."""
    iterations: int
    changes: dict[str, tuple[float, float]]
    """Variables with their values before and after."""
    record: dict[str, Any] = field(repr=False)
    """All that is known about it."""


@dataclass(frozen=True)
class SignalInfo:
    """What a variable of a result is."""

    name: str
    type: str
    unit: str
    display_unit: str
    description: str
    literals: tuple[str, ...]


def _event(record: dict[str, Any]) -> Event:
    changes = {c["variable"]: (c["before"], c["after"]) for c in record.get("changes", [])}
    return Event(
        time=record["time"],
        kind=record["kind"],
        cause=record.get("cause"),
        line=record.get("line"),
        iterations=record.get("iterations", 0),
        changes=changes,
        record=record,
    )


class _Table:
    """Columns that other packages read through the C stream interface of Arrow, without a copy of real numbers."""

    _raw: _saltus.RawTable

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A stream of Arrow data with one batch (PyCapsule interface)."""
        return self._raw.arrow_stream()

    def to_arrow(self) -> Any:
        """A table of pyarrow, without copies of real numbers."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> Any:
        """A data frame of polars; pyarrow is not needed."""
        import polars

        return polars.DataFrame(self)

    def save(self, path: Path, keep: Union[None, str, Sequence[str]] = None) -> None:
        """Write a file: ``.csv``, ``.mat`` (as Dymola and OpenModelica do) or ``.parquet``; only names or patterns `keep`."""
        self._raw.save(os.fspath(path), None if keep is None else [keep] if isinstance(keep, str) else list(keep))

    def __len__(self) -> int:
        return self._raw.n_rows

    @property
    def nbytes(self) -> int:
        """Bytes that the values take."""
        return self._raw.n_bytes


class Result(_Table):
    """What a run came to.

    ``r["h"]`` is a NumPy array that looks at the values where they are, ``r.time`` are the times. Events have two rows with the same
    time: the values before and after. Packages that know Arrow take the object itself: ``polars.DataFrame(r)``, ``pyarrow.table(r)``,
    ``duckdb.sql("select max(h) from r")``.
    """

    def __init__(self, raw: _saltus.RawTable) -> None:
        self._raw = raw

    def __getitem__(self, name: str) -> np.ndarray:
        """Values over time, read-only; of a parameter the same value at all times, which takes no memory."""
        import numpy

        if not isinstance(name, str):
            raise TypeError(f"names of variables are str, not {type(name).__name__}")
        if name == "time" and not self._raw.contains("time"):
            return self.time
        column = self._raw.column(name)
        if isinstance(column, float):
            return numpy.broadcast_to(numpy.float64(column), (len(self),))
        return numpy.asarray(column)

    @cached_property
    def time(self) -> np.ndarray:
        """The times of all rows."""
        import numpy

        return numpy.asarray(self._raw.time())

    @cached_property
    def names(self) -> list[str]:
        """Variables that vary; those of `parameters` have one value."""
        return self._raw.names()

    @cached_property
    def parameters(self) -> dict[str, float]:
        """Constants and parameters with their values."""
        return self._raw.parameters()

    @cached_property
    def events(self) -> list[Event]:
        """What happened when, and why."""
        return [_event(json.loads(line)) for line in self._raw.events().splitlines()]

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._raw.title

    @cached_property
    def statistics(self) -> dict[str, Any]:
        """What the run cost: steps, events, evaluations, seconds of each stage."""
        statistics: dict[str, Any] = json.loads(self._raw.facts).get("statistics", {})
        return statistics

    @property
    def message(self) -> Optional[str]:
        """The message with which the model ended by itself, if it did."""
        message: Optional[str] = json.loads(self._raw.facts).get("end")
        return message

    def info(self, name: str) -> SignalInfo:
        """Type, unit and description of a variable."""
        kind, unit, display_unit, description, literals = self._raw.describe(name)
        return SignalInfo(name, kind, unit, display_unit, description, tuple(literals))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._raw.contains(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def keys(self) -> list[str]:
        """The same as `names`."""
        return self.names

    def items(self) -> Iterator[tuple[str, np.ndarray]]:
        """Names with their values over time."""
        return ((name, self[name]) for name in self.names)

    def last(self, name: str) -> float:
        """The last value of a variable."""
        return float(self[name][-1])

    def at(self, name: str, time: Any) -> Any:
        """Values at times between the rows: on cubic curves where the result has the derivative, of other Reals on lines, of discrete
        variables the last ones. At an event the value after it.

        Raises:
            ValueError: a time is not one of the run.

        >>> m.simulate(stop_time=0.4).at("v", [0.1, 0.2]).round(3).tolist()
        [-0.981, -1.962]
        """
        import numpy

        values = self[name]
        time = numpy.asarray(time, dtype=float)
        if not len(self):
            raise ValueError("the result has no rows")
        first, last = self.time[0], self.time[-1]
        slack = 1e-12 * max(abs(first), abs(last))
        outside = time[~((time >= first - slack) & (time <= last + slack))]
        if outside.size:
            raise ValueError(f"time: expected times from {first:g} to {last:g} s, found {outside.flat[0]:g}")
        place = numpy.searchsorted(self.time, time, side="right")
        before = numpy.clip(place - 1, 0, len(values) - 1)
        after = numpy.clip(place, 0, len(values) - 1)
        if name in self.parameters or self.info(name).type != "Real":
            return values[before]
        width = self.time[after] - self.time[before]
        part = numpy.clip(numpy.where(width > 0, (time - self.time[before]) / numpy.where(width > 0, width, 1), 0), 0, 1)
        rise = values[after] - values[before]
        line = values[before] + part * rise
        if f"der({name})" not in self:
            return line
        slopes = self[f"der({name})"]
        bend = part * (1 - part) * ((1 - part) * (width * slopes[before] - rise) - part * (width * slopes[after] - rise))
        return line + numpy.where(numpy.isfinite(bend), bend, 0)

    def to_pandas(self) -> Any:
        """A data frame of pandas with the times as index; its columns are the same memory, read-only. Its ``copy()`` can be written to."""
        import pandas

        columns = {name: self[name] for name in self.names}
        index = pandas.Index(self.time, name="time", copy=False)
        return pandas.DataFrame(columns, index=index, copy=False)

    def _repr_html_(self) -> str:
        import base64

        page = bytes(self._raw.chart([], "html"))
        if len(page) > _LARGEST_PAGE:
            picture = self._raw.chart([], "svg").decode()
        else:
            data = base64.b64encode(page).decode()
            picture = f'<iframe src="data:text/html;base64,{data}" width="100%" height="420" style="border:0"></iframe>'
        return f"<div>{_escape(self._summary())}</div>{picture}"

    def plot(self, *names: Union[str, Sequence[str]], file: Optional[Path] = None, title: Optional[str] = None) -> Any:
        """Draw variables over time, or patterns such as ``"motor.*"``; the first few without names.

        With a `file` (``.svg``, ``.png`` or ``.html``, which has zoom and cursor) the picture is written there. Otherwise it is drawn by
        matplotlib, which gives its figure, or without matplotlib as SVG, which notebooks show.
        """
        wanted = [name for one in names for name in ([one] if isinstance(one, str) else one)]
        if file is not None:
            form = os.path.splitext(os.fspath(file))[1].lstrip(".").lower()
            if form not in ("svg", "png", "html"):
                raise ValueError(f"file: expected a name that ends in .svg, .png or .html, found {os.fspath(file)!r}")
            with open(file, "wb") as out:
                out.write(self._raw.chart(wanted, form, title))
            return None
        try:
            from matplotlib import pyplot
        except ImportError:
            return Svg(self._raw.chart(wanted, "svg", title).decode())
        chosen = self._chosen(wanted)
        units: dict[str, list[str]] = {}
        for name in chosen:
            units.setdefault(self.info(name).unit, []).append(name)
        figure, axes = pyplot.subplots(len(units), 1, sharex=True, squeeze=False)
        for axis, (unit, group) in zip(axes[:, 0], units.items()):
            for name in group:
                axis.plot(self.time, self[name], label=name)
            axis.set_ylabel(unit or "1")
            axis.legend(loc="best")
        axes[-1, 0].set_xlabel("time / s")
        axes[0, 0].set_title(title or self.model)
        return figure

    def _chosen(self, names: Sequence[str]) -> list[str]:
        from fnmatch import fnmatchcase

        if not names:
            return self.names[:6]
        chosen: list[str] = []
        for name in names:
            fitting = [name] if name in self else [other for other in self.names if fnmatchcase(other, name)]
            if not fitting:
                self._raw.describe(name)
            chosen += [one for one in fitting if one not in chosen]
        return chosen

    def show(self, *names: str, width: int = 96) -> None:
        """Draw variables on the terminal."""
        print(self._raw.chart(list(names), "terminal", None, width).decode().rstrip())

    def _summary(self) -> str:
        if not len(self):
            return f"{self.model}: no rows"
        span = f"{self.time[0]:g} … {self.time[-1]:g} s"
        return f"{self.model}: {span}, {len(self)} rows, {len(self.names)} variables, {len(self.events)} events"

    def __repr__(self) -> str:
        return f"<saltus.Result of {self._summary()}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._raw.to_bytes(),)


def _restored(data: bytes) -> Result:
    return Result(_saltus.RawTable.from_bytes(data))


class Svg(str):
    """A picture that notebooks show."""

    def _repr_svg_(self) -> str:
        return str(self)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
