"""Where the runtime of FMUs is."""

from __future__ import annotations

import os
from typing import Optional

_NAMES = ("libsaltus_fmu.so", "libsaltus_fmu.dylib", "saltus_fmu.dll")


def runtime() -> Optional[str]:
    """The library that FMUs of this machine contain; it is part of the wheel."""
    here = os.path.dirname(os.path.abspath(__file__))
    paths = (os.path.join(here, name) for name in _NAMES)
    return next((path for path in paths if os.path.isfile(path)), None)
