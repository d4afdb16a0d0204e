"""Builds wheels by maturin, after the runtime that exported FMUs contain has been built into the package.

``maturin build`` alone makes the same wheel if the runtime is there already; ``python python/build_backend.py`` puts it there.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("libsaltus_fmu.so", "libsaltus_fmu.dylib", "saltus_fmu.dll")


def profile() -> str:
    """The profile of cargo that maturin is told to use."""
    words = shlex.split(os.environ.get("MATURIN_PEP517_ARGS", ""))
    return words[words.index("--profile") + 1] if "--profile" in words[:-1] else "release"


def add_runtime() -> None:
    """Build saltus-fmu and copy it beside the modules."""
    chosen = profile()
    # Together with the module, so that what both need is compiled once.
    packages = ["-p", "saltus-fmu", "-p", "saltus-python"]
    subprocess.run(["cargo", "build", "--profile", chosen, *packages], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / {"dev": "debug", "test": "debug", "bench": "release"}.get(chosen, chosen)
    for name in NAMES:
        if (target / name).is_file():
            shutil.copy2(target / name, ROOT / "python" / "saltus" / name)


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    import maturin

    add_runtime()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    import maturin

    add_runtime()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    import maturin

    return maturin.build_sdist(sdist_directory, config_settings)


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Any = None) -> str:
    import maturin

    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel

if __name__ == "__main__":
    add_runtime()
    sys.exit(0)
