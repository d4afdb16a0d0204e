"""The program `saltus`, in the process of the interpreter."""

from __future__ import annotations

import os
import signal
import sys


def main() -> int:
    """Do what the command line says; the entry point of the script `saltus`."""
    from . import _saltus
    from ._runtime import runtime

    # The program looks after signals itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if "SALTUS_FMU_RUNTIME" not in os.environ and (path := runtime()) is not None:
        os.environ["SALTUS_FMU_RUNTIME"] = path
    sys.stdout.flush()
    return _saltus.run_program(["saltus", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
