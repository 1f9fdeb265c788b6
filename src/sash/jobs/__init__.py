"""Job files: pipelines written down in TOML, for ``sash run``.

They need the packages of the command line: ``pip install 'sash[cli]'``.
"""

from __future__ import annotations

from sash.jobs._build import session_of
from sash.jobs._disk import DiskFullError
from sash.jobs._load import Job, load, read
from sash.jobs._missing import SourceError
from sash.jobs._output import SinkError
from sash.jobs._problems import JobError
from sash.jobs._progress import Progress
from sash.jobs._run import explain, run
from sash.jobs._schema import schema

__all__ = [
    "DiskFullError",
    "Job",
    "JobError",
    "Progress",
    "SinkError",
    "SourceError",
    "explain",
    "load",
    "read",
    "run",
    "schema",
    "session_of",
]
