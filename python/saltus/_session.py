"""Texts and libraries, and models compiled from them."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Iterable, Mapping, Optional, Union

from . import _errors, _saltus
from ._errors import Diagnostic
from ._model import Model, _by_name, _texts

Path = Union[str, "os.PathLike[str]"]


class Session:
    """Files, texts and libraries that a user works with, edits included.

    Models that were compiled need the session only to be compiled again for other values of structural parameters.

    Parameters:
        libraries: Directories that contain packages, or packages. They are searched before those of MODELICAPATH.
        files: Files, or directories with a ``package.mo``, whose classes can be named.
        allow_io: Models may read and write files everywhere, not only below the working directory.
        allow_external: Models may call functions of shared libraries.
    """

    def __init__(
        self,
        libraries: Iterable[Path] = (),
        files: Iterable[Path] = (),
        *,
        allow_io: bool = False,
        allow_external: bool = False,
    ) -> None:
        if isinstance(libraries, (str, os.PathLike)):
            libraries = [libraries]
        if isinstance(files, (str, os.PathLike)):
            files = [files]
        paths = [os.fspath(path) for path in libraries]
        self._raw = _saltus.RawSession(paths, os.environ.get("MODELICAPATH"), allow_io, allow_external)
        for file in files:
            self.load(file)

    def load(self, path: Path) -> Session:
        """Load a file, or a directory with a ``package.mo``; its classes can be named then."""
        if not os.path.exists(path):
            raise FileNotFoundError(f"no such file: {os.fspath(path)!r}")
        if os.path.isdir(path) and not os.path.isfile(os.path.join(path, "package.mo")):
            raise ValueError(f"{os.fspath(path)!r} has no package.mo; a directory that contains packages is one of `libraries`")
        self._raw.load_file(os.fspath(path))
        return self

    def load_text(self, name: Path, text: str) -> Session:
        """Put a text in the place of a file, which need not exist; as often as it is edited."""
        self._raw.load_text(os.fspath(name), text)
        return self

    def remove_text(self, name: Path) -> None:
        """Take a text of `load_text` away."""
        self._raw.remove_text(os.fspath(name))

    def reload(self, path: Path) -> None:
        """Say that a file has changed on disk."""
        self._raw.reload(os.fspath(path))

    def add_library(self, directory: Path) -> Session:
        """Search a directory for packages, too."""
        self._raw.add_library(os.fspath(directory))
        return self

    @property
    def classes(self) -> list[str]:
        """Names of the classes of the files and texts that were loaded."""
        return self._raw.classes()

    def check(self, name: str) -> tuple[Diagnostic, ...]:
        """All messages about a class: errors, warnings and hints; without an exception."""
        return Diagnostic._all(self._raw.check(name))

    def compile(self, name: Optional[str] = None, values: Optional[Mapping[str, Any]] = None, **parameters: Any) -> Model:
        """Compile a class, or the only model of what was loaded.

        Values of parameters are compiled in; most can be set later, too. A str is an expression of Modelica: ``file='"data.txt"'``. Warnings go to the module ``warnings``.

        >>> s = saltus.Session().load_text("Decay.mo", "model Decay Real x(start = 1, fixed = true); equation der(x) = -x; end Decay;")
        >>> s.compile("Decay").states
        ['x']

        Raises:
            CompileError: with all diagnostics and their positions.
        """
        texts = _texts({**_by_name("values", values), **parameters})
        raw, told = self._raw.compile(name, texts)
        _errors.warn(told)
        return Model._of(raw)

    def close(self) -> None:
        """Give up texts and libraries. Models stay."""
        self._raw.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<saltus.Session, closed>" if self._raw.is_closed else f"<saltus.Session of {len(self.classes)} classes>"
