"""Ray itself: a local one for the shards of one machine, or a cluster that runs already."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from honeyguide.errors import HoneyguideError, MissingExtra

STORE_BYTES = 128 << 20
"""Of Ray's object store on one machine: batches of links are small and short-lived."""


ATTEMPTS = 3
"""To start a Ray of our own."""
UNWATCHED = {
    "RAY_task_events_report_interval_ms": "0",
    "RAY_enable_metrics_collection": "0",
    "RAY_event_stats": "0",
    "LOG_NAME_UPDATE_INTERVAL_S": "30",
}
"""Environment of a Ray of our own: nobody looks at its lists of calls, its metrics and its logs, and they are
a third of what it costs when nothing happens."""


class ClusterError(HoneyguideError):
    """A cluster cannot be used as it is."""


def import_ray() -> Any:
    """Ray, quiet and without reports to its makers.

    Raises:
        MissingExtra: It is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("a crawl with shards", "cluster") from error
    return ray


class Connection:
    """A connection to Ray, which ends what it began.

    Args:
        address: Of a cluster, such as `ray://head:10001`, `head:6379` or `auto`; empty for a Ray of our own.
    """

    def __init__(self, address: str) -> None:
        self.ray = import_ray()
        self._own = not self.ray.is_initialized()
        self.local = not address
        if not self._own:
            return
        terminate, answers = _handler(), False
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        try:
            if address:
                _knock(address)
                answers = True
                self.ray.init(address=address, **options)
            else:
                self._start_local(options)
        except RuntimeError as error:
            if "version mismatch" not in str(error).lower():
                raise ClusterError(f"Ray does not start ({first_line(error)}); see its logs") from error
            raise ClusterError(
                f"the cluster at {address} has another version of Ray or Python than this machine"
                f" (Ray {_version('ray')}): {first_line(error)}; install the same on all machines"
            ) from error
        except (ConnectionError, OSError, ValueError) as error:
            if answers:
                raise ClusterError(
                    f"{address} answers, but does not let this machine into a Ray cluster"
                    f" ({first_line(error)}); check the port (6379 unless told otherwise); where the cluster"
                    " asks for a token, this machine needs the same ~/.ray/auth_token and RAY_AUTH_MODE=token"
                ) from error
            where = f"no Ray cluster answers at {address}" if address else "Ray does not start"
            raise ClusterError(
                f"{where} ({first_line(error)}); check the address, or start one with: ray start --head"
            ) from error
        finally:
            _restore(terminate)

    def _start_local(self, options: dict[str, Any]) -> None:
        """A Ray of our own. Two that start at the same moment may want the same port: it is tried again."""
        for left in range(ATTEMPTS - 1, -1, -1):
            try:
                with _environment(UNWATCHED):
                    self.ray.init(
                        address="local",
                        num_cpus=0,  # shards take none, and Ray starts a process for each that it has
                        object_store_memory=STORE_BYTES,
                        include_dashboard=False,
                        **options,
                    )
            except (RuntimeError, OSError):
                self.ray.shutdown()
                if not left:
                    raise
                time.sleep(2.0)
            else:
                return

    def require_room(self, shards: int) -> None:
        """ClusterError when the cluster is too small for so many shards: Ray would wait forever."""
        if self.local:
            return
        found = int(self.ray.cluster_resources().get("CPU", 0))
        if found < shards:
            raise ClusterError(
                f"the cluster has {found} CPUs for {shards} shards, one each; add nodes or use fewer shards"
            )

    def close(self) -> None:
        """Let Ray go, if it is ours."""
        if self._own:
            self.ray.shutdown()


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables, but for those that a person has set, and take them back."""
    added = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _knock(address: str) -> None:
    """OSError when nobody listens at an address: Ray would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10.0).close()


def first_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _handler() -> Any:
    return signal.getsignal(signal.SIGTERM) if threading.current_thread() is threading.main_thread() else None


def _restore(handler: Any) -> None:
    """Ray ends the process at SIGTERM; the crawl is to stop in order."""
    if handler is not None:
        signal.signal(signal.SIGTERM, handler)
