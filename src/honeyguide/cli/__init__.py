"""The command line: `honeyguide VERB`. One verb a file; `verbs` lists them, `program` runs one.

Verbs are imported when they are used, so that `honeyguide --help` does not wait for numerical
libraries. Errors become one line in one place, `failure`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit status. Nothing but `--debug` shows a traceback.

    Args:
        arguments: Words after the program's name; by default those of this process.
    """
    try:
        # Here and not above: the import takes a tenth of a second, in which Ctrl-C must not show a traceback.
        from honeyguide.cli.program import run

        return run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        sys.stderr.write("honeyguide: interrupted\n")
        return 130
