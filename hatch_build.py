"""Builds `honeyguide._native` when the package is installed; where that fails, the package works in Python.

Hatchling calls this for wheels and for editable installations; `HONEYGUIDE_PURE=1` leaves the C out.
"""

from __future__ import annotations

import os
import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NativeHook(BuildHookInterface):
    """Compile the C into the source tree and add it to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is put together.

        Args:
            version: `standard` or `editable`.
            build_data: What goes into the wheel.
        """
        if os.environ.get("HONEYGUIDE_PURE"):
            return
        root = Path(self.root)
        build = runpy.run_path(str(root / "src" / "honeyguide" / "native" / "build.py"))
        try:
            built: Path = build["compile_native"]()
        except (Exception, SystemExit) as error:  # no compiler, no headers: all are reasons to go without
            self.app.display_warning(f"The C part was not built; Python does its work, slower: {error}")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["artifacts"].append(f"/{built.relative_to(root.resolve()).as_posix()}")
