"""What the chapters and notebooks show is true.

In a chapter a `modelica` block is the file named like its class, and `python` blocks are executed one after the other in the directory of these files.
Every line of an `output` block must be in what the blocks above it have printed; `…` stands for anything.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import re
from pathlib import Path

import pytest

import saltus

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = ["docs/book/python.md", "docs/book/fitting.md", "README.md"]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def blocks(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^```(\w+)[^\n]*\n(.*?)^```", text, re.S | re.M)


def is_shown(line: str, printed: str) -> bool:
    parts = [re.escape(part) for part in line.strip().split("…")]
    return re.search(".*?".join(parts), printed) is not None


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapters_are_true(chapter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("scipy", "pandas", "polars", "matplotlib"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    scope: dict[str, object] = {"__name__": "chapter"}
    printed = io.StringIO()
    found = blocks((ROOT / chapter).read_text(encoding="utf-8"))
    assert any(kind == "python" for kind, _ in found)
    for kind, text in found:
        if kind == "modelica":
            name = re.search(r"\b(?:model|package|block)\s+(\w+)", text)
            assert name is not None
            Path(f"{name.group(1)}.mo").write_text(text)
        elif kind == "python":
            with contextlib.redirect_stdout(printed):
                exec(compile(text, chapter, "exec"), scope)
        elif kind == "output":
            for line in filter(str.strip, text.splitlines()):
                assert is_shown(line, printed.getvalue()), f"{chapter}: nothing printed {line!r}"


@pytest.mark.parametrize("module", ["saltus._model", "saltus._result", "saltus._session", "saltus._sweep"])
def test_examples_of_help_are_true(module: str, ball: saltus.Model) -> None:
    """Examples in documentation strings; `m` is the ball."""
    found = doctest.testmod(importlib.import_module(module), extraglobs={"saltus": saltus, "m": ball})
    assert found.failed == 0 and found.attempted > 0


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    if "dask" in path.stem:
        pytest.importorskip("distributed")
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "notebooks are kept without outputs"
    os.makedirs(tmp_path / "work", exist_ok=True)
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path / "work")}}
    )
    client.execute()
