"""The cell magic ``%%modelica``: a cell of Modelica text becomes compiled models."""

from __future__ import annotations

from typing import Any

from ._session import Session


def load(ipython: Any) -> None:
    """Add the magic to a shell of IPython."""
    session: list[Session] = []

    def modelica(line: str, cell: str) -> Any:
        """``%%modelica [-l DIRECTORY] [NAME…]``: load the text of the cell; each model of it becomes a variable of its last name.

        With names only these are compiled. ``-l`` adds a directory of libraries.
        """
        words = line.split()
        if not session:
            session.append(Session())
        shared = session[0]
        names: list[str] = []
        while words:
            word = words.pop(0)
            if word == "-l":
                if not words:
                    raise ValueError("%%modelica: expected a directory behind -l")
                shared.add_library(words.pop(0))
            else:
                names.append(word)
        before = set(shared.classes)
        # One text for each set of classes: a cell that is executed again replaces what it was.
        probe = Session()
        probe.load_text("cell.mo", cell)
        own = probe.classes
        shared.load_text(f"cell_{'_'.join(own) or 'empty'}.mo", cell)
        models = {}
        for name in names or [name for name in shared.classes if name in own or name not in before]:
            models[name.rsplit(".", 1)[-1]] = shared.compile(name)
        ipython.push(models)
        return next(iter(models.values())) if len(models) == 1 else models

    ipython.register_magic_function(modelica, magic_kind="cell")
