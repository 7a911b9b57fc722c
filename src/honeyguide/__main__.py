"""`python -m honeyguide` is the same as `honeyguide`."""

from __future__ import annotations

import sys

from honeyguide.cli import main

if __name__ == "__main__":
    sys.exit(main())
