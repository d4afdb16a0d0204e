"""Linear models."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Linearization:
    """der(x) = A x + B u, y = C x + D u near a point of a run."""

    time: float
    states: dict[str, float]
    inputs: dict[str, float]
    outputs: dict[str, float]
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    eigenvalues: np.ndarray
    """Of A; empty if they could not be found."""
    n_differences: int
    """Columns that were taken by differences, for want of exact derivatives."""

    @staticmethod
    def _of(data: str) -> Linearization:
        d: dict[str, Any] = json.loads(data)
        n, m, k = len(d["states"]), len(d["inputs"]), len(d["outputs"])

        def matrix(key: str, rows: int, columns: int) -> np.ndarray:
            return np.array(d[key], dtype=float).reshape(rows, columns)

        return Linearization(
            time=d["time"],
            states=dict(d["states"]),
            inputs=dict(d["inputs"]),
            outputs=dict(d["outputs"]),
            A=matrix("a", n, n),
            B=matrix("b", n, m),
            C=matrix("c", k, n),
            D=matrix("d", k, m),
            eigenvalues=np.array([complex(re, im) for re, im in d["eigenvalues"] or []], dtype=complex),
            n_differences=d["n_differences"],
        )
