"""``sash live``: the page of a job that runs elsewhere."""

from __future__ import annotations

from pathlib import Path

import typer

from sash import jobs
from sash.cli._exits import DONE
from sash.jobs._problems import printable
from sash.live import HistoryError, serve


def show_live(path: Path, host: str, port: int, token: str | None) -> int:
    """Serve the page until Ctrl-C; returns the exit status."""
    job = jobs.read(path)
    if job.history is None:
        raise jobs.JobError(
            path.name,
            [(None, "the job keeps nothing to show: add a line [live] to it, and run it again.")],
        )
    try:
        server = serve(job.history, host=host, port=port, token=token)
    except HistoryError:
        raise
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    except OSError as error:
        raise OSError(f"{error}; give another --port, 0 for any that is free") from error
    name = printable(job.name)
    print(f"{name}: {server.url}\nCtrl-C stops the page, and not the job.", flush=True)
    server.run()
    return DONE
