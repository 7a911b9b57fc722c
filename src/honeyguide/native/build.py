"""Compiles the C beside the package: `python src/honeyguide/native/build.py`, and at installation.

Run by its path, not as a module: at installation the package cannot be imported yet.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

NAME = "honeyguide._native"


def compile_native() -> Path:
    """Compile the C files of this folder; where the result lies."""
    # Only there while something is built.
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    folder = Path(__file__).resolve().parent
    flags = [] if sys.platform == "win32" else ["-O2", "-fno-strict-aliasing"]
    sources = sorted(map(str, folder.glob("*.c")))
    extension = Extension(NAME, sources, include_dirs=[str(folder)], extra_compile_args=flags)
    command = build_ext(Distribution({"ext_modules": [extension]}))
    with tempfile.TemporaryDirectory() as scratch:
        command.build_lib = command.build_temp = scratch
        command.ensure_finalized()
        command.run()
        made = Path(command.get_ext_fullpath(NAME))
        target = folder.parent / made.name
        # Copied, then renamed: a crawl that is running has the old file mapped.
        fresh = target.with_suffix(".new")
        shutil.copy(made, fresh)
        fresh.replace(target)
    return target


if __name__ == "__main__":
    sys.stdout.write(f"{compile_native()}\n")
