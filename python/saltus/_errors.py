"""What can go wrong, as exceptions with positions."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field
from typing import Any, Optional

__all__ = [
    "Busy",
    "Closed",
    "CompileError",
    "DamagedData",
    "Diagnostic",
    "Error",
    "ModelicaWarning",
    "SimulationError",
    "StateError",
    "UnknownName",
    "ValueRefused",
]


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler or of a run, with its place in the source."""

    code: str
    severity: str
    message: str
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    end_line: Optional[int] = None
    end_column: Optional[int] = None
    hints: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    labels: tuple[tuple[str, int, int, str], ...] = ()
    text: str = field(default="", repr=False, compare=False)
    """The message as the command line shows it, with the line of the source."""

    def __str__(self) -> str:
        return self.text or f"{self.severity}[{self.code}]: {self.message}"

    @staticmethod
    def _all(data: str) -> tuple[Diagnostic, ...]:
        return tuple(_diagnostic(one) for one in json.loads(data))


def _diagnostic(one: dict[str, Any]) -> Diagnostic:
    place = one.get("place") or {}
    labels = tuple((at.get("file", ""), at.get("line", 0), at.get("column", 0), at["text"]) for at in one["labels"])
    return Diagnostic(
        code=one["code"],
        severity=one["severity"],
        message=one["message"],
        hints=tuple(one["hints"]),
        notes=tuple(one["notes"]),
        labels=labels,
        text=one.get("text", ""),
        **{key: place[key] for key in ("file", "line", "column", "end_line", "end_column") if key in place},
    )


class ModelicaWarning(UserWarning):
    """A warning of the compiler or of a run. Its `diagnostic` has the position."""

    diagnostic: Diagnostic

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic)
        self.diagnostic = diagnostic

    def __str__(self) -> str:
        return str(self.diagnostic)


def warn(data: str, stacklevel: int = 3) -> None:
    """Hand warnings over to the module `warnings`; hints are left out."""
    for diagnostic in Diagnostic._all(data):
        if diagnostic.severity == "warning":
            warnings.warn(ModelicaWarning(diagnostic), stacklevel=stacklevel + 1)


class Error(Exception):
    """Everything that Saltus raises by itself."""


class _WithDiagnostics(Error):
    diagnostics: tuple[Diagnostic, ...]

    def __init__(self, text: str, data: str = "[]", *more: Any) -> None:
        super().__init__(text, data, *more)
        self.diagnostics = Diagnostic._all(data)

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that are errors."""
        return tuple(d for d in self.diagnostics if d.severity == "error")


class CompileError(_WithDiagnostics):
    """A class cannot be compiled. `diagnostics` says what and where."""


class SimulationError(_WithDiagnostics):
    """A run has failed at `time`. `result` has what was computed until then."""

    time: float
    result: Any

    def __init__(self, text: str, data: str, time: float = float("nan"), table: Any = None) -> None:
        super().__init__(text, data, time, table)
        self.time = time
        self.result = None
        if table is not None:
            from ._result import Result

            self.result = table if isinstance(table, Result) else Result(table)
            # Only what can be pickled travels between processes.
            self.args = (text, data, time, self.result)


class UnknownName(Error, KeyError):
    """There is no variable `name`; `similar` is one that is spelt nearly so."""

    name: str
    similar: Optional[str]

    def __init__(self, text: str, name: str = "", similar: Optional[str] = None) -> None:
        super().__init__(text, name, similar)
        self.name = name
        self.similar = similar

    def __str__(self) -> str:
        return str(self.args[0])


class ValueRefused(_WithDiagnostics, ValueError):
    """A value that a variable cannot have, or a variable that cannot be set."""


class StateError(Error):
    """A state that cannot be saved, or does not belong to the model."""


class DamagedData(Error, ValueError):
    """Bytes that are not a model, a state or a result, or not of this version."""


class Busy(Error, RuntimeError):
    """Another thread is using the object."""


class Closed(Error, RuntimeError):
    """The object has been closed."""
