"""``sash live``: the page of a job that runs elsewhere."""

from __future__ import annotations

from pathlib import Path

from sash import jobs
from sash.cli._exits import DONE
from sash.live import serve


def show_live(path: Path, host: str, port: int, token: str | None, allow_python: bool) -> int:
    """Serve the page until Ctrl-C; returns the exit status."""
    job = jobs.load(path, allow_python=allow_python)
    if job.history is None:
        raise jobs.JobError(
            path.name,
            [(None, "the job keeps nothing to show: add a line [live] to it, and run it again.")],
        )
    server = serve(job.history, host=host, port=port, token=token)
    print(f"{job.name}: {server.url}\nCtrl-C stops the page, and not the job.", flush=True)
    server.run()
    return DONE
