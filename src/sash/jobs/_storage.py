"""What is in the folders of a job, as Spark sees them: on this machine or in a store."""

from __future__ import annotations

from typing import Any


def names_in(session: Any, path: str) -> list[str]:
    """Return the names of what is in a folder; none where there is no such folder."""
    hadoop = session._jvm.org.apache.hadoop.fs
    place = hadoop.Path(path)
    files = place.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())
    if not files.exists(place):
        return []
    return [status.getPath().getName() for status in files.listStatus(place)]


def last_batch(session: Any, checkpoint: str) -> int | None:
    """Return the last micro-batch that a checkpoint knows to be done; none where it is new."""
    done = [int(n) for n in names_in(session, f"{checkpoint}/commits") if n.isdigit()]
    if done:
        return max(done)
    return -1 if "metadata" in names_in(session, checkpoint) else None
