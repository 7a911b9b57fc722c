"""Opening a SQLite file to read it, also where nothing can be written: a stick, a share, another's folder."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from honeyguide.errors import CollectionError
from honeyguide.store.plain import require_plain_database


def open_to_read(path: Path) -> sqlite3.Connection:
    """A connection that writes nothing.

    Raises:
        CollectionError: Nothing can be written there, and what a crawl wrote last is not in the file yet.
    """
    require_plain_database(path)
    address = f"{path.resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, check_same_thread=False)
    try:
        connection.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.OperationalError as error:
        if not any(said in str(error) for said in ("unable to open", "readonly")):
            return connection  # whoever reads will hear of it
    except sqlite3.Error:
        return connection
    else:
        return connection
    # A log of changes (WAL) wants shared memory beside the file, and there is no place for it.
    connection.close()
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise CollectionError(
            f"{path.parent} cannot be written to, and its crawl runs or was killed; copy it to a folder of"
            " your own, and read that"
        )
    return sqlite3.connect(f"{address}&immutable=1", uri=True, check_same_thread=False)
