"""The command line: `honeyguide VERB`. One verb a file; `verbs` lists them.

Verbs are imported when they are used, so that `honeyguide --help` does not wait for numerical
libraries. Errors become one line in one place, `failure`.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

from honeyguide.cli.everywhere import take_common
from honeyguide.cli.failure import explain
from honeyguide.cli.output import fail
from honeyguide.cli.verbs import build_app
from honeyguide.log import LOG, stop_logs, writes_logs

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit status. Nothing but `--debug` shows a traceback.

    Args:
        arguments: Words after the program's name; by default those of this process.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = False
    try:
        debug = take_common(words, os.environ)
        status = build_app(words)(words, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`head`, a pager) has seen enough. Nothing more can be said on this stream, and
        # Python would complain when it flushes it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (Exception, KeyboardInterrupt) as error:
        message, failed = explain(error)
        if debug and writes_logs():
            LOG.error("error", exc_info=error, extra={"facts": {"message": message}})
            return failed
        if debug:
            traceback.print_exception(error)
        fail(message)
        return failed
    finally:
        stop_logs()
    return status if isinstance(status, int) else 0
