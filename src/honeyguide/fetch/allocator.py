"""Memory of large bodies goes back to the system when they are dropped."""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from typing import Final

LARGE_BLOCK: Final = 256 * 1024
_TRIM, _MAP = -1, -3
"""M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc's <malloc.h>."""


@lru_cache(maxsize=1)
def give_back_large_blocks() -> bool:
    """Let glibc map blocks of a quarter megabyte and more by themselves; whether that was possible.

    By default it learns, from the first large block that is freed, to take such blocks from its heap, where
    one small object above them keeps their memory for good: a crawl that has met a hundred hostile pages of
    megabytes stays 25 MB larger. Pages of usual size are below the limit and no slower for it. Elsewhere than
    on Linux with glibc nothing happens.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        settings = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(settings(_MAP, LARGE_BLOCK)) and bool(settings(_TRIM, LARGE_BLOCK))
