"""Run the verb that was typed, and say in one line what went wrong."""

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


def run(arguments: Sequence[str]) -> int:
    """Run one command and give its exit status. Nothing but `--debug` shows a traceback."""
    words = list(arguments)
    debug = False
    try:
        debug = take_common(words, os.environ)
        if words[:1] == ["help"]:  # what git and others understand
            words = [*words[1:], "--help"]
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
