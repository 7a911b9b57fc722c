"""Compiles the C beside the package: `python src/honeyguide/native/build.py`, and at installation.

Run by its path, not as a module: at installation the package cannot be imported yet. With `--sanitize` the
result checks its own reads and writes; it needs gcc's libasan, loaded first (`make sanitize`).
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

NAME = "honeyguide._native"
SANITIZE = [
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=undefined",
]


def compile_native(*, sanitize: bool = False) -> Path:
    """Compile the C files of this folder; where the result lies."""
    # Only there while something is built.
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    folder = Path(__file__).resolve().parent
    # Products are rounded before they are added, as Python does: machines with both in one step would differ.
    flags = [] if sys.platform == "win32" else ["-O3", "-fno-strict-aliasing", "-ffp-contract=off"]
    flags += SANITIZE if sanitize else []
    sources = sorted(map(str, folder.glob("*.c")))
    extension = Extension(
        NAME,
        sources,
        include_dirs=[str(folder)],
        extra_compile_args=flags,
        extra_link_args=SANITIZE if sanitize else [],
    )
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
    sys.stdout.write(f"{compile_native(sanitize='--sanitize' in sys.argv[1:])}\n")
